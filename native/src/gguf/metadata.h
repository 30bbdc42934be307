// The key-value part of a GGUF file (GGUF specification, "Key-value pairs"), read in place.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "gguf/cursor.h"

namespace tr::gguf {

// Numbers are those of the file.
enum class ValueType : uint32_t { U8, I8, U16, I16, U32, I32, F32, Bool, String, Array, U64, I64, F64 };

const char *value_type_name(ValueType type); // "uint32", "string"

// One value. Strings and arrays point into the file.
struct Value {
    ValueType type;
    ValueType element{};       // of an array
    uint64_t count = 1;        // elements of an array; else 1
    const uint8_t *bytes = nullptr; // the value, or an array's first element
    uint64_t offset = 0;       // of the value in the file
    std::string_view text;     // of a string

    std::string type_name() const; // "uint32", "array of string"
};

// Limits against files that are made to exhaust memory; those of models/gguf/limits.go.
constexpr uint64_t kLongestKey = (1 << 16) - 1;
constexpr uint64_t kLongestString = 16 << 20;

// Getters throw Error(TR_ERR_FORMAT) naming the key when it is missing, of another type or out of range. Each find_*
// gives nothing when the key is missing, but still an error when its value is wrong.
class Metadata {
public:
    // Reads `count` pairs. Keys are unique, UTF-8, not empty; arrays hold scalars or strings.
    void read(Cursor &cursor, uint64_t count);

    const Value *find(std::string_view key) const;
    size_t size() const { return values_.size(); }
    auto begin() const { return values_.begin(); }
    auto end() const { return values_.end(); }

    // An integer of any width within [low, high].
    std::optional<int64_t> find_integer(std::string_view key, int64_t low, int64_t high) const;
    int64_t integer(std::string_view key, int64_t low, int64_t high) const;
    // A finite floating-point number within [low, high].
    std::optional<double> find_number(std::string_view key, double low, double high) const;
    double number(std::string_view key, double low, double high) const;
    std::optional<std::string_view> find_string(std::string_view key) const;
    std::string_view string(std::string_view key) const;
    // Elements of an array of strings, in order: f(index, text). False if the key is missing.
    template <class F> bool each_string(std::string_view key, F &&f) const {
        const Value *value = find_strings(key);
        if (!value) return false;
        const uint8_t *at = value->bytes; // all lengths were checked when the file was read
        for (uint64_t i = 0; i < value->count; i++) {
            uint64_t length;
            std::memcpy(&length, at, sizeof length);
            f(i, std::string_view(reinterpret_cast<const char *>(at) + sizeof length, static_cast<size_t>(length)));
            at += sizeof length + length;
        }
        return true;
    }
    // Elements of the array at key.
    std::optional<uint64_t> find_array_size(std::string_view key) const;

private:
    const Value *find_strings(std::string_view key) const;

    std::unordered_map<std::string_view, Value> values_;
};

} // namespace tr::gguf
