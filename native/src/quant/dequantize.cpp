// The reference conversion of every block format to float. Every formula below is exact or rounds once (half scale times
// small integers fits in 24 bits), so any order of evaluation gives these bits.
#include <cstring>

#include "quant/types.h"

namespace tr::quant {

namespace {

void convert(const BlockQ5_0 &b, float *y) {
    const float d = half_to_float(b.d);
    uint8_t code[32];
    unpack_codes(b, code);
    for (int i = 0; i < 32; i++) y[i] = d * static_cast<float>(code[i] - 16);
}

void convert(const BlockQ8_0 &b, float *y) {
    const float d = half_to_float(b.d);
    for (int i = 0; i < 32; i++) y[i] = d * static_cast<float>(b.qs[i]);
}

void convert(const BlockQ4_K &b, float *y) {
    const float d = half_to_float(b.d), dmin = half_to_float(b.dmin);
    uint8_t scale[8], min[8];
    unpack_scales(b, scale, min);
    for (int j = 0; j < 8; j++) {
        const float step = d * static_cast<float>(scale[j]);
        const float offset = dmin * static_cast<float>(min[j]);
        const uint8_t *q = b.qs + j / 2 * 32; // sub-blocks 2i and 2i+1 share 32 bytes: low and high nibbles
        for (int i = 0; i < 32; i++) {
            const int code = j % 2 ? q[i] >> 4 : q[i] & 15;
            y[32 * j + i] = step * static_cast<float>(code) - offset;
        }
    }
}

void convert(const BlockQ6_K &b, float *y) {
    const float d = half_to_float(b.d);
    uint8_t code[256];
    unpack_codes(b, code);
    for (int i = 0; i < 256; i++) {
        const float step = d * static_cast<float>(b.scales[i / 16]);
        y[i] = step * static_cast<float>(code[i] - 32);
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

void unpack_scales(const BlockQ4_K &b, uint8_t scale[8], uint8_t min[8]) {
    const uint8_t *s = b.scales;
    for (int j = 0; j < 4; j++) {
        scale[j] = s[j] & 63;
        min[j] = s[j + 4] & 63;
        scale[j + 4] = static_cast<uint8_t>((s[j + 8] & 15) | (s[j] >> 6) << 4);
        min[j + 4] = static_cast<uint8_t>((s[j + 8] >> 4) | (s[j + 4] >> 6) << 4);
    }
}

void unpack_codes(const BlockQ6_K &b, uint8_t code[256]) {
    for (int half = 0; half < 2; half++) {
        const uint8_t *low = b.ql + 64 * half, *high = b.qh + 32 * half;
        uint8_t *out = code + 128 * half;
        for (int i = 0; i < 32; i++) {
            out[i] = static_cast<uint8_t>((low[i] & 15) | (high[i] & 3) << 4);
            out[i + 32] = static_cast<uint8_t>((low[i + 32] & 15) | (high[i] >> 2 & 3) << 4);
            out[i + 64] = static_cast<uint8_t>(low[i] >> 4 | (high[i] >> 4 & 3) << 4);
            out[i + 96] = static_cast<uint8_t>(low[i + 32] >> 4 | (high[i] >> 6) << 4);
        }
    }
}

void unpack_codes(const BlockQ5_0 &b, uint8_t code[32]) {
    uint32_t high;
    std::memcpy(&high, b.qh, sizeof high);
    // Four codes at a time, one per byte of a word. The product moves bits 0 to 3 to bits 4, 12, 20 and 28.
    const auto fifth_bits = [high](int first) { return (high >> first & 15) * 0x02040810u & 0x10101010u; };
    for (int i = 0; i < 16; i += 4) {
        uint32_t nibbles;
        std::memcpy(&nibbles, b.qs + i, sizeof nibbles);
        const uint32_t low = (nibbles & 0x0f0f0f0f) | fifth_bits(i), upper = (nibbles >> 4 & 0x0f0f0f0f) | fifth_bits(i + 16);
        std::memcpy(code + i, &low, sizeof low);
        std::memcpy(code + i + 16, &upper, sizeof upper);
    }
}

void dequantize(Type type, const void *src, float *dst, size_t n) {
    switch (type) {
    case Type::F32: std::memcpy(dst, src, n * sizeof(float)); break;
    case Type::F16:
        for (size_t i = 0; i < n; i++) {
            uint16_t h;
            std::memcpy(&h, static_cast<const uint8_t *>(src) + 2 * i, sizeof h);
            dst[i] = half_to_float(h);
        }
        break;
    case Type::Q5_0: convert_all<BlockQ5_0, 32>(src, dst, n); break;
    case Type::Q8_0: convert_all<BlockQ8_0, 32>(src, dst, n); break;
    case Type::Q4_K: convert_all<BlockQ4_K, 256>(src, dst, n); break;
    case Type::Q6_K: convert_all<BlockQ6_K, 256>(src, dst, n); break;
    }
}

} // namespace tr::quant
