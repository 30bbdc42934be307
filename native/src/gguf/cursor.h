// A position in the bytes of a file. Nothing is read that is not there: every read is checked against what remains and
// fails with the byte offset and the name of what was being read.
#pragma once
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/error.h"

namespace tr::gguf {

class Cursor {
public:
    explicit Cursor(std::span<const uint8_t> bytes) : bytes_(bytes) {}

    uint64_t position() const { return position_; }
    uint64_t remaining() const { return bytes_.size() - position_; }

    // Passes over n bytes and returns where they are.
    const uint8_t *take(uint64_t n, const char *what) {
        if (n > remaining()) {
            fail(TR_ERR_FORMAT, "the file ends too early: %s at byte %llu takes %llu bytes, but only %llu are left", what,
                 static_cast<unsigned long long>(position_), static_cast<unsigned long long>(n),
                 static_cast<unsigned long long>(remaining()));
        }
        const uint8_t *at = bytes_.data() + position_;
        position_ += n;
        return at;
    }

    // A little-endian scalar at any alignment.
    template <class T> T scalar(const char *what) {
        T value;
        std::memcpy(&value, take(sizeof value, what), sizeof value);
        return value;
    }

    // A string: its length as u64, then its bytes, of which there may be at most `longest`.
    std::string_view string(uint64_t longest, const char *what) {
        const uint64_t start = position_;
        const auto length = scalar<uint64_t>(what);
        if (length > longest) {
            fail(TR_ERR_FORMAT, "%s at byte %llu is %llu bytes long; at most %llu are allowed", what,
                 static_cast<unsigned long long>(start), static_cast<unsigned long long>(length),
                 static_cast<unsigned long long>(longest));
        }
        return {reinterpret_cast<const char *>(take(length, what)), length};
    }

private:
    std::span<const uint8_t> bytes_;
    uint64_t position_ = 0;
};

} // namespace tr::gguf
