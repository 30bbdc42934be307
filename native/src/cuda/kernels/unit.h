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
template <class F> __device__ __forceinline__ float scale_unit(float scaled, int32_t mins, const uint8_t *params) {
    const float block = scaled * F::d(params);
    if constexpr (F::kMin) return __fmaf_rn(-static_cast<float>(mins), F::dmin(params), block);
    else return block;
}
template <class F> __device__ __forceinline__ float add_unit_256(float sum, float scaled, int32_t mins, const uint8_t *params, float dx) {
    return __fmaf_rn(scale_unit<F>(scaled, mins, params), dx, sum);
}

// The entries of a block of 32 weights: its dot product, or those of its halves; in units of 32 with minimums, those times the sum of codes, too.
template <class F> constexpr int count_entries() {
    if constexpr (F::kUnit == 256) return F::kBlock == 16 ? 2 : 1;
    else return F::kMin ? 2 : 1;
}
template <class F> constexpr int kEntriesOfBlock = count_entries<F>();

// The products of a unit's entries.
template <class F> __device__ __forceinline__ float add_entries(const Entry *entries) {
    float scaled = 0;
    for (int i = 0; i < 8 * kEntriesOfBlock<F>; i++) scaled = __fmaf_rn(entries[i].value, entries[i].scale, scaled);
    return scaled;
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
            Entry entries[8 * kEntriesOfBlock<F>];
            int32_t mins = 0;
#pragma unroll 1
            for (int j = 0; j < 8; j++) {
                int32_t first = 0, second = 0;
                for (int t = 0; t < 4; t++) {
                    const Pair w = F::codes(codes, j, t);
                    first = __dp4a(static_cast<int>(w.first), static_cast<int>(word(x + 32 * j + 4 * t)), first);
                    second = __dp4a(static_cast<int>(w.second), static_cast<int>(word(x + 32 * j + 16 + 4 * t)), second);
                }
                set_entries<F>(entries + kEntriesOfBlock<F> * j, first, second, params, j);
                if constexpr (F::kMin) mins += times_mins<F>(view.sums(column, 1) + 16 * u, params, j);
            }
            sum = add_unit_256<F>(sum, add_entries<F>(entries), mins, params, view.scales(column, 1)[u]);
        }
    }
    return sum;
}

} // namespace tr::cuda
