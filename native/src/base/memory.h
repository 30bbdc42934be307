// Large aligned memory whose failure is an error that says what was wanted and how much.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

namespace tr {

// At least `bytes` bytes at a 64-byte boundary, not initialized; huge pages are advised for large ones. Freed with
// release_memory. Throws Error(TR_ERR_NO_MEMORY) naming `what`.
uint8_t *allocate_memory(size_t bytes, const char *what);
void release_memory(uint8_t *memory);

// An array of T in such memory.
template <class T> class Array {
public:
    Array() = default;
    Array(size_t count, const char *what) : data_(reinterpret_cast<T *>(allocate_array(count, sizeof(T), what))), size_(count) {}
    T *data() const { return data_.get(); }
    size_t size() const { return size_; }
    T &operator[](size_t i) const { return data_.get()[i]; }

private:
    struct Release {
        void operator()(T *p) const { release_memory(reinterpret_cast<uint8_t *>(p)); }
    };
    static uint8_t *allocate_array(size_t count, size_t each, const char *what);
    std::unique_ptr<T, Release> data_;
    size_t size_ = 0;
};

// count * each bytes for an array; an overflow of the product is an Error like a failed allocation.
size_t array_bytes(size_t count, size_t each, const char *what);

template <class T> uint8_t *Array<T>::allocate_array(size_t count, size_t each, const char *what) {
    return allocate_memory(array_bytes(count, each, what), what);
}

} // namespace tr
