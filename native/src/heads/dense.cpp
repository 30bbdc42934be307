#include "heads/dense.h"

#include <new>

#include "base/error.h"
#include "heads/head.h"

namespace tr::heads {

void Dense::load(arch::Loader &loader, const std::string &name, int64_t inputs, int64_t outputs) {
    loader.matrix(weight_, name + ".weight", inputs, outputs);
    loader.vector(bias_, name + ".bias", outputs);
}

void Dense::reserve(const arch::Backend &backend) {
    try {
        backend.reserve(acts_, kMaxRows, inputs(), weight_.form());
    } catch (const std::bad_alloc &) {
        fail(TR_ERR_NO_MEMORY, "cannot allocate the working memory of a head's layer of %lld inputs", static_cast<long long>(inputs()));
    }
}

void Dense::run(const cpu::Ops &ops, cpu::Worker &w, const float *x, int64_t n, float *y, int64_t stride) {
    ops.prepare(w, x, n, inputs(), weight_.form(), acts_);
    w.join();
    ops.matmul(w, weight_, acts_, n, bias_.data(), y, stride);
    w.join();
}

Size size_of(const gguf::File &file, const std::string &name) {
    const gguf::Tensor *t = file.contents.find(name);
    if (!t) fail(TR_ERR_FORMAT, "tensor \"%s\" is missing", name.c_str());
    // Far above any head, far below where products leave 64 bits.
    constexpr uint64_t kMost = 1 << 24;
    if (t->dims[0] > kMost || t->dims[1] > kMost) {
        fail(TR_ERR_FORMAT, "tensor \"%s\" is of shape [%llu, %llu]; at most %llu are allowed", name.c_str(),
             static_cast<unsigned long long>(t->dims[0]), static_cast<unsigned long long>(t->dims[1]), static_cast<unsigned long long>(kMost));
    }
    return {static_cast<int64_t>(t->dims[0]), static_cast<int64_t>(t->dims[1])};
}

} // namespace tr::heads
