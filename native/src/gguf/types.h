// The storage formats that a GGUF file can name, whether or not this build runs them: a file that holds one is read, and a
// model that needs it is refused when it is loaded. The Go side's table is models/gguf/types.go.
#pragma once
#include <cstdint>

namespace tr::gguf {

struct Storage {
    uint32_t id;      // ggml's number
    const char *name; // "Q4_K"
    uint32_t block;   // weights per block
    uint32_t bytes;   // bytes per block
};

// NULL for a number that was never given out or was withdrawn.
const Storage *storage(uint32_t id);

} // namespace tr::gguf
