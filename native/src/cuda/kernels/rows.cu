// Products of quantized matrices with few columns: what limits them is reading the weights. A warp reads a row, eight blocks of 32 at a
// time, and leaves each block's dot product and scale in shared memory; then a thread per row and column adds them up in order.
#include "cuda/kernels/finish.h"
#include "cuda/kernels/products.h"
#include "cuda/kernels/unit.h"

namespace tr::cuda {

namespace {

constexpr int kWarps = 4, kRows = 8;             // of a block
constexpr int kBlocks = 8;                       // of 32 weights, that a warp multiplies at once
constexpr int kRounds = 8;                       // of these before the sums are taken
constexpr int kEntries = kBlocks * kRounds * 2;  // per row and column: two for each block of 32

// The entries of round `first` of a row: kBlocks blocks from block b0 on.
template <class F> __device__ __forceinline__ void leave_products(const Product &p, const QuantizedView &view, const uint8_t *row, int64_t column, int64_t b0, Entry *entries) {
    const int t = lane_id() % 4;
    const int64_t b = b0 + lane_id() / 4, per_unit = F::kUnit / 32, u = b / per_unit;
    const int j = static_cast<int>(b % per_unit);
    const bool there = b < p.m.cols / 32;
    int32_t first = 0, second = 0;
    if (there) {
        const Pair w = F::codes(row + u * F::kCodes, j, t);
        const auto *x = reinterpret_cast<const uint8_t *>(view.codes(column)) + 32 * b;
        first = __dp4a(static_cast<int>(w.first), static_cast<int>(word(x + 4 * t)), 0);
        second = __dp4a(static_cast<int>(w.second), static_cast<int>(word(x + 16 + 4 * t)), 0);
    }
    for (int step = 1; step <= 2; step *= 2) {
        first += __shfl_xor_sync(kAllLanes, first, step);
        second += __shfl_xor_sync(kAllLanes, second, step);
    }
    if (t != 0 || !there) return;
    const uint8_t *params = row + p.m.params_at + u * F::kParams;
    Entry *to = entries + 2 * (lane_id() / 4);
    if constexpr (F::kUnit == 32) {
        const float dx = view.scales(column)[u];
        to[0] = {static_cast<float>(first + second) * dx, F::d(params)};
        if constexpr (F::kMin) to[1] = {static_cast<float>(view.sums(column)[2 * u] + view.sums(column)[2 * u + 1]) * dx, F::m(params)};
    } else {
        set_entries<F>(to, first, second, params, j);
    }
}

template <class F> __device__ __forceinline__ float add_units_32(float sum, const Entry *entries, int64_t blocks) {
    for (int64_t b = 0; b < blocks; b++) {
        sum = __fmaf_rn(entries[2 * b].value, entries[2 * b].scale, sum);
        if constexpr (F::kMin) sum = __fmaf_rn(entries[2 * b + 1].value, entries[2 * b + 1].scale, sum);
    }
    return sum;
}

template <class F> __device__ __forceinline__ float add_products(float sum, const Product &p, const QuantizedView &view, const uint8_t *row, int64_t column, int64_t b0, int64_t blocks,
                                                               const Entry *entries) {
    if constexpr (F::kUnit == 32) {
        return add_units_32<F>(sum, entries, blocks);
    } else {
#pragma unroll 1
        for (int64_t b = 0; b < blocks; b += 8) {
            const int64_t u = (b0 + b) / 8;
            sum = add_unit_256<F>(sum, entries + 2 * b, row + p.m.params_at + u * F::kParams, view.sums(column) + 16 * u, view.scales(column)[u]);
        }
        return sum;
    }
}

template <class F, int kColumns> __global__ void __launch_bounds__(32 * kWarps, 4) rows_kernel(Product p, QuantizedView view) {
    TR_SHARED(Entry, entries, kRows * kColumns * kEntries);
    const Part part = part_of(p);
    const int64_t first_row = int64_t{blockIdx.x} * kRows, blocks = p.m.cols / 32;
    // The sum that this thread takes.
    const int own = static_cast<int>(threadIdx.x), own_column = own % kColumns;
    const int64_t own_row = first_row + own / kColumns;
    const bool sums = own < kRows * kColumns && own_row < p.m.rows && own_column < part.n;
    float sum = 0;
    for (int64_t b0 = 0; b0 < blocks; b0 += kBlocks * kRounds) {
        // Unrolled further, the loads of all rounds would be in flight at once, and registers be spilled.
#pragma unroll 1
        for (int r = warp_id(); r < kRows && first_row + r < p.m.rows; r += kWarps) {
            const uint8_t *row = p.m.data + (first_row + r) * p.m.row_bytes;
#pragma unroll 2
            for (int round = 0; round < kRounds && b0 + round * kBlocks < blocks; round++) {
                for (int c = 0; c < kColumns && c < part.n; c++)
                    leave_products<F>(p, view, row, part.first + c, b0 + round * kBlocks, entries + (r * kColumns + c) * kEntries + round * kBlocks * 2);
            }
        }
        __syncthreads();
        const int64_t left = blocks - b0;
        if (sums) {
            sum = add_products<F>(sum, p, view, p.m.data + own_row * p.m.row_bytes, part.first + own_column, b0, left < kBlocks * kRounds ? left : kBlocks * kRounds,
                                  entries + own * kEntries);
        }
        __syncthreads();
    }
    if (!sums) return;
    sum = add_remainders<F>(sum, p.m, view, own_row, part.first + own_column);
    finish(p, own_row, part.first + own_column, whole_pairs<F>(sum, p.m.cols));
}

template <class F, int kColumns> void launch_rows(const Product &p, const QuantizedView &x, cudaStream_t stream) {
    launch(rows_kernel<F, kColumns>, Grid(static_cast<unsigned>((p.m.rows + kRows - 1) / kRows), 32 * kWarps, stream), p, x);
}

} // namespace

void multiply_by_rows(const Product &p, const QuantizedView &x, cudaStream_t stream) {
    with_format(p.m.type, [&](auto format) {
        using F = decltype(format);
        if (p.n == 1) launch_rows<F, 1>(p, x, stream);
        else launch_rows<F, kMostByRows>(p, x, stream);
    });
}

void multiply_quantized(const Product &p, const QuantizedView &x, cudaStream_t stream) {
    if (p.n <= kMostByRows) multiply_by_rows(p, x, stream);
    else multiply_by_tiles(p, x, stream);
}

} // namespace tr::cuda
