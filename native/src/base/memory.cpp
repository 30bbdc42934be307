#include "base/memory.h"

#include <cstdlib>
#include <sys/mman.h>

#include "base/error.h"

namespace tr {

uint8_t *allocate_memory(size_t bytes, const char *what) {
    constexpr size_t kHugePage = size_t{2} << 20, kLine = 64;
    const size_t alignment = bytes >= 2 * kHugePage ? kHugePage : kLine;
    if (bytes > SIZE_MAX - alignment) fail(TR_ERR_NO_MEMORY, "cannot allocate %zu bytes for %s", bytes, what);
    const size_t rounded = (bytes + kLine) / kLine * kLine; // a line of slack: vector loads may pass the end
    void *memory = nullptr;
    if (posix_memalign(&memory, alignment, rounded) != 0) {
        fail(TR_ERR_NO_MEMORY, "cannot allocate %zu bytes (%.1f MiB) for %s", bytes, static_cast<double>(bytes) / (1 << 20), what);
    }
    if (alignment == kHugePage) madvise(memory, rounded, MADV_HUGEPAGE); // an advice: refusal changes nothing but speed
    return static_cast<uint8_t *>(memory);
}

void release_memory(uint8_t *memory) { std::free(memory); }

size_t array_bytes(size_t count, size_t each, const char *what) {
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, each, &bytes)) {
        fail(TR_ERR_NO_MEMORY, "cannot allocate %zu times %zu bytes for %s", count, each, what);
    }
    return bytes;
}

} // namespace tr
