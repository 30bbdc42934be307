// Block formats of GGUF tensors: their names and sizes, and the reference conversion of each to floats.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tr::quant {

// Numbers are ggml's type ids, as stored in a GGUF tensor record.
enum class Type : uint32_t {
    F32 = 0,
    F16 = 1,
    Q4_0 = 2,
    Q4_1 = 3,
    Q5_0 = 6,
    Q5_1 = 7,
    Q8_0 = 8,
    Q2_K = 10,
    Q3_K = 11,
    Q4_K = 12,
    Q5_K = 13,
    Q6_K = 14,
    IQ4_NL = 20,
    IQ4_XS = 23,
    BF16 = 30,
    MXFP4 = 39,
};

struct TypeInfo {
    Type type;
    const char *name;     // "Q4_K"
    uint32_t block;       // weights per block
    uint32_t bytes;       // bytes per block
};

// All types that this build reads.
std::span<const TypeInfo> supported_types();
// Their names, for messages: "F32, F16, ... and MXFP4".
std::string supported_names();
// "a, b and c"
std::string join_names(std::span<const char *const> names);
// NULL if this build does not read the type.
const TypeInfo *type_info(uint32_t ggml_type);
// ggml's name of a type id, also of those not supported here ("IQ2_XS"), for messages; "type 99" style text if unknown.
const char *type_name(uint32_t ggml_type);

float half_to_float(uint16_t h);
uint16_t float_to_half(float f); // round to nearest even
float bfloat_to_float(uint16_t b);

// The reference conversion: n weights (a multiple of the block) of `type` at src into dst.
void dequantize(Type type, const void *src, float *dst, size_t n);

} // namespace tr::quant
