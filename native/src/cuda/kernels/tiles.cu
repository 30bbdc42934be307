// Products of quantized matrices with several columns, by the tensor cores: exact integer sums of a block, scaled and added up in float
// in the order of the blocks. A warp has 16 rows and all of their blocks, so the order is that of one column alone.
#include "cuda/kernels/finish.h"
#include "cuda/kernels/products.h"
#include "cuda/kernels/unit.h"

namespace tr::cuda {

namespace {

constexpr int kWarps = 4;

// Where a lane's parts are: of A the rows g and g+8, of B the column g, of D the columns 2t and 2t+1 of each tile. Rows and columns beyond
// the last are taken to be the last one, and their products thrown away.
template <int kTiles> struct Place {
    int t;
    Part part;                       // columns are counted from its first
    int64_t row[2], column[kTiles][2];
    const uint8_t *codes[2], *params[2];
    const int8_t *x[kTiles];

    __device__ Place(const Product &p, const QuantizedView &view) : t(lane_id() % 4), part(part_of(p)) {
        const int g = lane_id() / 4;
        const int64_t first_row = (int64_t{blockIdx.x} * kWarps + warp_id()) * 16, first_column = int64_t{blockIdx.y} * 8 * kTiles;
        for (int i = 0; i < 2; i++) {
            row[i] = first_row + g + 8 * i;
            codes[i] = p.m.data + (row[i] < p.m.rows ? row[i] : p.m.rows - 1) * p.m.row_bytes;
            params[i] = codes[i] + p.m.params_at;
        }
        for (int tile = 0; tile < kTiles; tile++) {
            const int64_t b = first_column + 8 * tile + g;
            x[tile] = view.codes(within(b));
            for (int i = 0; i < 2; i++) column[tile][i] = first_column + 8 * tile + 2 * t + i;
        }
    }
    // The column among all, or the last one.
    __device__ int64_t within(int64_t c) const { return part.first + (c < part.n ? c : part.n - 1); }
};

__device__ __forceinline__ void load_b(const int8_t *x, int64_t at, int t, uint32_t (&b)[2]) {
    b[0] = word(reinterpret_cast<const uint8_t *>(x) + at + 4 * t);
    b[1] = word(reinterpret_cast<const uint8_t *>(x) + at + 16 + 4 * t);
}

template <class F, int kTiles> __device__ __forceinline__ void sum_units_32(const Product &p, const QuantizedView &view, const Place<kTiles> &at, float (&sum)[kTiles][4]) {
    for (int64_t u = 0; u < p.m.cols / 32; u++) {
        const Pair r0 = F::codes(at.codes[0] + u * F::kCodes, 0, at.t), r1 = F::codes(at.codes[1] + u * F::kCodes, 0, at.t);
        const uint32_t a[4] = {r0.first, r1.first, r0.second, r1.second};
        const float d[2] = {F::d(at.params[0] + u * F::kParams), F::d(at.params[1] + u * F::kParams)};
        float m[2] = {};
        if constexpr (F::kMin) {
            for (int i = 0; i < 2; i++) m[i] = F::m(at.params[i] + u * F::kParams);
        }
#pragma unroll
        for (int tile = 0; tile < kTiles; tile++) {
            uint32_t b[2];
            load_b(at.x[tile], 32 * u, at.t, b);
            int32_t dot[4] = {};
            multiply_16x8x32(dot, a, b);
            for (int i = 0; i < 2; i++) {
                const int64_t column = at.within(at.column[tile][i]);
                const float dx = view.scales(column)[u];
                float least = 0;
                if constexpr (F::kMin) least = static_cast<float>(view.sums(column)[2 * u] + view.sums(column)[2 * u + 1]) * dx;
                for (int r = 0; r < 2; r++) {
                    float &s = sum[tile][2 * r + i];
                    s = __fmaf_rn(static_cast<float>(dot[2 * r + i]) * dx, d[r], s);
                    if constexpr (F::kMin) s = __fmaf_rn(least, m[r], s);
                }
            }
        }
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

template <class F, int kTiles> __device__ __forceinline__ void sum_units_256(const Product &p, const QuantizedView &view, const Place<kTiles> &at, float (&sum)[kTiles][4]) {
    for (int64_t u = 0; u < p.m.cols / 256; u++) {
        const uint8_t *codes[2] = {at.codes[0] + u * F::kCodes, at.codes[1] + u * F::kCodes};
        const uint8_t *const params[2] = {at.params[0] + u * F::kParams, at.params[1] + u * F::kParams};
        float scaled[kTiles][4] = {};
        int32_t mins[kTiles][4] = {};
        for (int j = 0; j < 8; j++) {
            const Pair r0 = F::codes(codes[0], j, at.t), r1 = F::codes(codes[1], j, at.t);
            const uint32_t a[4] = {r0.first, r1.first, r0.second, r1.second};
#pragma unroll
            for (int tile = 0; tile < kTiles; tile++) {
                uint32_t b[2];
                load_b(at.x[tile], 256 * u + 32 * j, at.t, b);
                add_block<F>(a, b, params, j, scaled[tile]);
                if constexpr (F::kMin) {
                    const int32_t *const sums[2] = {view.sums(at.within(at.column[tile][0])) + 16 * u, view.sums(at.within(at.column[tile][1])) + 16 * u};
                    for (int e = 0; e < 4; e++) mins[tile][e] += times_mins<F>(sums[e % 2], params[e / 2], j);
                }
            }
        }
#pragma unroll
        for (int tile = 0; tile < kTiles; tile++) {
            for (int e = 0; e < 4; e++)
                sum[tile][e] = add_unit_256<F>(sum[tile][e], scaled[tile][e], mins[tile][e], params[e / 2], view.scales(at.within(at.column[tile][e % 2]))[u]);
        }
    }
}

template <class F, int kTiles> __global__ void __launch_bounds__(32 * kWarps) tiles_kernel(Product p, QuantizedView view) {
    if ((int64_t{blockIdx.x} * kWarps + warp_id()) * 16 >= p.m.rows) return;
    const Place<kTiles> at(p, view);
    if (int64_t{blockIdx.y} * 8 * kTiles >= at.part.n) return;
    float sum[kTiles][4] = {};
    if constexpr (F::kUnit == 32) sum_units_32<F>(p, view, at, sum);
    else sum_units_256<F>(p, view, at, sum);
#pragma unroll
    for (int tile = 0; tile < kTiles; tile++) {
        for (int e = 0; e < 4; e++) {
            const int64_t row = at.row[e / 2], column = at.column[tile][e % 2];
            if (row >= p.m.rows || column >= at.part.n) continue;
            const float all = add_remainders<F>(sum[tile][e], p.m, view, row, at.part.first + column);
            finish(p, row, at.part.first + column, whole_pairs<F>(all, p.m.cols));
        }
    }
}

template <class F, int kTiles> void launch_tiles(const Product &p, const QuantizedView &x, cudaStream_t stream) {
    const dim3 blocks(static_cast<unsigned>((p.m.rows + 16 * kWarps - 1) / (16 * kWarps)), static_cast<unsigned>((p.n + 8 * kTiles - 1) / (8 * kTiles)));
    launch(tiles_kernel<F, kTiles>, Grid(blocks, 32 * kWarps, stream), p, x);
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
