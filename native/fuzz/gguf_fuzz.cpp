// Any bytes at all are either refused with an Error or read into contents whose every tensor lies within them.
#include <cstdlib>

#include "arch/config.h"
#include "gguf/file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    try {
        const tr::gguf::Contents file = tr::gguf::Contents::parse({data, size});
        for (const tr::gguf::Tensor &t : file.tensors()) {
            if (t.offset > size || t.bytes > size - t.offset) std::abort();
        }
        tr::arch::read_shape(file, "qwen2");
    } catch (const tr::Error &) {
    }
    return 0;
}
