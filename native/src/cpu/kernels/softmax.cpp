// Statistics of output rows.
#include "cpu/kernels/math.h"
#include "cpu/kernels/operators.h"
#include "cpu/softmax.h"

namespace tr::cpu::TR_ISA {
namespace {

// Calls body(values, mask) for pieces of 16 values, values in 16/kLanes vectors; mask has a bit per value in play.
template <class Body> TR_INLINE void for_each_16(const float *x, int64_t n, const uint32_t *valid, Body body) {
    constexpr int kVectors = 16 / kLanes;
    for (int64_t i = 0; i < n; i += 16) {
        uint32_t mask = valid ? valid[i / 32] >> (i % 32) & 0xffff : 0xffff;
        alignas(64) float rest[16];
        const float *from = x + i;
        if (n - i < 16) {
            mask &= (1u << (n - i)) - 1;
            for (int64_t j = 0; j < 16; j++) rest[j] = j < n - i ? x[i + j] : 0;
            from = rest;
        }
        VecF v[kVectors];
        for (int j = 0; j < kVectors; j++) v[j] = load(from + j * kLanes);
        body(v, mask);
    }
}

} // namespace

void softmax_stats(const float *x, int64_t n, const uint32_t *valid, float *max_out, double *sum_out, double *dot_out) {
    constexpr int kVectors = 16 / kLanes;
    const VecF minus_infinity = set(-__builtin_inff());
    VecF largest = minus_infinity;
    for_each_16(x, n, valid, [&](const VecF *v, uint32_t mask) {
        for (int j = 0; j < kVectors; j++) largest = max(select_bits(mask >> j * kLanes, v[j], minus_infinity), largest);
    });
    alignas(64) float lane[kLanes];
    store(lane, largest);
    float top = lane[0];
    for (int i = 1; i < kLanes; i++) top = lane[i] > top ? lane[i] : top;
    *max_out = top;
    *sum_out = *dot_out = 0;
    if (top == -__builtin_inff()) return; // nothing in play

    VecD sum[2 * kVectors], dot[2 * kVectors];
    for (int j = 0; j < 2 * kVectors; j++) sum[j] = dot[j] = zero_d();
    for_each_16(x, n, valid, [&](const VecF *v, uint32_t mask) {
        for (int j = 0; j < kVectors; j++) {
            // An id out of play is as one far below: its exponential is 0.
            const VecF t = max(select_bits(mask >> j * kLanes, sub(v[j], set(top)), minus_infinity), set(kStatsFloor));
            const VecF e = exp(t);
            const VecD e0 = low_to_double(e), e1 = high_to_double(e);
            sum[2 * j] = add_d(sum[2 * j], e0);
            sum[2 * j + 1] = add_d(sum[2 * j + 1], e1);
            dot[2 * j] = fma_d(e0, low_to_double(t), dot[2 * j]);
            dot[2 * j + 1] = fma_d(e1, high_to_double(t), dot[2 * j + 1]);
        }
    });
    double sums[16], dots[16];
    for (int j = 0; j < 2 * kVectors; j++) {
        store_d(sums + j * kLanes / 2, sum[j]);
        store_d(dots + j * kLanes / 2, dot[j]);
    }
    *sum_out = sum_tree16(sums);
    *dot_out = sum_tree16(dots);
}

void exp_shifted(const float *x, int64_t n, float shift, float inv_temperature, float *y) {
    const auto shifted = [&](VecF v) { return exp(mul(sub(v, set(shift)), set(inv_temperature))); };
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) store(y + i, shifted(load(x + i)));
    if (i == n) return;
    alignas(64) float rest[kLanes];
    for (int64_t j = 0; j < kLanes; j++) rest[j] = i + j < n ? x[i + j] : 0;
    store(rest, shifted(load(rest)));
    for (int64_t j = 0; i + j < n; j++) y[i + j] = rest[j];
}

} // namespace tr::cpu::TR_ISA
