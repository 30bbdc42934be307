// What kernels know of each block format: where the codes of a unit are, and what they are scaled with. Codes come out four to a word, as
// signed bytes without the format's offset, in the order in which a lane of a matrix product wants them: of each block of 32, codes 4t..4t+3
// and 16 further on. All arithmetic on codes is exact.
#pragma once
#include "cuda/kernels/device.h"
#include "quant/blocks.h"

namespace tr::cuda {

struct Pair {
    uint32_t first, second; // codes 4t..4t+3 and 16+4t..16+4t+3 of a block of 32
};

__device__ __forceinline__ uint32_t word(const uint8_t *p) { return *reinterpret_cast<const uint32_t *>(p); }
__device__ __forceinline__ uint16_t half_word(const uint8_t *p) { return *reinterpret_cast<const uint16_t *>(p); }
__device__ __forceinline__ uint32_t nibbles(uint32_t v, int shift) { return v >> shift & 0x0f0f0f0f; }
// Four bytes below 128 minus the same offset, each for itself.
template <uint32_t kOffset> __device__ __forceinline__ uint32_t minus(uint32_t v) { return ((v | 0x80808080) - kOffset * 0x01010101) ^ 0x80808080; }
// Bits 0 to 3 of v to bits 4, 12, 20 and 28.
__device__ __forceinline__ uint32_t fifth_bits(uint32_t v) { return (v & 15) * 0x02040810 & 0x10101010; }
// What four codes of 4 bits stand for in a table of 16.
__device__ __forceinline__ uint32_t look_up(const int8_t (&table)[16], uint32_t v) {
    uint32_t out = 0;
    for (int i = 0; i < 32; i += 8) out |= static_cast<uint32_t>(static_cast<uint8_t>(table[v >> i & 15])) << i;
    return out;
}

// ---- units of 32: weight = d * code, or d * code + m

struct Q4_0 {
    static constexpr quant::Type kType = quant::Type::Q4_0;
    static constexpr int kUnit = 32, kCodes = 16, kParams = 2;
    static constexpr bool kMin = false;
    __device__ static Pair codes(const uint8_t *c, int, int t) {
        const uint32_t v = word(c + 4 * t);
        return {minus<8>(nibbles(v, 0)), minus<8>(nibbles(v, 4))};
    }
    __device__ static float d(const uint8_t *p) { return from_half(half_word(p)); }
};

struct Q4_1 {
    static constexpr quant::Type kType = quant::Type::Q4_1;
    static constexpr int kUnit = 32, kCodes = 16, kParams = 4;
    static constexpr bool kMin = true;
    __device__ static Pair codes(const uint8_t *c, int, int t) {
        const uint32_t v = word(c + 4 * t);
        return {nibbles(v, 0), nibbles(v, 4)};
    }
    __device__ static float d(const uint8_t *p) { return from_half(half_word(p)); }
    __device__ static float m(const uint8_t *p) { return from_half(half_word(p + 2)); }
};

// Of the codes' bytes the first four are the fifth bits.
struct Q5_1 {
    static constexpr quant::Type kType = quant::Type::Q5_1;
    static constexpr int kUnit = 32, kCodes = 20, kParams = 4;
    static constexpr bool kMin = true;
    __device__ static Pair codes(const uint8_t *c, int, int t) {
        const uint32_t high = word(c), v = word(c + 4 + 4 * t);
        return {nibbles(v, 0) | fifth_bits(high >> 4 * t), nibbles(v, 4) | fifth_bits(high >> (16 + 4 * t))};
    }
    __device__ static float d(const uint8_t *p) { return from_half(half_word(p)); }
    __device__ static float m(const uint8_t *p) { return from_half(half_word(p + 2)); }
};

struct Q5_0 {
    static constexpr quant::Type kType = quant::Type::Q5_0;
    static constexpr int kUnit = 32, kCodes = 20, kParams = 2;
    static constexpr bool kMin = false;
    __device__ static Pair codes(const uint8_t *c, int, int t) {
        const Pair p = Q5_1::codes(c, 0, t);
        return {minus<16>(p.first), minus<16>(p.second)};
    }
    __device__ static float d(const uint8_t *p) { return from_half(half_word(p)); }
};

struct Q8_0 {
    static constexpr quant::Type kType = quant::Type::Q8_0;
    static constexpr int kUnit = 32, kCodes = 32, kParams = 2;
    static constexpr bool kMin = false;
    __device__ static Pair codes(const uint8_t *c, int, int t) { return {word(c + 4 * t), word(c + 16 + 4 * t)}; }
    __device__ static float d(const uint8_t *p) { return from_half(half_word(p)); }
};

struct IQ4_NL {
    static constexpr quant::Type kType = quant::Type::IQ4_NL;
    static constexpr int kUnit = 32, kCodes = 16, kParams = 2;
    static constexpr bool kMin = false;
    __device__ static Pair codes(const uint8_t *c, int, int t) {
        constexpr int8_t kValues[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
        const uint32_t v = word(c + 4 * t);
        return {look_up(kValues, v), look_up(kValues, v >> 4)};
    }
    __device__ static float d(const uint8_t *p) { return from_half(half_word(p)); }
};

struct MXFP4 {
    static constexpr quant::Type kType = quant::Type::MXFP4;
    static constexpr int kUnit = 32, kCodes = 16, kParams = 1;
    static constexpr bool kMin = false;
    __device__ static Pair codes(const uint8_t *c, int, int t) {
        constexpr int8_t kValues[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
        const uint32_t v = word(c + 4 * t);
        return {look_up(kValues, v), look_up(kValues, v >> 4)};
    }
    // As quant::e8m0_half.
    __device__ static float d(const uint8_t *p) { return __uint_as_float(*p < 2 ? 0x00200000u << *p : static_cast<uint32_t>(*p - 1) << 23); }
};

// ---- units of 256, in blocks of kBlock that have a scale each: weight = d * scale * code (- dmin * min)

// Scale and minimum j of Q4_K and Q5_K, from their 12 bytes.
__device__ __forceinline__ int packed_scale(const uint8_t *s, int j) { return j < 4 ? s[j] & 63 : (s[j + 4] & 15) | (s[j - 4] >> 6) << 4; }
__device__ __forceinline__ int packed_min(const uint8_t *s, int j) { return j < 4 ? s[j + 4] & 63 : (s[j + 4] >> 4) | (s[j] >> 6) << 4; }

struct Q4_K {
    static constexpr quant::Type kType = quant::Type::Q4_K;
    static constexpr int kUnit = 256, kCodes = 128, kParams = 16, kBlock = 32;
    static constexpr bool kMin = true;
    __device__ static Pair codes(const uint8_t *c, int j, int t) {
        const uint8_t *p = c + 32 * (j / 2) + 4 * t;
        return {nibbles(word(p), 4 * (j % 2)), nibbles(word(p + 16), 4 * (j % 2))};
    }
    __device__ static float d(const uint8_t *p) { return from_half(half_word(p)); }
    __device__ static float dmin(const uint8_t *p) { return from_half(half_word(p + 2)); }
    __device__ static int scale(const uint8_t *p, int j) { return packed_scale(p + 4, j); }
    __device__ static int min(const uint8_t *p, int j) { return packed_min(p + 4, j); }
};

// Of the codes' bytes the first 32 are the fifth bits: bit j of byte i is of code i of block j.
struct Q5_K {
    static constexpr quant::Type kType = quant::Type::Q5_K;
    static constexpr int kUnit = 256, kCodes = 160, kParams = 16, kBlock = 32;
    static constexpr bool kMin = true;
    __device__ static Pair codes(const uint8_t *c, int j, int t) {
        const Pair low = Q4_K::codes(c + 32, j, t);
        return {low.first | (word(c + 4 * t) >> j & 0x01010101) << 4, low.second | (word(c + 16 + 4 * t) >> j & 0x01010101) << 4};
    }
    __device__ static float d(const uint8_t *p) { return from_half(half_word(p)); }
    __device__ static float dmin(const uint8_t *p) { return from_half(half_word(p + 2)); }
    __device__ static int scale(const uint8_t *p, int j) { return packed_scale(p + 4, j); }
    __device__ static int min(const uint8_t *p, int j) { return packed_min(p + 4, j); }
};

// Of the codes' bytes 128 are low nibbles, then 64 have two upper bits each. Parameters: 16 scales, d.
struct Q6_K {
    static constexpr quant::Type kType = quant::Type::Q6_K;
    static constexpr int kUnit = 256, kCodes = 192, kParams = 18, kBlock = 16;
    static constexpr bool kMin = false;
    __device__ static uint32_t four(const uint8_t *c, int j, int at) {
        const int half = j / 4, part = j % 4;
        const uint32_t low = nibbles(word(c + 64 * half + 32 * (part % 2) + at), 4 * (part / 2));
        const uint32_t high = word(c + 128 + 32 * half + at) >> 2 * part & 0x03030303;
        return minus<32>(low | high << 4);
    }
    __device__ static Pair codes(const uint8_t *c, int j, int t) { return {four(c, j, 4 * t), four(c, j, 16 + 4 * t)}; }
    __device__ static float d(const uint8_t *p) { return from_half(half_word(p + 16)); }
    __device__ static int scale(const uint8_t *p, int j) { return static_cast<int8_t>(p[j]); }
};

// Two bits each of 32 codes in 32 bytes, four blocks to them.
__device__ __forceinline__ uint32_t two_bits(const uint8_t *c, int j, int at) { return word(c + 32 * (j / 4) + at) >> 2 * (j % 4) & 0x03030303; }

// Parameters: 16 bytes of scale and minimum, d, dmin.
struct Q2_K {
    static constexpr quant::Type kType = quant::Type::Q2_K;
    static constexpr int kUnit = 256, kCodes = 64, kParams = 20, kBlock = 16;
    static constexpr bool kMin = true;
    __device__ static Pair codes(const uint8_t *c, int j, int t) { return {two_bits(c, j, 4 * t), two_bits(c, j, 16 + 4 * t)}; }
    __device__ static float d(const uint8_t *p) { return from_half(half_word(p + 16)); }
    __device__ static float dmin(const uint8_t *p) { return from_half(half_word(p + 18)); }
    __device__ static int scale(const uint8_t *p, int j) { return p[j] & 15; }
    __device__ static int min(const uint8_t *p, int j) { return p[j] >> 4; }
};

// Of the codes' bytes the first 32 are the third bits, as in Q5_K. Parameters: 12 bytes of scales, d.
struct Q3_K {
    static constexpr quant::Type kType = quant::Type::Q3_K;
    static constexpr int kUnit = 256, kCodes = 96, kParams = 14, kBlock = 16;
    static constexpr bool kMin = false;
    __device__ static uint32_t four(const uint8_t *c, int j, int at) {
        return minus<4>(two_bits(c + 32, j, at) | (word(c + at) >> j & 0x01010101) << 2);
    }
    __device__ static Pair codes(const uint8_t *c, int j, int t) { return {four(c, j, 4 * t), four(c, j, 16 + 4 * t)}; }
    __device__ static float d(const uint8_t *p) { return from_half(half_word(p + 12)); }
    __device__ static int scale(const uint8_t *p, int j) {
        const int low = j < 8 ? p[j] & 15 : p[j - 8] >> 4, high = p[8 + j % 4] >> 2 * (j / 4) & 3;
        return (low | high << 4) - 32;
    }
};

// Parameters: d, the upper bits of the scales, their lower ones.
struct IQ4_XS {
    static constexpr quant::Type kType = quant::Type::IQ4_XS;
    static constexpr int kUnit = 256, kCodes = 128, kParams = 8, kBlock = 32;
    static constexpr bool kMin = false;
    __device__ static Pair codes(const uint8_t *c, int j, int t) { return IQ4_NL::codes(c + 16 * j, 0, t); }
    __device__ static float d(const uint8_t *p) { return from_half(half_word(p)); }
    __device__ static int scale(const uint8_t *p, int j) {
        const int low = p[4 + j / 2] >> 4 * (j % 2) & 15, high = half_word(p + 2) >> 2 * j & 3;
        return (low | high << 4) - 32;
    }
};

// f(Format{}) for the format of a type; false if it is not one of integers.
template <class F> bool with_format(quant::Type type, F &&f) {
    switch (type) {
    case quant::Type::Q4_0: return f(Q4_0{}), true;
    case quant::Type::Q4_1: return f(Q4_1{}), true;
    case quant::Type::Q5_0: return f(Q5_0{}), true;
    case quant::Type::Q5_1: return f(Q5_1{}), true;
    case quant::Type::Q8_0: return f(Q8_0{}), true;
    case quant::Type::IQ4_NL: return f(IQ4_NL{}), true;
    case quant::Type::MXFP4: return f(MXFP4{}), true;
    case quant::Type::Q2_K: return f(Q2_K{}), true;
    case quant::Type::Q3_K: return f(Q3_K{}), true;
    case quant::Type::Q4_K: return f(Q4_K{}), true;
    case quant::Type::Q5_K: return f(Q5_K{}), true;
    case quant::Type::Q6_K: return f(Q6_K{}), true;
    case quant::Type::IQ4_XS: return f(IQ4_XS{}), true;
    case quant::Type::F32:
    case quant::Type::F16:
    case quant::Type::BF16: return false;
    }
    return false;
}

} // namespace tr::cuda
