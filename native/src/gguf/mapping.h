// A file mapped for reading.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace tr::gguf {

class Mapping {
public:
    // Throws Error(TR_ERR_IO) naming the path and the system's reason. The file must not shrink while it is mapped.
    explicit Mapping(const char *path);
    ~Mapping();
    Mapping(const Mapping &) = delete;
    Mapping &operator=(const Mapping &) = delete;

    std::span<const uint8_t> bytes() const { return {data_, size_}; }
    // Says that [begin, begin+n) will be read soon.
    void will_need(const uint8_t *begin, size_t n) const;
    // Drops the pages that lie wholly in [begin, begin+n) from this process's memory; they stay readable.
    void drop(const uint8_t *begin, size_t n) const;

private:
    const uint8_t *data_ = nullptr;
    size_t size_ = 0;
};

} // namespace tr::gguf
