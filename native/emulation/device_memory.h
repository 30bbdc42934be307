// The memory of the emulated device: a range of addresses of its own. An allocation ends at a page that nobody may touch, begins
// filled with bytes that make floats NaN, and is never used again once freed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tr::emulation {

struct Allocation {
    unsigned char *begin;
    size_t bytes;
    bool live;
    size_t first_page, pages;
};

class DeviceMemory {
public:
    static constexpr size_t kBytes = size_t{1} << 32;

    DeviceMemory();
    unsigned char *allocate(size_t bytes); // null if there is no room
    void release(void *p);                 // fails unless p is what allocate() gave
    bool contains(const void *p) const { return offset(p) < kBytes; }
    size_t offset(const void *p) const { return static_cast<size_t>(static_cast<const unsigned char *>(p) - base_); }
    // The allocation that an address is in or just beyond, or null.
    const Allocation *find(const void *p) const;
    // Fails unless all n bytes are of one live allocation.
    void check(const void *p, size_t n, const char *what, const void *pc) const;
    size_t in_use() const { return in_use_; }

private:
    static constexpr size_t kPage = 4096;
    unsigned char *base_;
    size_t next_page_ = 1, in_use_ = 0;
    std::vector<Allocation> allocations_;
    std::vector<int32_t> owner_; // of each page used so far: index of the allocation, or -1
};

DeviceMemory &device_memory();

} // namespace tr::emulation
