#include "cuda/kernels/experts.h"

#include "cuda/kernels/math.h"

namespace tr::cuda {

namespace {

constexpr unsigned kThreads = 256;

// A block of one warp has a column; its first lane chooses. With few experts to choose from, that is short.
__global__ void choose_kernel(Choice c, const float *scores) {
    if (threadIdx.x != 0) return;
    const float *score = scores + blockIdx.x * static_cast<int64_t>(c.n_expert);
    int32_t *chosen = c.chosen + blockIdx.x * static_cast<int64_t>(c.n_used);
    float *weight = c.weight + blockIdx.x * static_cast<int64_t>(c.n_used);
    // Insertion into a short list. What is not a number is never larger.
    int32_t n = 0;
    for (int32_t e = 0; e < c.n_expert; e++) {
        int32_t at = n;
        while (at > 0 && score[e] > score[chosen[at - 1]]) at--;
        if (at == c.n_used) continue;
        if (n < c.n_used) n++;
        for (int32_t i = n - 1; i > at; i--) chosen[i] = chosen[i - 1];
        chosen[at] = e;
    }
    const float largest = score[chosen[0]];
    for (int32_t i = 1; i < n; i++) { // by index
        const int32_t e = chosen[i];
        int32_t at = i;
        for (; at > 0 && chosen[at - 1] > e; at--) chosen[at] = chosen[at - 1];
        chosen[at] = e;
    }
    double sum = 0;
    for (int32_t i = 0; i < n; i++) {
        weight[i] = exponential((score[chosen[i]] - largest) * 1.0f);
        sum += static_cast<double>(weight[i]);
    }
    for (int32_t i = 0; i < n; i++) weight[i] = static_cast<float>(static_cast<double>(weight[i]) / sum);
}

// One block; a thread has some of the experts.
__global__ void __launch_bounds__(kThreads) arrange_kernel(Choice c) {
    const int64_t pairs = c.n * c.n_used;
    for (int32_t e = static_cast<int32_t>(threadIdx.x); e < c.n_expert; e += kThreads) {
        int32_t count = 0;
        for (int64_t i = 0; i < pairs; i++) count += c.chosen[i] == e;
        c.begin[e + 1] = count;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        c.begin[0] = 0;
        for (int32_t e = 0; e < c.n_expert; e++) c.begin[e + 1] += c.begin[e];
    }
    __syncthreads();
    for (int32_t e = static_cast<int32_t>(threadIdx.x); e < c.n_expert; e += kThreads) {
        int32_t pair = c.begin[e];
        for (int64_t i = 0; i < pairs; i++) {
            if (c.chosen[i] != e) continue;
            c.pair_at[i] = pair;
            c.column[pair++] = static_cast<int32_t>(i / c.n_used);
        }
    }
}

__global__ void __launch_bounds__(kThreads) add_pairs_kernel(Choice c, const float *values, int64_t k, float *x) {
    const int64_t column = blockIdx.x;
    for (int64_t d = threadIdx.x; d < k; d += kThreads) {
        float sum = x[column * k + d];
        for (int64_t j = column * c.n_used; j < (column + 1) * c.n_used; j++) sum += c.weight[j] * values[c.pair_at[j] * k + d];
        x[column * k + d] = sum;
    }
}

} // namespace

void choose_experts(const Choice &c, const float *scores, cudaStream_t stream) { launch(choose_kernel, Grid(static_cast<unsigned>(c.n), 32, stream), c, scores); }

void arrange_pairs(const Choice &c, cudaStream_t stream) { launch(arrange_kernel, Grid(1, kThreads, stream), c); }

void add_pairs(const Choice &c, const float *values, int64_t k, float *x, cudaStream_t stream) {
    launch(add_pairs_kernel, Grid(static_cast<unsigned>(c.n), kThreads, stream), c, values, k, x);
}

} // namespace tr::cuda
