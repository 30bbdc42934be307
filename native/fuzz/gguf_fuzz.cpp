// Any bytes at all are either refused with an Error, or read into contents whose every tensor lies within them and whose
// values can be asked for.
#include <cstdlib>
#include <string>

#include "gguf/file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const auto refused = [](auto &&f) { // an Error and nothing else
        try {
            f();
        } catch (const tr::Error &) {
        }
    };
    refused([&] {
        const tr::gguf::Contents file = tr::gguf::Contents::parse({data, size});
        for (const tr::gguf::Tensor &t : file.tensors()) {
            if (t.offset > size || t.bytes > size - t.offset || t.bytes == 0 || file.find(t.name) != &t) std::abort();
        }
        for (const auto &pair : file.metadata()) {
            const std::string_view key = pair.first; // a binding cannot be captured
            refused([&] { file.metadata().integer(key, -1, 1000); });
            refused([&] { file.metadata().number(key, -1, 1000); });
            refused([&] { file.metadata().string(key); });
            refused([&] { file.metadata().find_array_size(key); });
        }
        refused([&] { tr::gguf::check_first(tr::gguf::read_split(file, "m-00001-of-00003.gguf"), file, "m-00001-of-00003.gguf"); });
    });
    return 0;
}
