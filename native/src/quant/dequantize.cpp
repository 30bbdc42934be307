// The reference conversion of every block format to float. Every formula below is exact or rounds once (half scale times
// small integers fits in 24 bits), so any order of evaluation gives these bits.
#include <bit>
#include <cstring>

#include "quant/blocks.h"

namespace tr::quant {

namespace {

void convert(float v, float *y) { *y = v; }

struct Half { uint16_t bits; };
void convert(Half h, float *y) { *y = half_to_float(h.bits); }

struct BFloat { uint16_t bits; };
void convert(BFloat b, float *y) { *y = bfloat_to_float(b.bits); }

// d * (code - offset)
template <class Block> void convert_offset(const Block &b, int offset, float *y) {
    const float d = half_to_float(b.d);
    uint8_t code[32];
    unpack_codes(b, code);
    for (int i = 0; i < 32; i++) y[i] = d * static_cast<float>(code[i] - offset);
}
void convert(const BlockQ4_0 &b, float *y) { convert_offset(b, 8, y); }
void convert(const BlockQ5_0 &b, float *y) { convert_offset(b, 16, y); }

void convert(const BlockQ8_0 &b, float *y) {
    const float d = half_to_float(b.d);
    for (int i = 0; i < 32; i++) y[i] = d * static_cast<float>(b.qs[i]);
}

// d * code + m
template <class Block> void convert_min(const Block &b, float *y) {
    const float d = half_to_float(b.d), m = half_to_float(b.m);
    uint8_t code[32];
    unpack_codes(b, code);
    for (int i = 0; i < 32; i++) y[i] = d * static_cast<float>(code[i]) + m;
}
void convert(const BlockQ4_1 &b, float *y) { convert_min(b, y); }
void convert(const BlockQ5_1 &b, float *y) { convert_min(b, y); }

void convert(const BlockIQ4_NL &b, float *y) {
    const float d = half_to_float(b.d);
    uint8_t code[32];
    unpack_codes(b, code);
    for (int i = 0; i < 32; i++) y[i] = d * static_cast<float>(kIQ4Values[code[i]]);
}

void convert(const BlockMXFP4 &b, float *y) {
    const float d = e8m0_half(b.e);
    uint8_t code[32];
    unpack_codes(b, code);
    for (int i = 0; i < 32; i++) y[i] = d * static_cast<float>(kMXFP4Values[code[i]]);
}

void convert(const BlockQ2_K &b, float *y) {
    const float d = half_to_float(b.d), dmin = half_to_float(b.dmin);
    uint8_t code[256];
    unpack_codes(b, code);
    for (int i = 0; i < 256; i++) {
        const uint8_t packed = b.scales[i / 16];
        const float step = d * static_cast<float>(packed & 15), offset = dmin * static_cast<float>(packed >> 4);
        y[i] = step * static_cast<float>(code[i]) - offset;
    }
}

void convert(const BlockQ3_K &b, float *y) {
    const float d = half_to_float(b.d);
    int8_t scale[16];
    uint8_t code[256];
    unpack_scales(b, scale);
    unpack_codes(b, code);
    for (int i = 0; i < 256; i++) {
        const float step = d * static_cast<float>(scale[i / 16]);
        y[i] = step * static_cast<float>(code[i] - 4);
    }
}

// Q4_K, Q5_K
template <class Block> void convert_scales_mins(const Block &b, float *y) {
    const float d = half_to_float(b.d), dmin = half_to_float(b.dmin);
    uint8_t scale[8], min[8], code[256];
    unpack_scales(b.scales, scale, min);
    unpack_codes(b, code);
    for (int j = 0; j < 8; j++) {
        const float step = d * static_cast<float>(scale[j]), offset = dmin * static_cast<float>(min[j]);
        for (int i = 32 * j; i < 32 * j + 32; i++) y[i] = step * static_cast<float>(code[i]) - offset;
    }
}
void convert(const BlockQ4_K &b, float *y) { convert_scales_mins(b, y); }
void convert(const BlockQ5_K &b, float *y) { convert_scales_mins(b, y); }

void convert(const BlockQ6_K &b, float *y) {
    const float d = half_to_float(b.d);
    uint8_t code[256];
    unpack_codes(b, code);
    for (int i = 0; i < 256; i++) {
        const float step = d * static_cast<float>(b.scales[i / 16]);
        y[i] = step * static_cast<float>(code[i] - 32);
    }
}

void convert(const BlockIQ4_XS &b, float *y) {
    const float d = half_to_float(b.d);
    int8_t scale[8];
    uint8_t code[256];
    unpack_scales(b, scale);
    unpack_codes(b, code);
    for (int i = 0; i < 256; i++) {
        const float step = d * static_cast<float>(scale[i / 32]);
        y[i] = step * static_cast<float>(kIQ4Values[code[i]]);
    }
}

template <class Block, size_t kWeights> void convert_all(const void *src, float *dst, size_t n) {
    const auto *bytes = static_cast<const uint8_t *>(src);
    for (size_t i = 0; i < n; i += kWeights, bytes += sizeof(Block)) {
        Block block; // copied: blocks in a file need not be aligned
        std::memcpy(&block, bytes, sizeof block);
        convert(block, dst + i);
    }
}

} // namespace

float bfloat_to_float(uint16_t b) { return std::bit_cast<float>(uint32_t{b} << 16); }

void dequantize(Type type, const void *src, float *dst, size_t n) {
    switch (type) {
    case Type::F32: convert_all<float, 1>(src, dst, n); break;
    case Type::F16: convert_all<Half, 1>(src, dst, n); break;
    case Type::BF16: convert_all<BFloat, 1>(src, dst, n); break;
    case Type::Q4_0: convert_all<BlockQ4_0, 32>(src, dst, n); break;
    case Type::Q4_1: convert_all<BlockQ4_1, 32>(src, dst, n); break;
    case Type::Q5_0: convert_all<BlockQ5_0, 32>(src, dst, n); break;
    case Type::Q5_1: convert_all<BlockQ5_1, 32>(src, dst, n); break;
    case Type::Q8_0: convert_all<BlockQ8_0, 32>(src, dst, n); break;
    case Type::IQ4_NL: convert_all<BlockIQ4_NL, 32>(src, dst, n); break;
    case Type::MXFP4: convert_all<BlockMXFP4, 32>(src, dst, n); break;
    case Type::Q2_K: convert_all<BlockQ2_K, 256>(src, dst, n); break;
    case Type::Q3_K: convert_all<BlockQ3_K, 256>(src, dst, n); break;
    case Type::Q4_K: convert_all<BlockQ4_K, 256>(src, dst, n); break;
    case Type::Q5_K: convert_all<BlockQ5_K, 256>(src, dst, n); break;
    case Type::Q6_K: convert_all<BlockQ6_K, 256>(src, dst, n); break;
    case Type::IQ4_XS: convert_all<BlockIQ4_XS, 256>(src, dst, n); break;
    }
}

} // namespace tr::quant
