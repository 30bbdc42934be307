// Products of quantized matrices with several columns, by the tensor cores: exact integer sums of a block, scaled and added up in float
// in the order of the blocks. A block of threads has 16 rows. Its warps each have other units of them, so that enough of the weights is on its
// way; what comes of each unit goes to shared memory, where a thread per row and column adds it up in the order of one column alone.
#include "cuda/kernels/finish.h"
#include "cuda/kernels/products.h"
#include "cuda/kernels/unit.h"

namespace tr::cuda {

namespace {

constexpr int kWarps = 8, kThreads = 32 * kWarps;
template <class F> constexpr int kUnitsOfWarp = F::kUnit == 256 ? 1 : 2; // between two barriers
template <class F> constexpr int kAtATime = F::kType == quant::Type::Q3_K || F::kType == quant::Type::Q2_K ? 1 : 2; // blocks of threads on a processor; two would spill registers

// Where a lane's parts are: of A the rows g and g+8, of B the column g, of D the columns 2t and 2t+1 of each tile. Rows and columns beyond
// the last are taken to be the last one, and their products thrown away.
template <int kTiles> struct Place {
    int t;
    Part part;
    int column[kTiles][2];           // among all
    const uint8_t *codes[2], *params[2];
    const int8_t *x[kTiles];

    __device__ Place(const Product &p, const QuantizedView &view) : t(lane_id() % 4), part(part_of(p)) {
        const int g = lane_id() / 4;
        const int64_t first_row = int64_t{blockIdx.x} * 16, first_column = int64_t{blockIdx.y} * 8 * kTiles;
        for (int i = 0; i < 2; i++) {
            const int64_t row = first_row + g + 8 * i;
            codes[i] = p.m.data + (row < p.m.rows ? row : p.m.rows - 1) * p.m.row_bytes;
            params[i] = codes[i] + p.m.params_at;
        }
        for (int tile = 0; tile < kTiles; tile++) {
            const int64_t b = first_column + 8 * tile + g;
            x[tile] = view.codes(within(b));
            for (int i = 0; i < 2; i++) column[tile][i] = static_cast<int>(within(first_column + 8 * tile + 2 * t + i));
        }
    }
    // The column among all, or the last one.
    __device__ int64_t within(int64_t c) const { return part.first + (c < part.n ? c : part.n - 1); }
};

__device__ __forceinline__ void load_b(const int8_t *x, int64_t at, int t, uint32_t (&b)[2]) {
    b[0] = word(reinterpret_cast<const uint8_t *>(x) + at + 4 * t);
    b[1] = word(reinterpret_cast<const uint8_t *>(x) + at + 16 + 4 * t);
}

// Unit u, of 32: its dot products.
template <class F, int kTiles> __device__ __forceinline__ void multiply_unit_32(const Place<kTiles> &at, int64_t u, float (&value)[kTiles][4]) {
    const Pair r0 = F::codes(at.codes[0] + u * F::kCodes, 0, at.t), r1 = F::codes(at.codes[1] + u * F::kCodes, 0, at.t);
    const uint32_t a[4] = {r0.first, r1.first, r0.second, r1.second};
#pragma unroll
    for (int tile = 0; tile < kTiles; tile++) {
        uint32_t b[2];
        load_b(at.x[tile], 32 * u, at.t, b);
        int32_t dot[4] = {};
        multiply_16x8x32(dot, a, b);
        for (int e = 0; e < 4; e++) value[tile][e] = static_cast<float>(dot[e]);
    }
}

// One block of 32 of a unit: its dot products, scaled, come to `scaled`.
template <class F> __device__ __forceinline__ void add_block(const uint32_t (&a)[4], const uint32_t (&b)[2], const uint8_t *const (&params)[2], int j,
                                                           float (&scaled)[4]) {
    if constexpr (F::kBlock == 32) {
        int32_t dot[4] = {};
        multiply_16x8x32(dot, a, b);
        for (int e = 0; e < 4; e++) scaled[e] = __fmaf_rn(static_cast<float>(dot[e]), static_cast<float>(F::scale(params[e / 2], j)), scaled[e]);
    } else {
        for (int h = 0; h < 2; h++) {
            const uint32_t a16[2] = {a[2 * h], a[2 * h + 1]}, b16[1] = {b[h]};
            int32_t dot[4] = {};
            multiply_16x8x16(dot, a16, b16);
            for (int e = 0; e < 4; e++)
                scaled[e] = __fmaf_rn(static_cast<float>(dot[e]), static_cast<float>(F::scale(params[e / 2], 2 * j + h)), scaled[e]);
        }
    }
}

// Unit u, of 256: its blocks, scaled and added up.
template <class F, int kTiles> __device__ __forceinline__ void multiply_unit_256(const QuantizedView &view, const Place<kTiles> &at, int64_t u, float (&value)[kTiles][4]) {
    const uint8_t *codes[2] = {at.codes[0] + u * F::kCodes, at.codes[1] + u * F::kCodes};
    const uint8_t *const params[2] = {at.params[0] + u * F::kParams, at.params[1] + u * F::kParams};
    float scaled[kTiles][4] = {};
    int32_t mins[kTiles][4] = {};
    [[maybe_unused]] constexpr int kAtOnce = kTiles > 1 ? 1 : 2; // more would spill registers
#pragma unroll kAtOnce
    for (int j = 0; j < 8; j++) {
        const Pair r0 = F::codes(codes[0], j, at.t), r1 = F::codes(codes[1], j, at.t);
        const uint32_t a[4] = {r0.first, r1.first, r0.second, r1.second};
#pragma unroll
        for (int tile = 0; tile < kTiles; tile++) {
            uint32_t b[2];
            load_b(at.x[tile], 256 * u + 32 * j, at.t, b);
            add_block<F>(a, b, params, j, scaled[tile]);
            if constexpr (F::kMin) {
                const int32_t *const sums[2] = {view.sums(at.column[tile][0]) + 16 * u, view.sums(at.column[tile][1]) + 16 * u};
                for (int e = 0; e < 4; e++) mins[tile][e] += times_mins<F>(sums[e % 2], params[e / 2], j);
            }
        }
    }
#pragma unroll
    for (int tile = 0; tile < kTiles; tile++) {
        for (int e = 0; e < 4; e++) value[tile][e] = scale_unit<F>(scaled[tile][e], mins[tile][e], params[e / 2]);
    }
}

// sum += what multiply_unit made of unit u of a row and column.
template <class F> __device__ __forceinline__ float add_unit(float sum, float value, const uint8_t *params, const QuantizedView &view, int64_t column, int64_t u) {
    const float dx = view.scales(column)[u];
    if constexpr (F::kUnit == 256) {
        return __fmaf_rn(value, dx, sum);
    } else {
        sum = __fmaf_rn(value * dx, F::d(params + u * F::kParams), sum);
        if constexpr (F::kMin) {
            const float least = static_cast<float>(view.sums(column)[2 * u] + view.sums(column)[2 * u + 1]) * dx;
            sum = __fmaf_rn(least, F::m(params + u * F::kParams), sum);
        }
        return sum;
    }
}

template <class F, int kTiles> __global__ void __launch_bounds__(kThreads, kAtATime<F>) tiles_kernel(Product p, QuantizedView view) {
    constexpr int kUnits = kWarps * kUnitsOfWarp<F>, kOutputs = 128 * kTiles, kPer = (kOutputs + kThreads - 1) / kThreads;
    TR_SHARED(float4, values, kUnits * kTiles * 32);
    const Place<kTiles> at(p, view);
    const int64_t first_row = int64_t{blockIdx.x} * 16, first_column = int64_t{blockIdx.y} * 8 * kTiles, units = p.m.cols / F::kUnit;
    if (first_column >= at.part.n) return;
    // The elements that this thread adds up lie where some lane's of a tile do.
    int64_t row[kPer], column[kPer];
    float sum[kPer] = {};
    for (int i = 0; i < kPer; i++) {
        const int own = i * kThreads + static_cast<int>(threadIdx.x), lane = own / 4 % 32;
        row[i] = own < kOutputs ? first_row + lane / 4 + own % 4 / 2 * 8 : p.m.rows;
        column[i] = first_column + own / 128 * 8 + lane % 4 * 2 + own % 2;
    }
#pragma unroll 1
    for (int64_t u0 = 0; u0 < units; u0 += kUnits) {
        const int n = units - u0 < kUnits ? static_cast<int>(units - u0) : kUnits;
#pragma unroll
        for (int i = 0; i < kUnitsOfWarp<F>; i++) {
            const int u = warp_id() * kUnitsOfWarp<F> + i;
            if (u >= n) break;
            float value[kTiles][4];
            if constexpr (F::kUnit == 32) multiply_unit_32<F>(at, u0 + u, value);
            else multiply_unit_256<F>(view, at, u0 + u, value);
            for (int tile = 0; tile < kTiles; tile++) values[(u * kTiles + tile) * 32 + lane_id()] = {value[tile][0], value[tile][1], value[tile][2], value[tile][3]};
        }
        __syncthreads();
        const auto *each = reinterpret_cast<const float *>(values);
        for (int i = 0; i < kPer; i++) {
            if (row[i] >= p.m.rows || column[i] >= at.part.n) continue;
            const uint8_t *params = p.m.data + row[i] * p.m.row_bytes + p.m.params_at;
            const int own = i * kThreads + static_cast<int>(threadIdx.x);
            for (int u = 0; u < n; u++) sum[i] = add_unit<F>(sum[i], each[u * kOutputs + own], params, view, at.part.first + column[i], u0 + u);
        }
        __syncthreads();
    }
#pragma unroll 1
    for (int i = 0; i < kPer; i++) {
        if (row[i] >= p.m.rows || column[i] >= at.part.n) continue;
        const float all = add_remainders<F>(sum[i], p.m, view, row[i], at.part.first + column[i]);
        finish(p, row[i], at.part.first + column[i], whole_pairs<F>(all, p.m.cols));
    }
}

template <class F, int kTiles> void launch_tiles(const Product &p, const QuantizedView &x, cudaStream_t stream) {
    const dim3 blocks(static_cast<unsigned>((p.m.rows + 15) / 16), static_cast<unsigned>((p.n + 8 * kTiles - 1) / (8 * kTiles)));
    launch(tiles_kernel<F, kTiles>, Grid(blocks, kThreads, stream), p, x);
}

} // namespace

void multiply_by_tiles(const Product &p, const QuantizedView &x, cudaStream_t stream) {
    with_format(p.m.type, [&](auto format) {
        using F = decltype(format);
        if (p.n <= 8) launch_tiles<F, 1>(p, x, stream);
        else launch_tiles<F, 4>(p, x, stream);
    });
}

} // namespace tr::cuda
