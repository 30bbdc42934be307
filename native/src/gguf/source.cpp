#include "gguf/source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/error.h"

namespace tr::gguf {

namespace {

[[noreturn]] void fail_io(const char *verb, const std::string &path) {
    fail(TR_ERR_IO, "cannot %s %s: %s", verb, quoted(path).c_str(), std::strerror(errno));
}

unsigned long long ull(uint64_t v) { return v; }

} // namespace

Source::Source(std::string path) : path_(std::move(path)) {
    // Without O_NONBLOCK, opening a pipe would wait for somebody to write into it.
    fd_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd_ < 0) fail_io("open", path_);
    struct stat about {};
    const bool known = fstat(fd_, &about) == 0;
    if (!known || !S_ISREG(about.st_mode)) {
        const int reason = errno;
        close(fd_);
        errno = reason;
        if (!known) fail_io("examine", path_);
        fail(TR_ERR_IO, "%s is not a regular file", quoted(path_).c_str());
    }
    size_ = static_cast<uint64_t>(about.st_size);
}

Source::Source(Source &&other) noexcept : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), size_(other.size_) {}

Source::~Source() {
    if (fd_ >= 0) close(fd_);
}

void Source::read(uint64_t offset, size_t n, void *to) const {
    auto *at = static_cast<uint8_t *>(to);
    while (n > 0) {
        const ssize_t got = pread(fd_, at, n, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail_io("read", path_);
        if (got == 0) {
            fail(TR_ERR_IO, "%s has become shorter while it was read: it had %llu bytes, and now it ends before byte %llu",
                 quoted(path_).c_str(), ull(size_), ull(offset + n));
        }
        at += got;
        offset += static_cast<uint64_t>(got);
        n -= static_cast<size_t>(got);
    }
}

void Source::will_need(uint64_t offset, uint64_t n) const {
    (void)posix_fadvise(fd_, static_cast<off_t>(offset), static_cast<off_t>(n), POSIX_FADV_WILLNEED); // advice
}

Head::Head(const Source &source, uint64_t most) : size_(static_cast<size_t>(std::min(source.size(), most))) {
    if (size_ == 0) return;
    void *at = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) fail(TR_ERR_NO_MEMORY, "cannot reserve %zu bytes for the head of %s", size_, quoted(source.path()).c_str());
    data_ = static_cast<uint8_t *>(at);
}

Head::Head(Head &&other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)), filled_(other.filled_) {}

Head::~Head() {
    if (data_) munmap(data_, size_);
}

void Head::fill(const Source &source, uint64_t n) {
    constexpr uint64_t kChunk = 1 << 20;
    if (n <= filled_) return;
    const uint64_t upto = std::min<uint64_t>(size_, (n + kChunk - 1) / kChunk * kChunk);
    source.read(filled_, static_cast<size_t>(upto - filled_), data_ + filled_);
    filled_ = upto;
}

} // namespace tr::gguf
