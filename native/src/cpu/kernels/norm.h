// The RMS norm: x * gain / sqrt(mean(x^2) + eps) (Zhang and Sennrich, "Root Mean Square Layer Normalization").
#pragma once
#include "cpu/kernels/math.h"

namespace tr::cpu::TR_ISA {
namespace {

// Sum of squares: 16 lanes, lane i takes values i, i+16, ... in order; then the tree.
TR_INLINE float sum_of_squares(const float *x, int64_t k) {
    constexpr int kVectors = 16 / kLanes;
    VecF sum[kVectors];
    for (int v = 0; v < kVectors; v++) sum[v] = zero();
    int64_t i = 0;
    for (; i + 16 <= k; i += 16)
        for (int v = 0; v < kVectors; v++) {
            const VecF a = load(x + i + v * kLanes);
            sum[v] = fma(a, a, sum[v]);
        }
    if (i < k) {
        alignas(64) float rest[16];
        for (int j = 0; j < 16; j++) rest[j] = i + j < k ? x[i + j] : 0;
        for (int v = 0; v < kVectors; v++) {
            const VecF a = load(rest + v * kLanes);
            sum[v] = fma(a, a, sum[v]);
        }
    }
    alignas(64) float lane[16];
    for (int v = 0; v < kVectors; v++) store(lane + v * kLanes, sum[v]);
    return sum_tree16(lane);
}

// 1/sqrt(mean(x^2) + eps).
TR_INLINE float norm_scale(const float *x, int64_t k, float eps) {
    const float mean = sum_of_squares(x, k) / static_cast<float>(k);
    return 1.0f / _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(mean + eps)));
}

// One head of k values, k a multiple of 16, in place.
TR_INLINE void norm_head(float *head, int k, const float *gain, float eps) {
    const VecF scale = set(norm_scale(head, k, eps));
    for (int i = 0; i < k; i += kLanes) store(head + i, mul(mul(load(head + i), scale), load(gain + i)));
}

} // namespace
} // namespace tr::cpu::TR_ISA
