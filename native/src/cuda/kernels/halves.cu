// Products of matrices of half floats and of brain floats, on the tensor cores at every number of columns, one alone included: one order of
// summation for all. A block of 32 products is summed up by the instruction, from zero; blocks are added up to segments of 128, segments
// to the whole, each in order and from zero. So a column's bits depend neither on the others nor on the way taken. They are not the
// processor's: in what order an instruction adds its products is its own.
#include "cuda/kernels/finish.h"
#include "cuda/kernels/halves.h"
#include "cuda/kernels/products.h"

namespace tr::cuda {

namespace {

constexpr int kWarps = 8, kThreads = 32 * kWarps;
constexpr int kBlock = 32, kBlocks = 4; // values of a block, blocks of a segment

__device__ __forceinline__ int64_t blocks_of(const Product &p) { return (p.m.cols + kBlock - 1) / kBlock; }

// The row, or the last one: what is multiplied with it is thrown away.
__device__ __forceinline__ const uint8_t *row_of(const Product &p, int64_t row) { return p.m.data + (row < p.m.rows ? row : p.m.rows - 1) * p.m.row_bytes; }
__device__ __forceinline__ const float *column_of(const Product &p, const Part &part, const float *x, int64_t column) {
    return x + (part.first + (column < part.n ? column : part.n - 1)) * p.m.cols;
}

// Element e of a lane's part of the product of 16 rows and 8 columns.
__device__ __forceinline__ void finish_element(const Product &p, const Part &part, int64_t first_row, int64_t first_column, int lane, int e, float sum) {
    const int64_t row = first_row + lane / 4 + e / 2 * 8, column = first_column + lane % 4 * 2 + e % 2;
    if (row < p.m.rows && column < part.n) finish(p, row, part.first + column, sum);
}

// ---- few columns: what limits them is reading the weights. A warp has a segment of kStrips x 16 rows, and its part of all columns; the
// segments' sums go to shared memory, and are added up there.

template <int kTiles, int kStrips> struct Few {
    static constexpr int kParts = kTiles * kStrips;                     // of 16 rows and 8 columns
    static constexpr int kRound = kParts < 4 ? 32 / kParts : 8;         // segments between two barriers
    static constexpr int kPer = (kParts * 128 + kThreads - 1) / kThreads; // sums of a thread
};

template <class H, int kTiles, int kStrips> __device__ __forceinline__ void add_segment(const Product &p, const uint8_t *const (&rows)[kStrips][2],
                                                                                      const float *const (&columns)[kTiles], int64_t first_block, float (&sum)[kStrips][kTiles][4]) {
    constexpr int kAhead = kBlocks / kStrips; // blocks whose weights are on their way at once
    const int t = lane_id() % 4;
    const int64_t blocks = blocks_of(p);
#pragma unroll 1
    for (int64_t b0 = first_block; b0 < first_block + kBlocks && b0 < blocks; b0 += kAhead) {
        uint4 weights[kAhead][kStrips][2];
#pragma unroll
        for (int i = 0; i < kAhead; i++) {
            for (int s = 0; s < kStrips; s++) {
                for (int half = 0; half < 2; half++) weights[i][s][half] = load_weights(rows[s][half], p.m.row_bytes, (b0 + i) * kBlock + 8 * t);
            }
        }
#pragma unroll
        for (int i = 0; i < kAhead; i++) {
            if (b0 + i >= blocks) break;
#pragma unroll
            for (int tile = 0; tile < kTiles; tile++) {
                float own;
                const Terms x = split<H>(load_values(columns[tile], p.m.cols, (b0 + i) * kBlock + 8 * t), own);
                const float inverse[2] = {__shfl_sync(kAllLanes, own, 8 * t), __shfl_sync(kAllLanes, own, 8 * t + 4)};
                for (int s = 0; s < kStrips; s++) add_block<H>(weights[i][s][0], weights[i][s][1], x, inverse, sum[s][tile]);
            }
        }
    }
}

template <class H, int kTiles, int kStrips> __global__ void __launch_bounds__(kThreads, 2) few_kernel(Product p, const float *x) {
    using F = Few<kTiles, kStrips>;
    TR_SHARED(float4, sums, F::kRound * F::kParts * 32);
    const Part part = part_of(p);
    const int64_t first_row = int64_t{blockIdx.x} * 16 * kStrips, first_column = int64_t{blockIdx.y} * 8 * kTiles;
    if (first_column >= part.n) return;
    const int64_t segments = (blocks_of(p) + kBlocks - 1) / kBlocks;
    const int lane = lane_id();
    const uint8_t *rows[kStrips][2];
    const float *columns[kTiles];
    for (int s = 0; s < kStrips; s++) {
        for (int half = 0; half < 2; half++) rows[s][half] = row_of(p, first_row + 16 * s + lane / 4 + 8 * half);
    }
    for (int tile = 0; tile < kTiles; tile++) columns[tile] = column_of(p, part, x, first_column + 8 * tile + lane / 4);
    float total[F::kPer] = {};
    for (int64_t s0 = 0; s0 < segments; s0 += F::kRound) {
        const int64_t n = segments - s0 < F::kRound ? segments - s0 : F::kRound;
        for (int64_t s = warp_id(); s < n; s += kWarps) {
            float sum[kStrips][kTiles][4] = {};
            add_segment<H>(p, rows, columns, (s0 + s) * kBlocks, sum);
            for (int i = 0; i < F::kParts; i++) {
                const float(&own)[4] = sum[i / kTiles][i % kTiles];
                sums[(s * F::kParts + i) * 32 + lane] = {own[0], own[1], own[2], own[3]};
            }
        }
        __syncthreads();
        const auto *each = reinterpret_cast<const float *>(sums);
        for (int i = 0; i < F::kPer; i++) {
            const int at = i * kThreads + static_cast<int>(threadIdx.x);
            for (int64_t s = 0; s < n && at < F::kParts * 128; s++) total[i] += each[s * F::kParts * 128 + at];
        }
        __syncthreads();
    }
    for (int i = 0; i < F::kPer; i++) {
        const int at = i * kThreads + static_cast<int>(threadIdx.x), which = at / 128;
        if (at < F::kParts * 128) finish_element(p, part, first_row + which / kTiles * 16, first_column + which % kTiles * 8, at / 4 % 32, at % 4, total[i]);
    }
}

template <class H, int kTiles, int kStrips> void launch_few(const Product &p, const float *x, cudaStream_t stream) {
    const dim3 blocks(static_cast<unsigned>((p.m.rows + 16 * kStrips - 1) / (16 * kStrips)), static_cast<unsigned>((p.n + 8 * kTiles - 1) / (8 * kTiles)));
    launch(few_kernel<H, kTiles, kStrips>, Grid(blocks, kThreads, stream), p, x);
}

// ---- many columns: a warp has 16 rows and all of their blocks. The columns' blocks are split once for all warps, one of eight columns each.

constexpr int kTiles = kWarps;

__device__ __forceinline__ void share(const Terms &x, float inverse, uint4 *terms, float *inverses) {
    const int lane = lane_id(), tile = warp_id();
    terms[2 * tile * 32 + lane] = x.low;
    terms[(2 * tile + 1) * 32 + lane] = x.high;
    if (lane % 4 == 0) inverses[8 * tile + lane / 4] = inverse;
}

// With two blocks on a processor, registers would be spilled; one has enough to multiply while its next loads come.
template <class H> __global__ void __launch_bounds__(kThreads, 1) many_kernel(Product p, const float *x) {
    constexpr int kTerms = 2 * kTiles * 32, kColumns = 8 * kTiles; // of a block
    TR_SHARED(uint4, terms, 2 * kTerms);
    TR_SHARED(float, inverses, 2 * kColumns);
    const int64_t first_row = (int64_t{blockIdx.x} * kWarps + warp_id()) * 16, first_column = int64_t{blockIdx.y} * kColumns;
    if (first_column >= part_of(p).n) return;
    const int lane = lane_id(), t = lane % 4, blocks = static_cast<int>(blocks_of(p)), at = 8 * t;
    const uint8_t *upper_row = row_of(p, first_row + lane / 4);
    const auto to_lower = static_cast<int>(row_of(p, first_row + lane / 4 + 8) - upper_row);
    const float *column = column_of(p, part_of(p), x, first_column + 8 * warp_id() + lane / 4);
    float total[kTiles][4] = {}, segment[kTiles][4] = {};
    float inverse;
    Terms split_terms = split<H>(load_values(column, p.m.cols, at), inverse);
    uint4 upper = load_weights(upper_row, p.m.row_bytes, at), lower = load_weights(upper_row + to_lower, p.m.row_bytes, at);
    share(split_terms, inverse, terms, inverses);
    __syncthreads();
#pragma unroll 1
    for (int b = 0; b < blocks; b++) {
        const int next = (b + 1) * kBlock + at;
        const uint4 next_upper = load_weights(upper_row, p.m.row_bytes, next), next_lower = load_weights(upper_row + to_lower, p.m.row_bytes, next);
        const Values next_values = load_values(column, p.m.cols, next);
        const int now = b % 2, then = 1 - now;
#pragma unroll
        for (int tile = 0; tile < kTiles; tile++) {
            const uint4 *own = terms + now * kTerms + 2 * tile * 32 + lane;
            const Terms shared{load_vector<uint4>(own + 32), load_vector<uint4>(own)};
            const float *scale = inverses + now * kColumns + 8 * tile + 2 * t;
            add_block<H>(upper, lower, shared, {scale[0], scale[1]}, segment[tile]);
        }
        if (b % kBlocks == kBlocks - 1 || b == blocks - 1) {
#pragma unroll
            for (int tile = 0; tile < kTiles; tile++) {
                for (int e = 0; e < 4; e++) {
                    total[tile][e] += segment[tile][e];
                    segment[tile][e] = 0;
                }
            }
        }
        split_terms = split<H>(next_values, inverse);
        share(split_terms, inverse, terms + then * kTerms, inverses + then * kColumns);
        upper = next_upper;
        lower = next_lower;
        __syncthreads();
    }
    const Part part = part_of(p); // not kept in registers before
#pragma unroll
    for (int tile = 0; tile < kTiles; tile++) {
        for (int e = 0; e < 4; e++) finish_element(p, part, first_row, first_column + 8 * tile, lane, e, total[tile][e]);
    }
}

template <class H> void launch_many(const Product &p, const float *x, cudaStream_t stream) {
    const dim3 blocks(static_cast<unsigned>((p.m.rows + 16 * kWarps - 1) / (16 * kWarps)), static_cast<unsigned>((p.n + 8 * kTiles - 1) / (8 * kTiles)));
    launch(many_kernel<H>, Grid(blocks, kThreads, stream), p, x);
}

template <class F> void with_halves(quant::Type type, F &&f) {
    if (type == quant::Type::F16) f(HalfFloats{});
    else f(BrainFloats{});
}

} // namespace

void multiply_by_segments(const Product &p, const float *x, cudaStream_t stream) {
    with_halves(p.m.type, [&](auto format) {
        using H = decltype(format);
        if (p.n <= 8) launch_few<H, 1, 1>(p, x, stream);
        else launch_few<H, 4, 2>(p, x, stream);
    });
}

void multiply_by_panels(const Product &p, const float *x, cudaStream_t stream) {
    with_halves(p.m.type, [&](auto format) { launch_many<decltype(format)>(p, x, stream); });
}

} // namespace tr::cuda
