#include "quant/quantize.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "quant/blocks.h"

namespace tr::quant {

namespace {

float inverse_of(float step) { return step == 0 || !std::isfinite(1 / step) ? 0 : 1 / step; }

// The value of largest magnitude, the first of equals.
float extreme_of(const float *x, int n) {
    float extreme = 0;
    for (int i = 0; i < n; i++)
        if (std::fabs(x[i]) > std::fabs(extreme)) extreme = x[i];
    return extreme;
}

uint8_t clamp_code(float code, int largest) { return static_cast<uint8_t>(std::clamp(code, 0.0f, static_cast<float>(largest))); }

void convert(const float *x, float &b) { b = *x; }

struct Half { uint16_t bits; };
void convert(const float *x, Half &b) { b.bits = float_to_half(*x); }

struct BFloat { uint16_t bits; };
void convert(const float *x, BFloat &b) { // to nearest, ties to even
    const uint32_t bits = std::bit_cast<uint32_t>(*x);
    b.bits = static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

void pack_nibbles(const uint8_t code[32], uint8_t qs[16]) {
    for (int i = 0; i < 16; i++) qs[i] = static_cast<uint8_t>((code[i] & 15) | (code[i + 16] & 15) << 4);
}

void pack_fifth_bits(const uint8_t code[32], uint8_t qh[4]) {
    uint32_t high = 0;
    for (int i = 0; i < 32; i++) high |= static_cast<uint32_t>(code[i] >> 4) << i;
    std::memcpy(qh, &high, sizeof high);
}

// ---- blocks of 32. The code is rounded with the scale as a float, before that becomes a half.

// Offset codes: the extreme gets code 0, the end of the range that has one code more.
float quantize_offset(const float *x, int offset, uint8_t code[32]) {
    const float d = extreme_of(x, 32) / static_cast<float>(-offset), inverse = inverse_of(d);
    const float half_up = static_cast<float>(offset) + 0.5f;
    for (int i = 0; i < 32; i++) code[i] = clamp_code(x[i] * inverse + half_up, 2 * offset - 1);
    return d;
}

void convert(const float *x, BlockQ4_0 &b) {
    uint8_t code[32];
    b.d = float_to_half(quantize_offset(x, 8, code));
    pack_nibbles(code, b.qs);
}

void convert(const float *x, BlockQ5_0 &b) {
    uint8_t code[32];
    b.d = float_to_half(quantize_offset(x, 16, code));
    pack_nibbles(code, b.qs);
    pack_fifth_bits(code, b.qh);
}

// Codes from the minimum up.
template <class Block> void quantize_min(const float *x, int largest, uint8_t code[32], Block &b) {
    const auto [low, high] = std::minmax_element(x, x + 32);
    const float min = *low, d = (*high - min) / static_cast<float>(largest), inverse = inverse_of(d);
    for (int i = 0; i < 32; i++) code[i] = clamp_code((x[i] - min) * inverse + 0.5f, largest);
    b.d = float_to_half(d);
    b.m = float_to_half(min);
}

void convert(const float *x, BlockQ4_1 &b) {
    uint8_t code[32];
    quantize_min(x, 15, code, b);
    pack_nibbles(code, b.qs);
}

void convert(const float *x, BlockQ5_1 &b) {
    uint8_t code[32];
    quantize_min(x, 31, code, b);
    pack_nibbles(code, b.qs);
    pack_fifth_bits(code, b.qh);
}

void convert(const float *x, BlockQ8_0 &b) {
    const float d = std::fabs(extreme_of(x, 32)) / 127, inverse = inverse_of(d);
    for (int i = 0; i < 32; i++) b.qs[i] = static_cast<int8_t>(std::round(x[i] * inverse)); // halves away from zero
    b.d = float_to_half(d);
}

// ---- blocks of 256. Codes are rounded with the scales as they are stored.

struct Steps {
    float scale[8], offset[8]; // of each sub-block: weight = scale * code - offset
};

// The scales and minimums of sub-blocks of 32, whose codes go to `largest`.
template <class Block> Steps quantize_scales(const float *x, int largest, Block &b) {
    float scale[8], min[8];
    for (int j = 0; j < 8; j++) {
        const auto [low, high] = std::minmax_element(x + 32 * j, x + 32 * j + 32);
        min[j] = std::max(-*low, 0.0f); // a minimum above 0 cannot be stored
        scale[j] = std::max(*high + min[j], 0.0f) / static_cast<float>(largest);
    }
    b.d = float_to_half(*std::max_element(scale, scale + 8) / 63);
    b.dmin = float_to_half(*std::max_element(min, min + 8) / 63);
    const float d = half_to_float(b.d), dmin = half_to_float(b.dmin);
    uint8_t scale_code[8], min_code[8];
    Steps steps;
    for (int j = 0; j < 8; j++) {
        scale_code[j] = clamp_code(std::round(scale[j] * inverse_of(d)), 63);
        min_code[j] = clamp_code(std::round(min[j] * inverse_of(dmin)), 63);
        steps.scale[j] = d * scale_code[j];
        steps.offset[j] = dmin * min_code[j];
    }
    pack_scales(scale_code, min_code, b.scales);
    return steps;
}

void quantize_codes(const float *x, const Steps &steps, int largest, uint8_t code[256]) {
    for (int i = 0; i < 256; i++)
        code[i] = clamp_code(std::round((x[i] + steps.offset[i / 32]) * inverse_of(steps.scale[i / 32])), largest);
}

void pack_nibbles_256(const uint8_t code[256], uint8_t qs[128]) {
    for (int pair = 0; pair < 4; pair++)
        for (int i = 0; i < 32; i++)
            qs[32 * pair + i] = static_cast<uint8_t>((code[64 * pair + i] & 15) | (code[64 * pair + 32 + i] & 15) << 4);
}

void convert(const float *x, BlockQ4_K &b) {
    uint8_t code[256];
    quantize_codes(x, quantize_scales(x, 15, b), 15, code);
    pack_nibbles_256(code, b.qs);
}

void convert(const float *x, BlockQ5_K &b) {
    uint8_t code[256];
    quantize_codes(x, quantize_scales(x, 31, b), 31, code);
    pack_nibbles_256(code, b.qs);
    for (int i = 0; i < 32; i++) {
        b.qh[i] = 0;
        for (int j = 0; j < 8; j++) b.qh[i] |= static_cast<uint8_t>(code[32 * j + i] >> 4 << j);
    }
}

void convert(const float *x, BlockQ6_K &b) {
    float scale[16];
    for (int j = 0; j < 16; j++) scale[j] = extreme_of(x + 16 * j, 16) / -32; // the extreme gets code -32
    b.d = float_to_half(extreme_of(scale, 16) / -128);
    const float d = half_to_float(b.d);
    uint8_t code[256];
    for (int j = 0; j < 16; j++) {
        b.scales[j] = static_cast<int8_t>(std::clamp(std::round(scale[j] * inverse_of(d)), -128.0f, 127.0f));
        const float inverse = inverse_of(d * static_cast<float>(b.scales[j]));
        for (int i = 16 * j; i < 16 * j + 16; i++) code[i] = clamp_code(std::round(x[i] * inverse) + 32, 63);
    }
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < 32; i++) {
            const uint8_t *c = code + 128 * half + i;
            b.ql[64 * half + i] = static_cast<uint8_t>((c[0] & 15) | (c[64] & 15) << 4);
            b.ql[64 * half + 32 + i] = static_cast<uint8_t>((c[32] & 15) | (c[96] & 15) << 4);
            b.qh[32 * half + i] = static_cast<uint8_t>(c[0] >> 4 | (c[32] >> 4) << 2 | (c[64] >> 4) << 4 | (c[96] >> 4) << 6);
        }
}

template <class Block, size_t kWeights> void convert_all(const float *src, void *dst, size_t n) {
    auto *bytes = static_cast<uint8_t *>(dst);
    for (size_t i = 0; i < n; i += kWeights, bytes += sizeof(Block)) {
        Block block;
        convert(src + i, block);
        std::memcpy(bytes, &block, sizeof block);
    }
}

using Convert = void (*)(const float *, void *, size_t);

Convert converter(Type type) {
    switch (type) {
    case Type::F32: return convert_all<float, 1>;
    case Type::F16: return convert_all<Half, 1>;
    case Type::BF16: return convert_all<BFloat, 1>;
    case Type::Q4_0: return convert_all<BlockQ4_0, 32>;
    case Type::Q4_1: return convert_all<BlockQ4_1, 32>;
    case Type::Q5_0: return convert_all<BlockQ5_0, 32>;
    case Type::Q5_1: return convert_all<BlockQ5_1, 32>;
    case Type::Q8_0: return convert_all<BlockQ8_0, 32>;
    case Type::Q4_K: return convert_all<BlockQ4_K, 256>;
    case Type::Q5_K: return convert_all<BlockQ5_K, 256>;
    case Type::Q6_K: return convert_all<BlockQ6_K, 256>;
    case Type::Q2_K:
    case Type::Q3_K:
    case Type::IQ4_NL:
    case Type::IQ4_XS:
    case Type::MXFP4: break;
    }
    return nullptr;
}

} // namespace

bool can_quantize(Type type) { return converter(type) != nullptr; }

std::string quantizable_names() {
    std::vector<const char *> names;
    for (const TypeInfo &info : supported_types())
        if (can_quantize(info.type)) names.push_back(info.name);
    return join_names(names);
}

void quantize(Type type, const float *src, void *dst, size_t n) { converter(type)(src, dst, n); }

} // namespace tr::quant
