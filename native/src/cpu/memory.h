// Large buffers of the operators: aligned to cache lines, or to huge pages where they are long enough to have some.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

namespace tr::cpu {

using Buffer = std::unique_ptr<uint8_t[], void (*)(uint8_t *)>;

// Uninitialized memory of at least `bytes` bytes; throws std::bad_alloc.
Buffer allocate_buffer(size_t bytes);

} // namespace tr::cpu
