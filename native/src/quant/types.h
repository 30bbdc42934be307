// Block formats of GGUF tensors: their names, sizes and layouts in the file.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tr::quant {

// Numbers are ggml's type ids, as stored in a GGUF tensor record.
enum class Type : uint32_t { F32 = 0, F16 = 1, Q5_0 = 6, Q8_0 = 8, Q4_K = 12, Q6_K = 14 };

struct TypeInfo {
    Type type;
    const char *name;     // "Q4_K"
    uint32_t block;       // weights per block
    uint32_t bytes;       // bytes per block
};

// NULL if this build does not know the type.
const TypeInfo *type_info(uint32_t ggml_type);
// ggml's name of a type id, also of those not supported here ("IQ2_XS"), for messages; "type 99" style text if unknown.
const char *type_name(uint32_t ggml_type);

struct BlockQ5_0 { uint16_t d; uint8_t qh[4]; uint8_t qs[16]; };
struct BlockQ8_0 { uint16_t d; int8_t qs[32]; };
struct BlockQ4_K { uint16_t d, dmin; uint8_t scales[12]; uint8_t qs[128]; };
struct BlockQ6_K { uint8_t ql[128], qh[64]; int8_t scales[16]; uint16_t d; };
static_assert(sizeof(BlockQ5_0) == 22 && sizeof(BlockQ8_0) == 34 && sizeof(BlockQ4_K) == 144 && sizeof(BlockQ6_K) == 210);

float half_to_float(uint16_t h);
uint16_t float_to_half(float f); // round to nearest even

// The packed parts of a block, taken apart. Scales and mins are 0..63; codes are as stored, without the format's offset
// (Q5_0: 0..31, weight = d*(code-16); Q6_K: 0..63, weight = d*scale*(code-32)).
void unpack_scales(const BlockQ4_K &b, uint8_t scale[8], uint8_t min[8]);
void unpack_codes(const BlockQ5_0 &b, uint8_t code[32]);
void unpack_codes(const BlockQ6_K &b, uint8_t code[256]);

// The reference conversion: n weights (a multiple of the block) of `type` at src into dst.
void dequantize(Type type, const void *src, float *dst, size_t n);

} // namespace tr::quant
