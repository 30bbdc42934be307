// What products of half floats and of brain floats (F16, BF16) are made of: activations in two terms each, and blocks of 32 values.
//
// Weights are multiplied as they are. Activations are floats: rounded to the weights' type, they would be off by 2^-12 or 2^-9, further than two
// runs of one model may differ. So each is the sum of two numbers of that type, and of twice the products: then a half float's 22 bits, or a
// brain float's 16, are kept. A block is multiplied by a power of two, which is divided out of the sum, so that its largest value lies at 2^kTop:
// no value is beyond the largest half float, and none so far below the block's largest that it counts is too small for one.
#pragma once
#include "cuda/kernels/math.h"

namespace tr::cuda {

struct HalfFloats {
    static constexpr bool kBrain = false;
    static constexpr uint32_t kTop = 14;
    __device__ static uint32_t pack(float first, float second) { return to_half_floats(first, second); }
    __device__ static float first(uint32_t w) { return from_half(static_cast<uint16_t>(w)); }
    __device__ static float second(uint32_t w) { return from_half(static_cast<uint16_t>(w >> 16)); }
};
struct BrainFloats {
    static constexpr bool kBrain = true;
    static constexpr uint32_t kTop = 1; // their range is that of floats: sums stay far from its ends
    __device__ static uint32_t pack(float first, float second) { return to_brain_floats(first, second); }
    __device__ static float first(uint32_t w) { return __uint_as_float(w << 16); }
    __device__ static float second(uint32_t w) { return __uint_as_float(w & 0xffff0000); }
};

// A lane's eight values of a block of 32 of a column: lane 4g+t of a warp has values 8t to 8t+7 of column g.
struct Values {
    float v[8];
};
// The same in two terms.
struct Terms {
    uint4 high, low;
};

// Values 8t to 8t+7 of a block; zero beyond k. Columns can be read by vectors if k is a multiple of 4.
__device__ __forceinline__ Values load_values(const float *column, int64_t k, int64_t at) {
    Values x = {};
    if (k % 4 == 0 && at + 8 <= k) {
        const auto low = load_vector<float4>(column + at), high = load_vector<float4>(column + at + 4);
        return {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
    }
    for (int i = 0; i < 8; i++) {
        if (at + i < k) x.v[i] = column[at + i];
    }
    return x;
}

// Eight weights of a row. Behind its last one are zeros, up to row_bytes.
__device__ __forceinline__ uint4 load_weights(const uint8_t *row, int64_t row_bytes, int64_t at) {
    return 2 * at < row_bytes ? load_vector<uint4>(row + 2 * at) : uint4{0, 0, 0, 0};
}

// Two values, scaled; the words of their terms.
template <class H> __device__ __forceinline__ void split_two(float first, float second, float factor, uint32_t &high, uint32_t &low) {
    first *= factor;
    second *= factor;
    high = H::pack(first, second);
    low = H::pack(first - H::first(high), second - H::second(high));
}

// Splits a block of each of a warp's columns. inverse: what the block's products are to be multiplied by; NaN if a value is not finite.
template <class H> __device__ __forceinline__ Terms split(const Values &x, float &inverse) {
    constexpr uint32_t kInfinity = cpu::kInfinityBits, kTop = 127 + H::kTop, kLeast = 15; // exponents, biased by 127: both powers are normal
    uint32_t largest = 0;
    for (int i = 0; i < 8; i++) {
        const uint32_t bits = __float_as_uint(x.v[i]) & 0x7fffffff;
        largest = bits > largest ? bits : largest;
    }
    for (int step = 1; step <= 2; step *= 2) { // the four lanes of the column
        const uint32_t other = __shfl_xor_sync(kAllLanes, largest, step);
        largest = other > largest ? other : largest;
    }
    const bool finite = largest < kInfinity;
    const uint32_t exponent = !finite || largest >> 23 < kLeast ? kLeast : largest >> 23;
    const float factor = finite ? __uint_as_float((kTop + 127 - exponent) << 23) : 0.0f;
    inverse = __uint_as_float(finite ? (exponent + 127 - kTop) << 23 : 0x7fc00000);
    Terms terms;
    split_two<H>(x.v[0], x.v[1], factor, terms.high.x, terms.low.x);
    split_two<H>(x.v[2], x.v[3], factor, terms.high.y, terms.low.y);
    split_two<H>(x.v[4], x.v[5], factor, terms.high.z, terms.low.z);
    split_two<H>(x.v[6], x.v[7], factor, terms.high.w, terms.low.w);
    return terms;
}

// sum += the products of a block: 16 rows, of which the lane has weights 8t to 8t+7 of rows g and g+8, with 8 columns. inverse: of the columns 2t and
// 2t+1. The block's own sum begins at zero, with the low terms. A lane's words go where the instruction has numbers 2t, 2t+1 and those
// 8 further on: the same for both, so each weight meets its value.
template <class H> __device__ __forceinline__ void add_block(const uint4 &upper, const uint4 &lower, const Terms &x, const float (&inverse)[2], float (&sum)[4]) {
    const uint32_t a[2][4] = {{upper.x, lower.x, upper.y, lower.y}, {upper.z, lower.z, upper.w, lower.w}};
    const uint32_t low[2][2] = {{x.low.x, x.low.y}, {x.low.z, x.low.w}}, high[2][2] = {{x.high.x, x.high.y}, {x.high.z, x.high.w}};
    float block[4] = {};
    for (int i = 0; i < 2; i++) multiply_halves<H::kBrain>(block, a[i], low[i]);
    for (int i = 0; i < 2; i++) multiply_halves<H::kBrain>(block, a[i], high[i]);
    for (int e = 0; e < 4; e++) sum[e] = __fmaf_rn(block[e], inverse[e % 2], sum[e]);
}

} // namespace tr::cuda
