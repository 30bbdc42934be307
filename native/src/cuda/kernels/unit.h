// What products of few and of many columns do with a unit of 256 weights once its dot products are known.
#pragma once
#include "cuda/kernels/formats.h"

namespace tr::cuda {

struct Entry {
    float value, scale; // to be multiplied and added
};

// The minimums of block j times the sums of its activations' codes, of 16 values each.
template <class F> __device__ __forceinline__ int32_t times_mins(const int32_t *sums, const uint8_t *params, int j) {
    if constexpr (F::kBlock == 32) return F::min(params, j) * (sums[2 * j] + sums[2 * j + 1]);
    else return F::min(params, 2 * j) * sums[2 * j] + F::min(params, 2 * j + 1) * sums[2 * j + 1];
}

// scaled: the sum of dot products times scales, mins: of minimums times sums of codes.
template <class F> __device__ __forceinline__ float add_unit_256(float sum, float scaled, int32_t mins, const uint8_t *params, float dx) {
    float block = scaled * F::d(params);
    if constexpr (F::kMin) block = __fmaf_rn(-static_cast<float>(mins), F::dmin(params), block);
    return __fmaf_rn(block, dx, sum);
}

// entries: of each block of 32 weights its dot product and scale, or those of its halves. sums: of the codes of 16 values each.
template <class F> __device__ __forceinline__ float add_unit_256(float sum, const Entry *entries, const uint8_t *params, const int32_t *sums, float dx) {
    float scaled = 0;
    for (int j = 0; j < 8; j++) {
        scaled = __fmaf_rn(entries[2 * j].value, entries[2 * j].scale, scaled);
        if constexpr (F::kBlock == 16) scaled = __fmaf_rn(entries[2 * j + 1].value, entries[2 * j + 1].scale, scaled);
    }
    int32_t mins = 0;
    if constexpr (F::kMin) {
        for (int j = 0; j < 8; j++) mins += times_mins<F>(sums, params, j);
    }
    return add_unit_256<F>(sum, scaled, mins, params, dx);
}

template <class F> __device__ __forceinline__ void set_entries(Entry *to, int32_t first, int32_t second, const uint8_t *params, int j) {
    if constexpr (F::kBlock == 32) {
        to[0] = {static_cast<float>(first + second), static_cast<float>(F::scale(params, j))};
    } else {
        to[0] = {static_cast<float>(first), static_cast<float>(F::scale(params, 2 * j))};
        to[1] = {static_cast<float>(second), static_cast<float>(F::scale(params, 2 * j + 1))};
    }
}

// The remainders of a column (cpu/quantize.h) times a row, added to their sum by one thread: there are none as a rule.
template <class F> __device__ __forceinline__ float add_remainders(float sum, const MatrixView &m, const QuantizedView &view, int64_t row, int64_t column) {
    if constexpr (F::kUnit == 256) {
        const uint8_t *marks = view.marks(column), *weights = m.data + row * m.row_bytes;
#pragma unroll 1
        for (int64_t u = 0; u < m.cols / 256; u++) {
            if (marks[u] == 0) continue;
            const uint8_t *codes = weights + u * F::kCodes, *params = weights + m.params_at + u * F::kParams;
            const auto *x = reinterpret_cast<const uint8_t *>(view.codes(column, 1)) + 256 * u;
            Entry entries[16];
#pragma unroll 1
            for (int j = 0; j < 8; j++) {
                int32_t first = 0, second = 0;
                for (int t = 0; t < 4; t++) {
                    const Pair w = F::codes(codes, j, t);
                    first = __dp4a(static_cast<int>(w.first), static_cast<int>(word(x + 32 * j + 4 * t)), first);
                    second = __dp4a(static_cast<int>(w.second), static_cast<int>(word(x + 32 * j + 16 + 4 * t)), second);
                }
                set_entries<F>(entries + 2 * j, first, second, params, j);
            }
            sum = add_unit_256<F>(sum, entries, params, view.sums(column, 1) + 16 * u, view.scales(column, 1)[u]);
        }
    }
    return sum;
}

} // namespace tr::cuda
