// Activations: norms, and the forms that matrices multiply with. A block has a column.
#include "cuda/kernels/launch.h"
#include "cuda/kernels/math.h"

namespace tr::cuda {

namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kChunk = 256, kPer = kChunk / 32; // values that a warp prepares at once, and a lane of them

// The sum of 16 neighbouring lanes' codes.
__device__ __forceinline__ int32_t sum16(int32_t code) {
    for (int step = 8; step > 0; step /= 2) code += __shfl_xor_sync(kAllLanes, code, step, 16);
    return code;
}

// Codes of values first + 32i + lane, for i < kBlocks; sums of each 16. Returns how many of this lane's codes are zero.
template <int kBlocks>
__device__ __forceinline__ int store_codes(const QuantizedView &to, int64_t column, int64_t part, int64_t first, const Quantizer &q, const float (&v)[kBlocks]) {
    auto *codes = const_cast<int8_t *>(to.codes(column, part)) + first;
    auto *sums = const_cast<int32_t *>(to.sums(column, part)) + first / 16;
    const int lane = lane_id();
    int zeros = 0;
    for (int i = 0; i < kBlocks; i++) {
        const int8_t code = quantize(q, v[i]);
        codes[32 * i + lane] = code;
        zeros += code == 0;
        const int32_t sum = sum16(code);
        if (lane % 16 == 0) sums[2 * i + lane / 16] = sum;
    }
    if (lane == 0) const_cast<float *>(to.scales(column, part))[first / to.unit] = q.scale;
    return zeros;
}

// A block of 256, and its remainder if it keeps one.
__device__ __forceinline__ void store_256(const QuantizedView &to, int64_t column, int64_t first, const float (&v)[kPer]) {
    constexpr int kMost = cpu::kMostZeros;
    const Quantizer q = make_quantizer(v);
    int zeros = store_codes(to, column, 0, first, q, v);
    for (int step = 16; step > 0; step /= 2) zeros += __shfl_xor_sync(kAllLanes, zeros, step);
    const bool kept = zeros > kMost && zeros < 256;
    if (lane_id() == 0) const_cast<uint8_t *>(to.marks(column))[first / 256] = kept;
    if (!kept) return;
    float remainder[kPer];
    for (int i = 0; i < kPer; i++) remainder[i] = __fmaf_rn(-static_cast<float>(quantize(q, v[i])), q.scale, v[i]);
    store_codes(to, column, 1, first, make_quantizer(remainder), remainder);
}

// Values first + 32i + lane of a column, zero beyond k.
__device__ __forceinline__ void store_forms(const float (&v)[kPer], int64_t column, int64_t first, int64_t k, const Forms &to) {
    if (to.f32) {
        for (int i = 0; i < kPer; i++) {
            const int64_t at = first + 32 * i + lane_id();
            if (at < k) to.f32[column * k + at] = v[i];
        }
    }
    if (to.q32) {
        const QuantizedView view{to.q32, k, 32};
        for (int i = 0; i < kPer && first + 32 * i < k; i++) {
            const float one[1] = {v[i]};
            store_codes(view, column, 0, first + 32 * i, make_quantizer(one), one);
        }
    }
    if (to.q256) store_256(QuantizedView{to.q256, k, 256}, column, first, v);
}

__global__ void __launch_bounds__(kThreads) prepare_kernel(const float *x, int64_t k, Forms to) {
    const int64_t column = blockIdx.x;
    for (int64_t first = warp_id() * kChunk; first < k; first += kWarps * kChunk) {
        float v[kPer];
        for (int i = 0; i < kPer; i++) {
            const int64_t at = first + 32 * i + lane_id();
            v[i] = at < k ? x[column * k + at] : 0.0f;
        }
        store_forms(v, column, first, k, to);
    }
}

__global__ void __launch_bounds__(kThreads) rms_norm_kernel(const float *x, int64_t k, const float *gain, float eps, float *y, Forms to) {
    const int64_t column = blockIdx.x;
    x += column * k;
    const float scale = norm_scale(x, k, eps); // each warp for itself: no barrier
    for (int64_t first = warp_id() * kChunk; first < k; first += kWarps * kChunk) {
        float v[kPer];
        for (int i = 0; i < kPer; i++) {
            const int64_t at = first + 32 * i + lane_id();
            v[i] = at < k ? x[at] * scale * gain[at] : 0.0f;
            if (y && at < k) y[column * k + at] = v[i];
        }
        store_forms(v, column, first, k, to);
    }
}

__global__ void __launch_bounds__(kThreads) add_norm_kernel(const float *y, int64_t k, const float *gain, float eps, float *x) {
    const int64_t column = blockIdx.x;
    y += column * k;
    x += column * k;
    const float scale = norm_scale(y, k, eps);
    for (int64_t i = threadIdx.x; i < k; i += kThreads) x[i] += y[i] * scale * gain[i];
}

} // namespace

void prepare(const float *x, int64_t n, int64_t k, const Forms &to, cudaStream_t stream) {
    launch(prepare_kernel, Grid(static_cast<unsigned>(n), kThreads, stream), x, k, to);
}

void rms_norm(const float *x, int64_t n, int64_t k, const float *gain, float eps, float *y, const Forms &to, cudaStream_t stream) {
    launch(rms_norm_kernel, Grid(static_cast<unsigned>(n), kThreads, stream), x, k, gain, eps, y, to);
}

void add_norm(const float *y, int64_t n, int64_t k, const float *gain, float eps, float *x, cudaStream_t stream) {
    launch(add_norm_kernel, Grid(static_cast<unsigned>(n), kThreads, stream), y, k, gain, eps, x);
}

} // namespace tr::cuda
