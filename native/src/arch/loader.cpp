#include "arch/loader.h"

#include <algorithm>
#include <atomic>

#include "arch/finite.h"
#include "base/error.h"

namespace tr::arch {

namespace {

long long ll(uint64_t v) { return static_cast<long long>(v); }

[[noreturn]] void fail_not_finite(const gguf::Tensor &t) {
    fail(TR_ERR_FORMAT, "tensor %s has weights that are not finite numbers: the file is damaged", quoted(t.name).c_str());
}

// Clears `finite` if a weight is not. The workers share the blocks out among them.
void check_finite(cpu::Worker &worker, const gguf::Tensor &t, std::atomic<bool> &finite) {
    constexpr int64_t kChunk = 4096;
    const quant::TypeInfo &info = *quant::type_info(static_cast<uint32_t>(t.type));
    const auto n_blocks = static_cast<int64_t>(t.elements / info.block), n_chunks = (n_blocks + kChunk - 1) / kChunk;
    for (int64_t i; (i = worker.next(n_chunks)) < n_chunks;) {
        const int64_t begin = i * kChunk, n = std::min(kChunk, n_blocks - begin);
        if (!blocks_finite(t.type, t.data + begin * info.bytes, static_cast<size_t>(n))) finite.store(false, std::memory_order_relaxed);
    }
}

} // namespace

const gguf::Tensor &Loader::claim(const std::string &name, int64_t inputs, int64_t outputs) {
    const gguf::Tensor *t = file_.contents.find(name);
    if (!t) fail(TR_ERR_FORMAT, "tensor \"%s\" is missing", name.c_str());
    const auto n_inputs = static_cast<uint64_t>(inputs), n_outputs = static_cast<uint64_t>(outputs);
    if (t->dims[0] != n_inputs || t->dims[1] != n_outputs || t->dims[2] != 1 || t->dims[3] != 1) {
        fail(TR_ERR_FORMAT, "tensor \"%s\" is of shape [%lld, %lld, %lld, %lld]; the metadata asks for [%lld, %lld]", name.c_str(),
             ll(t->dims[0]), ll(t->dims[1]), ll(t->dims[2]), ll(t->dims[3]), static_cast<long long>(inputs), static_cast<long long>(outputs));
    }
    claimed_.insert(t);
    n_params_ += t->elements;
    return *t;
}

void Loader::matrix(cpu::Matrix &m, const std::string &name, int64_t inputs, int64_t outputs) {
    const gguf::Tensor &t = claim(name, inputs, outputs);
    m.type = t.type;
    m.rows = outputs;
    m.cols = inputs;
    m.exact_float = options_.exact_float;
    claims_.push_back({&m, &t});
}

void Loader::vector(Array<float> &v, const std::string &name, int64_t n) {
    const gguf::Tensor &t = claim(name, n, 1);
    if (quant::type_info(static_cast<uint32_t>(t.type))->block != 1) {
        fail(TR_ERR_UNSUPPORTED, "tensor \"%s\" is of type %s; this build reads norms and biases as F32, F16 or BF16", name.c_str(),
             quant::type_name(static_cast<uint32_t>(t.type)));
    }
    if (!blocks_finite(t.type, t.data, t.elements)) fail_not_finite(t);
    v = Array<float>(static_cast<size_t>(n), "a norm or bias");
    quant::dequantize(t.type, t.data, v.data(), v.size());
    weight_bytes_ += v.size() * sizeof(float);
}

void Loader::check_all_claimed() const {
    for (const gguf::Tensor &t : file_.contents.tensors()) {
        if (!claimed_.contains(&t)) {
            fail(TR_ERR_UNSUPPORTED, "tensor %s is not part of the architecture that the file states; this build cannot run it",
                 quoted(t.name).c_str());
        }
    }
}

void Loader::report(uint64_t done, uint64_t total) const {
    if (!options_.progress) return;
    std::atomic_ref<int32_t>(*options_.progress).store(static_cast<int32_t>(total ? done * 1000 / total : 1000), std::memory_order_relaxed);
}

void Loader::pack(const Claim &claim) {
    cpu::Matrix &m = *claim.matrix;
    m.bytes = options_.ops.packed_bytes(m);
    m.data = allocate_memory(m.bytes, 1, "packed weights");
    weight_bytes_ += m.bytes;
    std::atomic<bool> finite = true;
    options_.pool.run([&](cpu::Worker &worker) {
        check_finite(worker, *claim.tensor, finite);
        options_.ops.pack(worker, m, claim.tensor->data);
    });
    if (!finite) fail_not_finite(*claim.tensor);
}

void Loader::finish() {
    check_all_claimed();
    // In the order of the file, so that it is read once from front to back.
    std::sort(claims_.begin(), claims_.end(), [](const Claim &a, const Claim &b) { return a.tensor->data < b.tensor->data; });
    uint64_t total = 0, done = 0;
    for (const Claim &c : claims_) total += c.tensor->bytes;
    report(0, total);
    for (size_t i = 0; i < claims_.size(); i++) {
        const gguf::Tensor &t = *claims_[i].tensor;
        if (i == 0) file_.mapping.will_need(t.data, t.bytes);
        if (i + 1 < claims_.size()) file_.mapping.will_need(claims_[i + 1].tensor->data, claims_[i + 1].tensor->bytes);
        pack(claims_[i]);
        file_.mapping.drop(t.data, t.bytes); // or both copies would be in memory at the end
        report(done += t.bytes, total);
    }
}

} // namespace tr::arch
