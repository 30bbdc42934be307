#include "gguf/cursor.h"

#include <cstdarg>
#include <cstdio>

#include "gguf/source.h"

namespace tr::gguf {

namespace {

unsigned long long ull(uint64_t v) { return v; }

// Length of the UTF-8 character at the beginning of text, which is not empty; 0 if there is none.
size_t character(std::string_view text) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return 1;
    const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
    // The second byte has a narrower range behind these.
    const unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (byte(1) < low || byte(1) > high) return 0;
    for (size_t i = 2; i < length; i++) {
        if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
    }
    return length;
}

} // namespace

void fail_at(const std::string &where, uint64_t offset, tr_status status, const std::string &what) {
    tr::fail(status, "gguf: %s, at byte %llu: %s", where.c_str(), ull(offset), what.c_str());
}

std::string key_place(std::string_view key) { return "key " + quoted(key); }
std::string tensor_place(std::string_view tensor) { return "tensor " + quoted(tensor); }

Cursor::Cursor(Head &head, const Source &source)
    : bytes_(head.bytes()), filled_(head.filled()), file_size_(source.size()), head_(&head), source_(&source) {}

void Cursor::fill(uint64_t upto) {
    head_->fill(*source_, upto);
    filled_ = head_->filled();
}

std::string Cursor::place() const {
    switch (place_) {
    case Place::Header: return "header";
    case Place::Pair: return "metadata pair " + std::to_string(index_);
    case Place::Tensor: return "tensor " + std::to_string(index_);
    case Place::NamedKey: return key_place(name_);
    case Place::NamedTensor: return tensor_place(name_);
    }
    return {};
}

void Cursor::fail(tr_status status, const char *format, ...) const {
    char text[512];
    va_list args;
    va_start(args, format);
    std::vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fail_at(place(), at_, status, (in_array_ ? "element " + std::to_string(element_) + " of the array: " : "") + text);
}

void Cursor::fail_short(uint64_t n, const char *what, const char *of) const {
    if (bytes_.size() < file_size_) {
        fail(TR_ERR_FORMAT, "%s%s needs %llu bytes and would end behind byte %llu, the largest head that is read", of, what, ull(n),
             ull(bytes_.size()));
    }
    fail(TR_ERR_FORMAT, "%s%s needs %llu bytes, but %llu are left: the file is truncated or a length in it is wrong", of, what, ull(n),
         ull(remaining()));
}

std::string_view Cursor::string(uint64_t longest, const char *what) {
    const auto length = scalar<uint64_t>(what, "the length of ");
    if (length > longest) fail(TR_ERR_FORMAT, "%s is %llu bytes long, at most %llu are allowed", what, ull(length), ull(longest));
    return {reinterpret_cast<const char *>(take(length, what)), static_cast<size_t>(length)};
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const size_t n = character(text);
        if (n == 0) return false;
        text.remove_prefix(n);
    }
    return true;
}

} // namespace tr::gguf
