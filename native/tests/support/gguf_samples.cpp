#include "quant/blocks.h"
#include "support/gguf_samples.h"

#include <functional>

namespace tr::test {

namespace {

using gguf::ValueType;

// An array of `count` elements of which `payload` is there.
Bytes array_value(uint32_t element, uint64_t count, const Bytes &payload = {}) {
    Bytes bytes;
    put(bytes, element);
    put(bytes, count);
    append(bytes, payload.data(), payload.size());
    return bytes;
}

Bytes long_string(uint64_t length) {
    Bytes bytes;
    put(bytes, length);
    return bytes;
}

struct Case {
    const char *name;
    tr_status status;
    const char *message;
    std::function<void(GgufWriter &)> change;
};

const std::vector<Case> &cases() {
    constexpr tr_status kFormat = TR_ERR_FORMAT, kUnsupported = TR_ERR_UNSUPPORTED;
    static const std::vector<Case> all = {
        {"good", TR_OK, "", [](auto &) {}},
        {"good-version-2", TR_OK, "", [](auto &w) { w.version = 2; }},
        {"good-no-tensors", TR_OK, "", [](auto &w) { w.tensors.clear(); }},
        {"good-alignment", TR_OK, "", [](auto &w) { w.u32("general.alignment", 64); w.alignment = 64; }},
        {"good-empty-array", TR_OK, "", [](auto &w) { w.pair("k", ValueType::Array, array_value(4, 0)); }},
        {"good-one-part", TR_OK, "", [](auto &w) { w.scalar("split.count", ValueType::U16, uint16_t{1}); }},
        // ---- header
        {"magic-lower-case", kFormat, "not a GGUF file", [](auto &w) { w.magic = "gguf"; }},
        {"magic-other", kFormat, "not a GGUF file", [](auto &w) { w.magic = "GGML"; }},
        {"version-0", kUnsupported, "GGUF version 0 at byte 4", [](auto &w) { w.version = 0; }},
        {"version-1", kUnsupported, "GGUF version 1 at byte 4", [](auto &w) { w.version = 1; }},
        {"version-4", kUnsupported, "GGUF version 4 at byte 4", [](auto &w) { w.version = 4; }},
        {"big-endian", kUnsupported, "big-endian", [](auto &w) { w.version = 0x03000000; }},
        {"pairs-too-many", kFormat, "claims 4294967305 metadata pairs", [](auto &w) { w.extra_pairs = uint64_t{1} << 32; }},
        {"pairs-one-more", kFormat, "the file ends too early", [](auto &w) { w.extra_pairs = 1; w.tensors.clear(); }},
        {"pairs-2-to-the-64", kFormat, "metadata pairs", [](auto &w) { w.extra_pairs = UINT64_MAX - 9; }},
        {"tensors-too-many", kFormat, "claims 1099511627778 tensors", [](auto &w) { w.extra_tensors = uint64_t{1} << 40; }},
        // ---- metadata
        {"key-empty", kFormat, "is empty", [](auto &w) { w.u32("", 1); }},
        {"key-twice", kFormat, "\"general.name\" at byte", [](auto &w) { w.string("general.name", "again"); }},
        {"key-too-long", kFormat, "at most 65536 are allowed", [](auto &w) { w.u32(std::string(65537, 'k'), 1); }},
        {"value-type-13", kFormat, "has value type 13", [](auto &w) { w.pair("k", static_cast<ValueType>(13), {}); }},
        {"bool-2", kFormat, "a bool of value 2", [](auto &w) { w.scalar("k", ValueType::Bool, uint8_t{2}); }},
        {"bool-in-array-7", kFormat, "a bool of value 7", [](auto &w) { w.pair("k", ValueType::Array, array_value(7, 2, {1, 7})); }},
        {"string-too-long", kFormat, "at most 16777216 are allowed", [](auto &w) { w.pair("k", ValueType::String, long_string(16777217)); }},
        {"string-past-end", kFormat, "the file ends too early", [](auto &w) { w.pair("k", ValueType::String, long_string(60000)); }},
        {"string-2-to-the-64", kFormat, "at most 16777216 are allowed", [](auto &w) { w.pair("k", ValueType::String, long_string(UINT64_MAX)); }},
        {"array-of-arrays", kFormat, "an array of arrays", [](auto &w) { w.pair("k", ValueType::Array, array_value(9, 0)); }},
        {"array-type-99", kFormat, "has value type 99", [](auto &w) { w.pair("k", ValueType::Array, array_value(99, 0)); }},
        {"array-past-end", kFormat, "an array of 1000000 elements", [](auto &w) { w.pair("k", ValueType::Array, array_value(0, 1000000)); }},
        {"array-wraps", kFormat, "elements at byte", [](auto &w) { w.pair("k", ValueType::Array, array_value(10, (uint64_t{1} << 61) + 1)); }},
        {"array-string-past-end", kFormat, "a string of a metadata array",
         [](auto &w) { w.pair("k", ValueType::Array, array_value(8, 1, long_string(1 << 20))); }},
        {"alignment-0", kFormat, "general.alignment is 0", [](auto &w) { w.u32("general.alignment", 0); }},
        {"alignment-48", kFormat, "general.alignment is 48", [](auto &w) { w.u32("general.alignment", 48); }},
        {"alignment-too-large", kFormat, "general.alignment is 131072", [](auto &w) { w.u32("general.alignment", 131072); }},
        {"alignment-type", kFormat, "is of type u64; expected u32", [](auto &w) { w.scalar("general.alignment", ValueType::U64, uint64_t{32}); }},
        {"alignment-string", kFormat, "is of type string; expected u32", [](auto &w) { w.string("general.alignment", "32"); }},
        {"split", kUnsupported, "one of 3 parts", [](auto &w) { w.scalar("split.count", ValueType::U16, uint16_t{3}); }},
        {"split-type", kFormat, "expected an integer", [](auto &w) { w.string("split.count", "3"); }},
        // ---- tensors
        {"tensor-name-empty", kFormat, "is empty", [](auto &w) { w.tensors[0].name = ""; }},
        {"tensor-name-twice", kFormat, "occurs twice", [](auto &w) { w.tensors[1].name = w.tensors[0].name; }},
        {"tensor-name-too-long", kFormat, "at most 65536 are allowed", [](auto &w) { w.tensors[0].name = std::string(65537, 't'); }},
        {"tensor-0-dims", kFormat, "has 0 dimensions", [](auto &w) { w.tensors[0].dims = {}; }},
        {"tensor-5-dims", kFormat, "has 5 dimensions", [](auto &w) { w.tensors[0].dims = {32, 1, 1, 1, 1}; }},
        {"tensor-dim-0", kFormat, "dimension 1 of size 0", [](auto &w) { w.tensors[0].dims = {32, 0}; }},
        {"tensor-dims-wrap", kFormat, "more elements than 63 bits", [](auto &w) { w.tensors[0].dims = {uint64_t{1} << 42, uint64_t{1} << 42}; }},
        {"tensor-dims-64-bits", kFormat, "more elements than 63 bits", [](auto &w) { w.tensors[0].dims = {uint64_t{1} << 63}; }},
        {"tensor-bytes-wrap", kFormat, "more bytes than 64 bits", [](auto &w) { w.tensors[1].dims = {uint64_t{1} << 62}; }},
        {"tensor-type-known", kUnsupported, "is of type IQ2_XS", [](auto &w) { w.tensors[0].type = 17; }},
        {"tensor-type-99", kUnsupported, "is of type type 99", [](auto &w) { w.tensors[0].type = 99; }},
        {"tensor-type-2-to-the-32", kUnsupported, "which this build does not read", [](auto &w) { w.tensors[0].type = UINT32_MAX; }},
        {"tensor-part-of-block", kFormat, "type Q8_0 needs a multiple of 32", [](auto &w) { w.tensors[0].dims = {16, 2}; }},
        {"offset-unaligned", kFormat, "not a multiple of the alignment 32", [](auto &w) { w.tensors[1].offset = 33; }},
        {"offset-past-end", kFormat, "cut short or its offset is wrong", [](auto &w) { w.tensors[1].offset = 4096; }},
        {"offset-wraps", kFormat, "cut short or its offset is wrong", [](auto &w) { w.tensors[1].offset = UINT64_MAX - 31; }},
        {"tensor-longer-than-file", kFormat, "cut short or its offset is wrong", [](auto &w) { w.tensors[1].dims = {4096}; }},
        {"overlap", kFormat, "overlap in the file", [](auto &w) { w.tensors[1].offset = 0; }},
        {"overlap-in-part", kFormat, "overlap in the file", [](auto &w) { w.tensors[1].offset = 32; }},
    };
    return all;
}

} // namespace

GgufWriter good_writer() {
    GgufWriter w;
    w.string("general.architecture", "qwen2");
    w.string("general.name", "tiny");
    w.u32("u32", 7);
    w.scalar("i16", ValueType::I16, int16_t{-3});
    w.scalar("u64", ValueType::U64, uint64_t{1} << 40);
    w.f32("f32", 0.5f);
    w.scalar("f64", ValueType::F64, 0.25);
    w.scalar("bool", ValueType::Bool, uint8_t{1});
    w.strings("strings", {"a", "", "bc"});
    w.tensors.push_back({"matrix", {32, 2}, static_cast<uint32_t>(quant::Type::Q8_0), Bytes(2 * sizeof(quant::BlockQ8_0), 1)});
    w.tensors.push_back({"vector", {5}, static_cast<uint32_t>(quant::Type::F32), Bytes(20, 0)});
    return w;
}

std::vector<Sample> gguf_samples() {
    std::vector<Sample> samples;
    for (const Case &c : cases()) {
        GgufWriter w = good_writer();
        c.change(w);
        samples.push_back({c.name, w.bytes(), c.status, c.message});
    }
    return samples;
}

} // namespace tr::test
