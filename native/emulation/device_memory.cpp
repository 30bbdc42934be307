#include "emulation/device_memory.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

#include "emulation/report.h"

namespace tr::emulation {

DeviceMemory &device_memory() {
    static DeviceMemory memory;
    return memory;
}

DeviceMemory::DeviceMemory() {
    void *p = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<unsigned char *>(p);
    owner_.push_back(-1);
}

unsigned char *DeviceMemory::allocate(size_t bytes) {
    const size_t pages = bytes ? (bytes - 1) / kPage + 1 : 1;
    if (pages > kBytes / kPage - next_page_ - 1) return nullptr;
    unsigned char *first = base_ + next_page_ * kPage;
    if (mprotect(first, pages * kPage, PROT_READ | PROT_WRITE) != 0) return nullptr;
    std::memset(first, 0xff, pages * kPage);
    constexpr uintptr_t kAlignment = 16; // vectors may be loaded from its beginning
    auto *begin = reinterpret_cast<unsigned char *>((reinterpret_cast<uintptr_t>(first) + pages * kPage - bytes) & ~(kAlignment - 1));
    owner_.resize(next_page_ + pages + 1, -1);
    for (size_t i = 0; i < pages; i++) owner_[next_page_ + i] = static_cast<int32_t>(allocations_.size());
    allocations_.push_back({begin, bytes, true, next_page_, pages});
    next_page_ += pages + 1;
    in_use_ += bytes;
    return begin;
}

void DeviceMemory::release(void *p) {
    const Allocation *found = contains(p) ? find(p) : nullptr;
    if (!found || found->begin != p) fail("cudaFree of %p, which no allocation begins at", p);
    Allocation &a = allocations_[static_cast<size_t>(found - allocations_.data())];
    if (!a.live) fail("cudaFree of %p, which is free already", p);
    a.live = false;
    in_use_ -= a.bytes;
    madvise(base_ + a.first_page * kPage, a.pages * kPage, MADV_DONTNEED);
    mprotect(base_ + a.first_page * kPage, a.pages * kPage, PROT_NONE);
}

const Allocation *DeviceMemory::find(const void *p) const {
    size_t page = offset(p) / kPage;
    if (page < owner_.size() && owner_[page] < 0 && page > 0) page--; // the page beyond an allocation
    if (page >= owner_.size() || owner_[page] < 0) return nullptr;
    return &allocations_[static_cast<size_t>(owner_[page])];
}

void DeviceMemory::check(const void *p, size_t n, const char *what, const void *pc) const {
    const Allocation *a = find(p);
    if (!a) fail_at(pc, nullptr, "device memory: a %s of %zu bytes at %p, where nothing is allocated", what, n, p);
    const auto at = static_cast<const unsigned char *>(p) - a->begin;
    if (a->live && at >= 0 && static_cast<size_t>(at) <= a->bytes && n <= a->bytes - static_cast<size_t>(at)) return;
    fail_at(pc, nullptr, "device memory: a %s of %zu bytes at byte %td of an allocation of %zu%s", what, n, at, a->bytes, a->live ? "" : " that was freed");
}

} // namespace tr::emulation
