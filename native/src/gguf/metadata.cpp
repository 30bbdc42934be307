#include "gguf/metadata.h"

#include <array>
#include <cmath>
#include <limits>

namespace tr::gguf {

namespace {

struct TypeFacts {
    const char *name;
    uint8_t bytes; // of a scalar; 0: not one
};
constexpr std::array<TypeFacts, 13> kTypes = {{{"u8", 1}, {"i8", 1}, {"u16", 2}, {"i16", 2}, {"u32", 4}, {"i32", 4},
    {"f32", 4}, {"bool", 1}, {"string", 0}, {"array", 0}, {"u64", 8}, {"i64", 8}, {"f64", 8}}};

// Smallest pair: key length, one byte of key, type, one byte of value.
constexpr uint64_t kSmallestPair = 8 + 1 + 4 + 1;

unsigned long long ull(uint64_t v) { return v; }

ValueType read_type(Cursor &cursor, std::string_view key) {
    const uint64_t at = cursor.position();
    const auto type = cursor.scalar<uint32_t>("the type of a metadata value");
    if (type >= kTypes.size()) {
        fail(TR_ERR_FORMAT, "metadata key %s has value type %u at byte %llu; types 0 to %zu exist", quoted(key).c_str(), type,
             ull(at), kTypes.size() - 1);
    }
    return static_cast<ValueType>(type);
}

void check_bool(uint8_t byte, std::string_view key) {
    if (byte > 1) fail(TR_ERR_FORMAT, "metadata key %s has a bool of value %u; 0 and 1 are allowed", quoted(key).c_str(), byte);
}

void read_array(Cursor &cursor, std::string_view key, Value &value) {
    value.element = read_type(cursor, key);
    if (value.element == ValueType::Array) {
        fail(TR_ERR_FORMAT, "metadata key %s is an array of arrays, which is not allowed", quoted(key).c_str());
    }
    value.count = cursor.scalar<uint64_t>("the length of a metadata array");
    const bool strings = value.element == ValueType::String;
    const uint64_t each = strings ? 8 : kTypes[static_cast<size_t>(value.element)].bytes;
    if (value.count > cursor.remaining() / each) {
        fail(TR_ERR_FORMAT, "metadata key %s is an array of %llu elements at byte %llu, but only %llu bytes are left",
             quoted(key).c_str(), ull(value.count), ull(cursor.position()), ull(cursor.remaining()));
    }
    value.offset = cursor.position();
    if (strings) {
        value.bytes = cursor.take(0, "a metadata array");
        for (uint64_t i = 0; i < value.count; i++) cursor.string(kLongestString, "a string of a metadata array");
        return;
    }
    value.bytes = cursor.take(value.count * each, "a metadata array");
    if (value.element == ValueType::Bool) {
        for (uint64_t i = 0; i < value.count; i++) check_bool(value.bytes[i], key);
    }
}

Value read_value(Cursor &cursor, std::string_view key) {
    Value value{};
    value.type = read_type(cursor, key);
    value.offset = cursor.position();
    if (value.type == ValueType::Array) {
        read_array(cursor, key, value);
    } else if (value.type == ValueType::String) {
        value.text = cursor.string(kLongestString, "a metadata string");
    } else {
        value.bytes = cursor.take(kTypes[static_cast<size_t>(value.type)].bytes, "a metadata value");
        if (value.type == ValueType::Bool) check_bool(*value.bytes, key);
    }
    return value;
}

template <class T> T load(const uint8_t *bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

[[noreturn]] void fail_type(std::string_view key, const Value &value, const char *expected) {
    fail(TR_ERR_FORMAT, "metadata key %s at byte %llu is of type %s; expected %s", quoted(key).c_str(), ull(value.offset),
         value_type_name(value.type), expected);
}

[[noreturn]] void fail_missing(std::string_view key) {
    fail(TR_ERR_FORMAT, "metadata key %s is missing", quoted(key).c_str());
}

} // namespace

const char *value_type_name(ValueType type) { return kTypes[static_cast<size_t>(type)].name; }

void Metadata::read(Cursor &cursor, uint64_t count) {
    if (count > cursor.remaining() / kSmallestPair) {
        fail(TR_ERR_FORMAT, "the file claims %llu metadata pairs, but only %llu bytes are left", ull(count), ull(cursor.remaining()));
    }
    values_.reserve(count);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t at = cursor.position();
        const std::string_view key = cursor.string(kLongestName, "a metadata key");
        if (key.empty()) fail(TR_ERR_FORMAT, "the metadata key at byte %llu is empty", ull(at));
        const Value value = read_value(cursor, key);
        if (!values_.emplace(key, value).second) {
            fail(TR_ERR_FORMAT, "metadata key %s at byte %llu occurs twice", quoted(key).c_str(), ull(at));
        }
    }
}

const Value *Metadata::find(std::string_view key) const {
    const auto it = values_.find(key);
    return it == values_.end() ? nullptr : &it->second;
}

std::optional<int64_t> Metadata::find_integer(std::string_view key, int64_t low, int64_t high) const {
    const Value *value = find(key);
    if (!value) return {};
    int64_t n = 0;
    switch (value->type) {
    case ValueType::U8: n = load<uint8_t>(value->bytes); break;
    case ValueType::I8: n = load<int8_t>(value->bytes); break;
    case ValueType::U16: n = load<uint16_t>(value->bytes); break;
    case ValueType::I16: n = load<int16_t>(value->bytes); break;
    case ValueType::U32: n = load<uint32_t>(value->bytes); break;
    case ValueType::I32: n = load<int32_t>(value->bytes); break;
    case ValueType::I64: n = load<int64_t>(value->bytes); break;
    case ValueType::U64: {
        const auto u = load<uint64_t>(value->bytes);
        n = u > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(u);
        break;
    }
    default: fail_type(key, *value, "an integer");
    }
    if (n < low || n > high) {
        fail(TR_ERR_FORMAT, "metadata key %s is %lld; expected %lld to %lld", quoted(key).c_str(), static_cast<long long>(n),
             static_cast<long long>(low), static_cast<long long>(high));
    }
    return n;
}

int64_t Metadata::integer(std::string_view key, int64_t low, int64_t high) const {
    const auto value = find_integer(key, low, high);
    if (!value) fail_missing(key);
    return *value;
}

std::optional<double> Metadata::find_number(std::string_view key, double low, double high) const {
    const Value *value = find(key);
    if (!value) return {};
    double x = 0;
    if (value->type == ValueType::F32) x = load<float>(value->bytes);
    else if (value->type == ValueType::F64) x = load<double>(value->bytes);
    else fail_type(key, *value, "a floating-point number");
    if (!(x >= low && x <= high)) {
        fail(TR_ERR_FORMAT, "metadata key %s is %g; expected %g to %g", quoted(key).c_str(), x, low, high);
    }
    return x;
}

double Metadata::number(std::string_view key, double low, double high) const {
    const auto value = find_number(key, low, high);
    if (!value) fail_missing(key);
    return *value;
}

std::optional<std::string_view> Metadata::find_string(std::string_view key) const {
    const Value *value = find(key);
    if (!value) return {};
    if (value->type != ValueType::String) fail_type(key, *value, "a string");
    return value->text;
}

std::string_view Metadata::string(std::string_view key) const {
    const auto value = find_string(key);
    if (!value) fail_missing(key);
    return *value;
}

std::optional<uint64_t> Metadata::find_array_size(std::string_view key) const {
    const Value *value = find(key);
    if (!value) return {};
    if (value->type != ValueType::Array) fail_type(key, *value, "an array");
    return value->count;
}

} // namespace tr::gguf
