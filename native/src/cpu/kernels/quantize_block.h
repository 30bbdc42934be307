#pragma once
#include "cpu/kernels/math.h"
#include "cpu/quantize.h"

namespace tr::cpu::TR_ISA {
namespace {

// Quantizes kCount values; returns the scale. sums[i] is the sum of codes 16i to 16i+15.
template <int kCount> TR_INLINE float quantize_block(const float *x, int8_t *q, int32_t *sums) {
    VecI largest = zero_i();
    for (int i = 0; i < kCount; i += kLanes) largest = max32(largest, and_i(bits(load(x + i)), set32(0x7fffffff)));
    const uint32_t largest_bits = static_cast<uint32_t>(max_lanes(largest));
    float magnitude;
    __builtin_memcpy(&magnitude, &largest_bits, sizeof magnitude);
    if (largest_bits >= kInfinityBits || magnitude < kQuantizeTiny) {
        for (int i = 0; i < kCount; i++) q[i] = 0;
        for (int i = 0; i < kCount / 16; i++) sums[i] = 0;
        return largest_bits >= kInfinityBits ? __builtin_nanf("") : 0.0f;
    }
    const VecF factor = set(127.0f / magnitude);
    constexpr int kVectors = 32 / kLanes;
    for (int i = 0; i < kCount; i += 32) {
        VecI code[kVectors];
        for (int v = 0; v < kVectors; v++) code[v] = to_int(mul(load(x + i + v * kLanes), factor));
        store_bytes32(q + i, code);
        for (int h = 0; h < 2; h++) {
            VecI sum = code[h * kVectors / 2];
            if (kVectors == 4) sum = add32(sum, code[h * kVectors / 2 + 1]);
            sums[i / 16 + h] = sum_lanes(sum);
        }
    }
    return magnitude / 127.0f;
}

} // namespace
} // namespace tr::cpu::TR_ISA
