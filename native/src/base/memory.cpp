#include "base/memory.h"

#include <new>

#include "base/error.h"

namespace tr {

cpu::Buffer allocate_memory(size_t count, size_t each, const char *what, cpu::Buffer (*allocate)(size_t)) {
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, each, &bytes)) {
        fail(TR_ERR_NO_MEMORY, "cannot allocate %zu times %zu bytes for %s", count, each, what);
    }
    try {
        return allocate(bytes);
    } catch (const std::bad_alloc &) {
        fail(TR_ERR_NO_MEMORY, "cannot allocate %zu bytes (%.1f MiB) for %s", bytes, static_cast<double>(bytes) / (1 << 20), what);
    }
}

} // namespace tr
