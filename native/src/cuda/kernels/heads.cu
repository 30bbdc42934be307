// Router heads: what they need besides the products of matrices. Sums are taken by a warp, a lane of heads/math.h each.
#include "cuda/kernels/heads.h"

#include "cuda/kernels/math.h"
#include "heads/math.h"
#include "tokenrouter.h"

namespace tr::cuda {

namespace {

using heads::Inputs;

constexpr int kThreads = 256;
static_assert(heads::kSumLanes == 32, "a warp has the lanes of a sum");

// The sum of term(i) for i < n, in all lanes; a whole warp calls.
template <class Term> __device__ __forceinline__ double sum(int64_t n, Term term) {
    double v = 0;
    for (int64_t i = lane_id(); i < n; i += 32) v += term(i);
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(kAllLanes, v, step);
    return v;
}

struct Value {
    const float *x;
    __device__ double operator()(int64_t i) const { return static_cast<double>(x[i]); }
};
struct Pairs {
    const float *x, *weight;
    __device__ double operator()(int64_t i) const { return static_cast<double>(x[i]) * static_cast<double>(weight[i]); }
};
struct Square {
    const float *x;
    double mean;
    __device__ double operator()(int64_t i) const { return (static_cast<double>(x[i]) - mean) * (static_cast<double>(x[i]) - mean); }
};

__global__ void __launch_bounds__(32) dot_kernel(const float *x, int64_t k, const float *weight, const float *bias, float *y) {
    const double product = sum(k, Pairs{x + blockIdx.x * k, weight});
    if (lane_id() == 0) y[blockIdx.x] = static_cast<float>(product + (bias ? static_cast<double>(*bias) : 0));
}

// Each warp takes the sums for itself: no barrier.
__global__ void __launch_bounds__(kThreads) layer_norm_kernel(const float *x, int64_t k, const float *gain, const float *bias, float *y) {
    x += blockIdx.x * k;
    y += blockIdx.x * k;
    const double mean = sum(k, Value{x}) / static_cast<double>(k);
    const double scale = heads::norm_scale(sum(k, Square{x, mean}) / static_cast<double>(k));
    for (int64_t i = threadIdx.x; i < k; i += kThreads) y[i] = heads::normed(x[i], mean, scale, gain[i], bias[i]);
}

struct Relu {
    float *x;
    __device__ void operator()(int64_t i) const { x[i] = heads::relu(x[i]); }
};
struct Gelu {
    float *x;
    __device__ void operator()(int64_t i) const { x[i] = heads::gelu(x[i]); }
};
struct Add {
    const float *y;
    float *x;
    __device__ void operator()(int64_t i) const { x[i] += y[i]; }
};
struct TakeToken {
    const sample::Found *found;
    int32_t *tokens;
    __device__ void operator()(int64_t i) const { tokens[i] = found[i].drawn; }
};

template <class F> __global__ void __launch_bounds__(kThreads) each_kernel(F f, int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i < n) f(i);
}

template <class F> void for_each(int64_t n, const F &f, cudaStream_t stream) {
    launch(each_kernel<F>, Grid(static_cast<unsigned>((n + kThreads - 1) / kThreads), kThreads, stream), f, n);
}

__global__ void __launch_bounds__(TR_MAX_TOP) take_kernel(Inputs in, int64_t k, float *top, int32_t *ids) {
    const int64_t row = blockIdx.x, i = threadIdx.x;
    if (i < k) top[row * k + i] = in.top_logits[row * TR_MAX_TOP + i];
    if (i == 0) ids[row] = in.tokens[row] > 0 ? in.tokens[row] : 0;
}

__global__ void __launch_bounds__(kThreads) join_kernel(Inputs in, const float *embeddings, int64_t k, float *to) {
    const int64_t row = blockIdx.x;
    const bool has_token = in.tokens[row] >= 0;
    to += row * 3 * k;
    for (int64_t i = threadIdx.x; i < k; i += kThreads) {
        to[i] = in.hidden[row * k + i];
        to[k + i] = has_token ? embeddings[row * k + i] : 0.0f;
    }
}

} // namespace

void dot(const float *x, int64_t n, int64_t k, const float *weight, const float *bias, float *y, cudaStream_t stream) {
    launch(dot_kernel, Grid(static_cast<unsigned>(n), 32, stream), x, k, weight, bias, y);
}

void layer_norm(const float *x, int64_t n, int64_t k, const float *gain, const float *bias, float *y, cudaStream_t stream) {
    launch(layer_norm_kernel, Grid(static_cast<unsigned>(n), kThreads, stream), x, k, gain, bias, y);
}

void relu(int64_t n, float *x, cudaStream_t stream) { for_each(n, Relu{x}, stream); }
void gelu(int64_t n, float *x, cudaStream_t stream) { for_each(n, Gelu{x}, stream); }
void add(const float *y, int64_t n, float *x, cudaStream_t stream) { for_each(n, Add{y, x}, stream); }
void take_tokens(const sample::Found *found, int64_t n, int32_t *tokens, cudaStream_t stream) { for_each(n, TakeToken{found, tokens}, stream); }

void take(const Inputs &in, int64_t n, int64_t k, float *top, int32_t *ids, cudaStream_t stream) {
    launch(take_kernel, Grid(static_cast<unsigned>(n), TR_MAX_TOP, stream), in, k, top, ids);
}

void join(const Inputs &in, const float *embeddings, int64_t n, int64_t k, float *to, cudaStream_t stream) {
    launch(join_kernel, Grid(static_cast<unsigned>(n), kThreads, stream), in, embeddings, k, to);
}

} // namespace tr::cuda
