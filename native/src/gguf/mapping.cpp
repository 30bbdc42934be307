#include "gguf/mapping.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace tr::gguf {

namespace {

struct Descriptor {
    int fd;
    ~Descriptor() { if (fd >= 0) close(fd); }
};

[[noreturn]] void fail_io(const char *verb, const char *path) {
    fail(TR_ERR_IO, "cannot %s %s: %s", verb, quoted(path).c_str(), std::strerror(errno));
}

// The whole pages that [begin, begin+n) touches (outward) or contains (inward).
struct Pages {
    uintptr_t first, last;
};
Pages pages(const uint8_t *begin, size_t n, bool inward) {
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const uintptr_t from = reinterpret_cast<uintptr_t>(begin), to = from + n;
    if (inward) return {(from + page - 1) / page * page, to / page * page};
    return {from / page * page, (to + page - 1) / page * page};
}

} // namespace

Mapping::Mapping(const char *path) {
    const Descriptor file{open(path, O_RDONLY | O_CLOEXEC)};
    if (file.fd < 0) fail_io("open", path);
    struct stat about {};
    if (fstat(file.fd, &about) != 0) fail_io("examine", path);
    if (!S_ISREG(about.st_mode)) fail(TR_ERR_IO, "%s is not a regular file", quoted(path).c_str());
    if (about.st_size == 0) fail(TR_ERR_FORMAT, "%s is empty; expected a GGUF file", quoted(path).c_str());
    size_ = static_cast<size_t>(about.st_size);
    void *at = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (at == MAP_FAILED) fail_io("map", path);
    data_ = static_cast<const uint8_t *>(at);
}

Mapping::~Mapping() { munmap(const_cast<uint8_t *>(data_), size_); }

void Mapping::will_need(const uint8_t *begin, size_t n) const {
    const Pages p = pages(begin, n, false);
    madvise(reinterpret_cast<void *>(p.first), p.last - p.first, MADV_WILLNEED);
}

void Mapping::drop(const uint8_t *begin, size_t n) const {
    const Pages p = pages(begin, n, true);
    if (p.last > p.first) madvise(reinterpret_cast<void *>(p.first), p.last - p.first, MADV_DONTNEED);
}

} // namespace tr::gguf
