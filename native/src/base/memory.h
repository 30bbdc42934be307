// Large memory whose failed allocation is an error that says what was wanted and how much.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "cpu/memory.h"

namespace tr {

// count * each bytes, not initialized, as `allocate` gives them. Throws Error(TR_ERR_NO_MEMORY) naming `what`,
// also when the product does not fit.
cpu::Buffer allocate_memory(size_t count, size_t each, const char *what, cpu::Buffer (*allocate)(size_t) = cpu::allocate_buffer);

// An array of T, a type without constructors, in such memory.
template <class T> class Array {
public:
    Array() = default;
    Array(size_t count, const char *what) : memory_(allocate_memory(count, sizeof(T), what)), size_(count) {}
    Array(cpu::Buffer memory, size_t count) : memory_(std::move(memory)), size_(count) {}
    T *data() const { return reinterpret_cast<T *>(memory_.get()); }
    size_t size() const { return size_; }
    T &operator[](size_t i) const { return data()[i]; }

private:
    cpu::Buffer memory_{nullptr, nullptr};
    size_t size_ = 0;
};

} // namespace tr
