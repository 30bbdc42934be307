// Products of quantized matrices with few columns: what limits them is reading the weights. A warp has a row, a lane a block of 32 of every
// 1024 weights, read by vectors; the loads of several such rounds are in flight at once. Each block's dot product and scale go to shared
// memory, where a lane per unit of 256, and at last one per column, add them up in order. Warps never wait for each other.
#include "cuda/kernels/finish.h"
#include "cuda/kernels/products.h"
#include "cuda/kernels/unit.h"
#include "cuda/kernels/wide.h"

namespace tr::cuda {

namespace {

constexpr int kWarps = 4;
constexpr int kRounds = 4;                  // of 32 blocks, before their sums are taken
constexpr int kBlocks = 32 * kRounds, kUnits = kBlocks / 8;

// What a warp keeps in shared memory of each column.
template <class F> struct Kept {
    static constexpr bool kByUnit = F::kUnit == 256;
    static constexpr int kEach = kEntriesOfBlock<F>;
    // One entry between units: lanes that each read theirs do not meet in a bank.
    static constexpr int kStride = 8 * kEach + 1, kEntries = kUnits * kStride;
    __device__ static int at(int block) { return block / 8 * kStride + block % 8 * kEach; }
};

// Block `block` of the row, `i` of those at hand, if it is there: its entries for each column, and its products of minimums and sums. What is
// not there is read as the last block, so that no load waits for a branch.
template <class F, int kColumns>
__device__ __forceinline__ void leave_block(const Product &p, const QuantizedView &view, const Part &part, const uint8_t *row, int64_t block, bool there, int i, Entry *entries, int32_t (&mins)[kColumns]) {
    using K = Kept<F>;
    const int64_t per_unit = F::kUnit / 32, u = block / per_unit;
    const int j = static_cast<int>(block % per_unit);
    const Block w = block_of<F>(row + u * F::kCodes, j);
    const uint8_t *params = row + p.m.params_at + u * F::kParams;
#pragma unroll
    for (int c = 0; c < kColumns; c++) {
        if (c >= part.n) break;
        const int64_t column = part.first + c;
        const Block x = bytes_32(reinterpret_cast<const uint8_t *>(view.codes(column)) + 32 * block);
        int32_t first = 0, second = 0;
        for (int t = 0; t < 4; t++) {
            first = __dp4a(static_cast<int>(w.first[t]), static_cast<int>(x.first[t]), first);
            second = __dp4a(static_cast<int>(w.second[t]), static_cast<int>(x.second[t]), second);
        }
        Entry left[K::kEach];
        if constexpr (K::kByUnit) {
            set_entries<F>(left, first, second, params, j);
            if constexpr (F::kMin) mins[c] = times_mins<F>(view.sums(column) + 16 * u, params, j);
        } else {
            const float dx = view.scales(column)[u];
            left[0] = {static_cast<float>(first + second) * dx, F::d(params)};
            if constexpr (F::kMin) left[1] = {static_cast<float>(view.sums(column)[2 * u] + view.sums(column)[2 * u + 1]) * dx, F::m(params)};
        }
        for (int e = 0; e < K::kEach && there; e++) entries[c * K::kEntries + K::at(i) + e] = left[e];
    }
}

// The blocks of units of 256: scaled, and added up within them; a lane has a unit of a column at a time. `units` of them from unit u0 on.
template <class F, int kColumns>
__device__ __forceinline__ void join_blocks(const Product &p, const QuantizedView &view, const Part &part, const uint8_t *row, int64_t u0, int units, const Entry *entries, const int32_t *mins, Entry *joined) {
    using K = Kept<F>;
    for (int at = lane_id(); at < kColumns * kUnits; at += 32) {
        const int c = at / kUnits, i = at % kUnits;
        if (c >= part.n || i >= units) continue;
        const uint8_t *params = row + p.m.params_at + (u0 + i) * F::kParams;
        int32_t least = 0;
        if constexpr (F::kMin) least = mins[at];
        const float scaled = add_entries<F>(entries + c * K::kEntries + i * K::kStride);
        joined[at] = {scale_unit<F>(scaled, least, params), view.scales(part.first + c)[u0 + i]};
    }
}

// Whether any block of a column has a remainder.
template <class F> __device__ __forceinline__ bool has_remainders(const Product &p, const QuantizedView &view, int64_t column) {
    bool any = false;
    if constexpr (F::kUnit == 256) {
        for (int64_t u = lane_id(); u < p.m.cols / 256; u += 32) any |= view.marks(column)[u] != 0;
        any = __any_sync(kAllLanes, any);
    }
    return any;
}

template <class F> __device__ __forceinline__ float add_blocks(float sum, const Entry *entries, int blocks) {
    using K = Kept<F>;
#pragma unroll 8
    for (int b = 0; b < blocks; b++) {
        const Entry *e = entries + K::at(b);
        sum = __fmaf_rn(e[0].value, e[0].scale, sum);
        if constexpr (F::kMin) sum = __fmaf_rn(e[1].value, e[1].scale, sum);
    }
    return sum;
}

template <class F, int kColumns> __global__ void __launch_bounds__(32 * kWarps) rows_kernel(Product p, QuantizedView view) {
    using K = Kept<F>;
    TR_SHARED(Entry, all_entries, kWarps * kColumns * K::kEntries);
    TR_SHARED(Entry, all_joined, K::kByUnit ? kWarps * kColumns * kUnits : 1);
    TR_SHARED(int32_t, all_mins, K::kByUnit ? kWarps * kColumns * kUnits : 1);
    const int64_t row_index = int64_t{blockIdx.x} * kWarps + warp_id(), blocks = p.m.cols / 32;
    const Part part = part_of(p);
    if (row_index >= p.m.rows) return;
    const int lane = lane_id();
    const uint8_t *row = p.m.data + row_index * p.m.row_bytes;
    Entry *entries = all_entries + warp_id() * kColumns * K::kEntries;
    float sum = 0; // of column `lane`
    const bool sums = lane < kColumns && lane < part.n;
    for (int64_t b0 = 0; b0 < blocks; b0 += kBlocks) {
        const int left = blocks - b0 < kBlocks ? static_cast<int>(blocks - b0) : kBlocks;
        [[maybe_unused]] Entry *joined = all_joined + (K::kByUnit ? warp_id() * kColumns * kUnits : 0);
        [[maybe_unused]] int32_t *mins = all_mins + (K::kByUnit ? warp_id() * kColumns * kUnits : 0);
#pragma unroll
        for (int round = 0; round < kRounds; round++) {
            const int i = 32 * round + lane;
            int32_t least[kColumns] = {};
            leave_block<F>(p, view, part, row, i < left ? b0 + i : blocks - 1, i < left, i, entries, least);
            if constexpr (K::kByUnit && F::kMin) {
#pragma unroll
                for (int c = 0; c < kColumns; c++) {
                    for (int step = 1; step < 8; step *= 2) least[c] += __shfl_xor_sync(kAllLanes, least[c], step);
                    if (lane % 8 == 0) mins[c * kUnits + i / 8] = least[c];
                }
            }
        }
        __syncwarp();
        if constexpr (K::kByUnit) {
            join_blocks<F, kColumns>(p, view, part, row, b0 / 8, left / 8, entries, mins, joined);
            __syncwarp();
            for (int u = 0; sums && u < left / 8; u++) sum = __fmaf_rn(joined[lane * kUnits + u].value, joined[lane * kUnits + u].scale, sum);
        } else if (sums) {
            sum = add_blocks<F>(sum, entries + lane * K::kEntries, left);
        }
        __syncwarp();
    }
#pragma unroll 1
    for (int c = 0; c < kColumns && c < part.n; c++) {
        if (has_remainders<F>(p, view, part.first + c) && lane == c) sum = add_remainders<F>(sum, p.m, view, row_index, part.first + c);
    }
    if (sums) finish(p, row_index, part.first + lane, whole_pairs<F>(sum, p.m.cols));
}

template <class F, int kColumns> void launch_rows(const Product &p, const QuantizedView &x, cudaStream_t stream) {
    launch(rows_kernel<F, kColumns>, Grid(static_cast<unsigned>((p.m.rows + kWarps - 1) / kWarps), 32 * kWarps, stream), p, x);
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
