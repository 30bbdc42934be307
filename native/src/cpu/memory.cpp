#include "cpu/memory.h"

#include <cstdlib>
#include <new>
#include <sys/mman.h>

namespace tr::cpu {

Buffer allocate_buffer(size_t bytes) {
    constexpr size_t kLine = 64, kHugePage = size_t{2} << 20;
    const size_t alignment = bytes >= kHugePage ? kHugePage : kLine;
    const size_t size = (bytes + kLine - 1) / kLine * kLine;
    void *p = nullptr;
    if (posix_memalign(&p, alignment, size ? size : kLine) != 0) throw std::bad_alloc();
    if (alignment == kHugePage) madvise(p, size, MADV_HUGEPAGE); // advice: fewer TLB misses while weights stream
    return Buffer(static_cast<uint8_t *>(p), [](uint8_t *q) { std::free(q); });
}

} // namespace tr::cpu
