// Products of matrices of float32: chains of 32 fused multiply-adds from zero, added up in order. A warp has a row, a lane a chain, and its
// first lane the sum. Also rows as they are: the embedding.
#include "cuda/kernels/finish.h"
#include "cuda/kernels/formats.h"
#include "cuda/kernels/products.h"

namespace tr::cuda {

namespace {

constexpr int kWarps = 4, kChain = 32;

struct F32 {
    static constexpr int kBytes = 4;
    __device__ static float weight(const uint8_t *p) { return *reinterpret_cast<const float *>(p); }
};
struct F16 {
    static constexpr int kBytes = 2;
    __device__ static float weight(const uint8_t *p) { return from_half(half_word(p)); }
};
struct BF16 {
    static constexpr int kBytes = 2;
    __device__ static float weight(const uint8_t *p) { return __uint_as_float(static_cast<uint32_t>(half_word(p)) << 16); }
};

__global__ void __launch_bounds__(32 * kWarps) floats_kernel(Product p, const float *x) {
    TR_SHARED(float, chains, 32 * kWarps);
    const int64_t row = int64_t{blockIdx.x} * kWarps + warp_id(), k = p.m.cols;
    if (row >= p.m.rows) return;
    const uint8_t *weights = p.m.data + row * p.m.row_bytes;
    const Part part = part_of(p);
    for (int64_t column = part.first + blockIdx.y; column < part.first + part.n; column += gridDim.y) {
        float sum = 0;
        for (int64_t first = 0; first < k; first += 32 * kChain) {
            float chain = 0;
            for (int64_t i = first + lane_id() * kChain, end = i + kChain; i < end && i < k; i++)
                chain = __fmaf_rn(F32::weight(weights + i * F32::kBytes), x[column * k + i], chain);
            chains[threadIdx.x] = chain;
            __syncwarp();
            const int64_t left = (k - first + kChain - 1) / kChain;
            for (int lane = 0; lane_id() == 0 && lane < 32 && lane < left; lane++) sum += chains[threadIdx.x + lane];
            __syncwarp();
        }
        if (lane_id() == 0) finish(p, row, column, sum);
    }
}

void multiply_chains(const Product &p, const float *x, cudaStream_t stream) {
    constexpr int64_t kMostColumns = 64; // that blocks of their own work on
    const dim3 blocks(static_cast<unsigned>((p.m.rows + kWarps - 1) / kWarps), static_cast<unsigned>(p.n < kMostColumns ? p.n : kMostColumns));
    launch(floats_kernel, Grid(blocks, 32 * kWarps, stream), p, x);
}

// ---- the embedding: quant::dequantize's bits

__device__ __forceinline__ int code_of(uint32_t four, int64_t i) { return static_cast<int8_t>(four >> 8 * (i % 4)); }

// Weight i of a unit of integers.
template <class F> __device__ __forceinline__ float weight_of(const uint8_t *codes, const uint8_t *params, int64_t i) {
    const int j = static_cast<int>(i / 32);
    const Pair pair = F::codes(codes, j, static_cast<int>(i % 16 / 4));
    const auto code = static_cast<float>(code_of(i % 32 < 16 ? pair.first : pair.second, i));
    if constexpr (F::kUnit == 32) {
        if constexpr (F::kMin) return F::d(params) * code + F::m(params);
        else return F::d(params) * code;
    } else {
        const int block = static_cast<int>(i / F::kBlock);
        const float step = F::d(params) * static_cast<float>(F::scale(params, block));
        if constexpr (F::kMin) return step * code - F::dmin(params) * static_cast<float>(F::min(params, block));
        else return step * code;
    }
}

template <class F> __global__ void embed_quantized_kernel(MatrixView m, const int32_t *ids, float scale, float *x) {
    const uint8_t *row = m.data + ids[blockIdx.x] * m.row_bytes;
    for (int64_t i = threadIdx.x; i < m.cols; i += blockDim.x) {
        const int64_t u = i / F::kUnit;
        const float w = weight_of<F>(row + u * F::kCodes, row + m.params_at + u * F::kParams, i % F::kUnit);
        x[blockIdx.x * m.cols + i] = scale == 1 ? w : w * scale;
    }
}

template <class F> __global__ void embed_floats_kernel(MatrixView m, const int32_t *ids, float scale, float *x) {
    const uint8_t *row = m.data + ids[blockIdx.x] * m.row_bytes;
    for (int64_t i = threadIdx.x; i < m.cols; i += blockDim.x) {
        const float w = F::weight(row + i * F::kBytes);
        x[blockIdx.x * m.cols + i] = scale == 1 ? w : w * scale;
    }
}

__global__ void gather_kernel(const float *from, int64_t first, int64_t n_from, int64_t k, const int32_t *rows, float *to) {
    const int64_t row = rows[blockIdx.x] - first;
    if (row < 0 || row >= n_from) return;
    for (int64_t i = threadIdx.x; i < k; i += blockDim.x) to[blockIdx.x * k + i] = from[row * k + i];
}

constexpr unsigned kRowThreads = 256;

// f(Format{}) for the format of a type of floats.
template <class F> void with_floats(quant::Type type, F &&f) {
    if (type == quant::Type::F32) f(F32{});
    else if (type == quant::Type::F16) f(F16{});
    else f(BF16{});
}

} // namespace

void multiply_floats(const Product &p, const float *x, cudaStream_t stream) {
    if (p.m.type == quant::Type::F32) multiply_chains(p, x, stream);
    else if (p.n <= kMostBySegments) multiply_by_segments(p, x, stream);
    else multiply_by_panels(p, x, stream);
}

void embed(const MatrixView &m, const int32_t *ids, int64_t n, float scale, float *x, cudaStream_t stream) {
    const Grid grid(static_cast<unsigned>(n), kRowThreads, stream);
    if (with_format(m.type, [&](auto format) { launch(embed_quantized_kernel<decltype(format)>, grid, m, ids, scale, x); })) return;
    with_floats(m.type, [&](auto format) { launch(embed_floats_kernel<decltype(format)>, grid, m, ids, scale, x); });
}

void gather(const float *from, int64_t first, int64_t n_from, int64_t k, const int32_t *rows, int64_t n, float *to, cudaStream_t stream) {
    launch(gather_kernel, Grid(static_cast<unsigned>(n), kRowThreads, stream), from, first, n_from, k, rows, to);
}

} // namespace tr::cuda
