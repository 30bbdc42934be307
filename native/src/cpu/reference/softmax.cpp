#include "cpu/softmax.h"

#include <algorithm>
#include <bit>

#include "cpu/reference/reference.h"

namespace tr::cpu::reference {

float exp(float value) {
    const float above = value > kExpLow ? value : kExpLow; // also what is not a number
    const float x = above < kExpHigh ? above : kExpHigh;
    const float n = std::nearbyint(x * kLog2e);
    float r = std::fma(-n, kLn2High, x);
    r = std::fma(-n, kLn2Low, r);
    float p = kExpPoly[4];
    for (int i = 3; i >= 0; i--) p = std::fma(p, r, kExpPoly[i]);
    p = std::fma(p, r, 1.0f);
    p = std::fma(p, r, 1.0f);
    const float power = std::bit_cast<float>((static_cast<int32_t>(n) + 127) << 23);
    return value < kExpLow ? 0 : p * power;
}

void softmax_stats(const float *x, int64_t n, const uint32_t *valid, float *max, double *sum, double *dot) {
    const auto in_play = [valid](int64_t i) { return !valid || (valid[i / 32] >> (i % 32) & 1); };
    float top = -INFINITY;
    for (int64_t i = 0; i < n; i++)
        if (in_play(i)) top = std::max(top, x[i]);
    *max = top;
    *sum = *dot = 0;
    if (top == -INFINITY) return; // nothing in play

    double sums[16] = {}, dots[16] = {};
    for (int64_t i = 0; i < n; i++) {
        if (!in_play(i)) continue;
        const float t = std::max(x[i] - top, kStatsFloor), e = exp(t);
        sums[i % 16] += static_cast<double>(e);
        dots[i % 16] = std::fma(static_cast<double>(e), static_cast<double>(t), dots[i % 16]);
    }
    *sum = sum_tree16(sums);
    *dot = sum_tree16(dots);
}

void exp_shifted(const float *x, int64_t n, float shift, float inv_temperature, float *y) {
    for (int64_t i = 0; i < n; i++) y[i] = exp((x[i] - shift) * inv_temperature);
}

} // namespace tr::cpu::reference
