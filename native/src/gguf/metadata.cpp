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
constexpr std::array<TypeFacts, 13> kTypes = {{{"uint8", 1}, {"int8", 1}, {"uint16", 2}, {"int16", 2}, {"uint32", 4}, {"int32", 4},
    {"float32", 4}, {"bool", 1}, {"string", 0}, {"array", 0}, {"uint64", 8}, {"int64", 8}, {"float64", 8}}};

const TypeFacts &facts(ValueType type) { return kTypes[static_cast<size_t>(type)]; }

unsigned long long ull(uint64_t v) { return v; }

void check_bool(const Cursor &cursor, uint8_t byte) {
    if (byte > 1) cursor.fail(TR_ERR_FORMAT, "a bool is the byte %u, expected 0 or 1", byte);
}

void read_array(Cursor &cursor, Value &value) {
    const auto element = cursor.scalar<uint32_t>("the element type of the array");
    if (element >= kTypes.size()) {
        cursor.fail(TR_ERR_FORMAT, "the array has the unknown element type %u, expected 0 to %zu", element, kTypes.size() - 1);
    }
    value.element = static_cast<ValueType>(element);
    if (value.element == ValueType::Array) cursor.fail(TR_ERR_FORMAT, "an array of arrays, which no known file uses, is not supported");
    value.count = cursor.scalar<uint64_t>("the length of the array");
    const bool strings = value.element == ValueType::String;
    const uint64_t each = strings ? 8 : facts(value.element).bytes;
    if (value.count > cursor.remaining() / each) {
        cursor.fail(TR_ERR_FORMAT, "the array has %llu elements of type %s of at least %llu bytes each, but %llu bytes are left: "
                    "the file is truncated or the length is wrong", ull(value.count), facts(value.element).name, ull(each), ull(cursor.remaining()));
    }
    value.bytes = cursor.take(strings ? 0 : value.count * each, "the array");
    if (!strings && value.element != ValueType::Bool) return;
    for (uint64_t i = 0; i < value.count; i++) {
        cursor.in_element(i);
        if (strings) cursor.string(kLongestString, "the string");
        else check_bool(cursor, value.bytes[i]);
    }
    cursor.past_array();
}

Value read_value(Cursor &cursor) {
    Value value{};
    const auto type = cursor.scalar<uint32_t>("the value type");
    if (type >= kTypes.size()) cursor.fail(TR_ERR_FORMAT, "unknown value type %u, expected 0 to %zu", type, kTypes.size() - 1);
    value.type = static_cast<ValueType>(type);
    value.offset = cursor.position();
    if (value.type == ValueType::Array) {
        read_array(cursor, value);
    } else if (value.type == ValueType::String) {
        value.text = cursor.string(kLongestString, "the string");
    } else {
        value.bytes = cursor.take(facts(value.type).bytes, facts(value.type).name, "the ");
        if (value.type == ValueType::Bool) check_bool(cursor, *value.bytes);
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
         value.type_name().c_str(), expected);
}

[[noreturn]] void fail_missing(std::string_view key) {
    fail(TR_ERR_FORMAT, "metadata key %s is missing", quoted(key).c_str());
}

} // namespace

const char *value_type_name(ValueType type) { return facts(type).name; }

std::string Value::type_name() const {
    return type == ValueType::Array ? std::string("array of ") + value_type_name(element) : value_type_name(type);
}

void Metadata::read(Cursor &cursor, uint64_t count) {
    values_.reserve(count);
    for (uint64_t i = 0; i < count; i++) {
        cursor.in_pair(i);
        const std::string_view key = cursor.string(kLongestKey, "the key");
        if (key.empty()) cursor.fail(TR_ERR_FORMAT, "the key is empty");
        if (!is_utf8(key)) cursor.fail(TR_ERR_FORMAT, "the key %s is not UTF-8", quoted(key).c_str());
        cursor.in_key(key);
        if (values_.contains(key)) cursor.fail(TR_ERR_FORMAT, "the key occurs twice");
        values_.emplace(key, read_value(cursor));
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

const Value *Metadata::find_strings(std::string_view key) const {
    const Value *value = find(key);
    if (value && (value->type != ValueType::Array || value->element != ValueType::String)) fail_type(key, *value, "an array of strings");
    return value;
}

std::optional<uint64_t> Metadata::find_array_size(std::string_view key) const {
    const Value *value = find(key);
    if (!value) return {};
    if (value->type != ValueType::Array) fail_type(key, *value, "an array");
    return value->count;
}

} // namespace tr::gguf
