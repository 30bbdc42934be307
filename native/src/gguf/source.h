// A file that is read by offset.
//
// It is not mapped. Bytes of a mapping are gone when somebody cuts the file short, and touching them then ends the process;
// a read gives an error.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tr::gguf {

class Source {
public:
    // Throws Error(TR_ERR_IO) naming the path and the system's reason.
    explicit Source(std::string path);
    Source(Source &&other) noexcept;
    ~Source();

    const std::string &path() const { return path_; }
    uint64_t size() const { return size_; } // when it was opened

    // Reads [offset, offset+n) into `to`. Any thread may call. Throws Error(TR_ERR_IO), also when the file has become shorter.
    void read(uint64_t offset, size_t n, void *to) const;
    // Says that [offset, offset+n) will be read soon.
    void will_need(uint64_t offset, uint64_t n) const;

private:
    std::string path_;
    int fd_ = -1;
    uint64_t size_ = 0;
};

// The beginning of a file in memory, read as far as it is asked for; addresses stay.
class Head {
public:
    // At most `most` bytes. Memory is taken as it is read. Throws Error. `source` is only used by fill().
    Head(const Source &source, uint64_t most);
    Head(Head &&other) noexcept;
    ~Head();

    std::span<const uint8_t> bytes() const { return {data_, size_}; } // all of them, those that are not read yet too
    uint64_t filled() const { return filled_; }
    // Reads on until at least `n` <= bytes().size() bytes are there.
    void fill(const Source &source, uint64_t n);

private:
    uint8_t *data_ = nullptr;
    size_t size_ = 0;
    uint64_t filled_ = 0;
};

} // namespace tr::gguf
