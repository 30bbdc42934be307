// A position in the bytes of a file, and the faults found there.
//
// Nothing is read that is not there: every read is checked against what remains. A fault says what is wrong, in which key
// or tensor and at which byte, in the words of the reader that the Go side has (models/gguf), which finds the same.
#pragma once
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tr::gguf {

class Head;
class Source;

// Throws an Error "gguf: WHERE, at byte OFFSET: WHAT".
[[noreturn]] void fail_at(const std::string &where, uint64_t offset, tr_status status, const std::string &what);
std::string key_place(std::string_view key);       // key "general.name"
std::string tensor_place(std::string_view tensor); // tensor "output.weight"

class Cursor {
public:
    // Over bytes that are all there.
    explicit Cursor(std::span<const uint8_t> bytes) : bytes_(bytes), filled_(bytes.size()), file_size_(bytes.size()) {}
    // Over the head of a file, which is read as far as it is needed. Both must outlive the cursor.
    Cursor(Head &head, const Source &source);

    uint64_t position() const { return position_; }
    uint64_t remaining() const { return bytes_.size() - position_; }
    uint64_t file_size() const { return file_size_; } // at least that of the bytes

    // What the next bytes belong to, for faults: the header, the pair or tensor of an index, or one whose name is known.
    void in_header() { place_ = Place::Header; }
    void in_pair(uint64_t index) { place_ = Place::Pair, index_ = index; }
    void in_tensor(uint64_t index) { place_ = Place::Tensor, index_ = index; }
    void in_key(std::string_view name) { place_ = Place::NamedKey, name_ = name; }
    void in_named_tensor(std::string_view name) { place_ = Place::NamedTensor, name_ = name; }
    void in_element(uint64_t index) { element_ = index, in_array_ = true; }
    void past_array() { in_array_ = false; }

    // A fault in the field that was read, or asked for, last.
    [[noreturn]] void fail(tr_status status, const char *format, ...) const __attribute__((format(printf, 3, 4)));

    // Passes over n bytes and returns where they are. `of` goes before `what` in the fault.
    const uint8_t *take(uint64_t n, const char *what, const char *of = "") {
        need(n, what, of);
        if (position_ + n > filled_) fill(position_ + n);
        const uint8_t *at = bytes_.data() + position_;
        position_ += n;
        return at;
    }

    // A little-endian scalar at any alignment.
    template <class T> T scalar(const char *what, const char *of = "") {
        T value;
        std::memcpy(&value, take(sizeof value, what, of), sizeof value);
        return value;
    }

    // A string: its length as u64, then its bytes, of which there may be at most `longest`.
    std::string_view string(uint64_t longest, const char *what);

private:
    enum class Place { Header, Pair, Tensor, NamedKey, NamedTensor };

    void need(uint64_t n, const char *what, const char *of) {
        at_ = position_;
        if (n > remaining()) fail_short(n, what, of);
    }
    [[noreturn]] void fail_short(uint64_t n, const char *what, const char *of) const;
    void fill(uint64_t upto);
    std::string place() const;

    std::span<const uint8_t> bytes_;
    uint64_t position_ = 0, at_ = 0; // at_: where the field that was read last begins
    uint64_t filled_;                // bytes that can be touched
    uint64_t file_size_;
    Head *head_ = nullptr;
    const Source *source_ = nullptr;

    Place place_ = Place::Header;
    uint64_t index_ = 0, element_ = 0;
    bool in_array_ = false;
    std::string_view name_;
};

// Whether text is UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

} // namespace tr::gguf
