#include "cuda/kernels/answer.h"

#include "cpu/softmax.h"
#include "cuda/kernels/math.h"
#include "tokenrouter.h"

namespace tr::cuda {

namespace {

constexpr int kThreads = 512, kWarps = kThreads / 32;
constexpr int kPiece = 2048; // logits whose exponentials are in shared memory at once; a multiple of 16

// A logit and its id; the order of sample/select.h: larger first, the lower id among equals. No id: -1, after all others.
struct Candidate {
    float value;
    int32_t id;
};
__device__ __forceinline__ bool before(const Candidate &a, const Candidate &b) {
    if (a.id < 0 || b.id < 0) return b.id < 0 && a.id >= 0;
    return a.value > b.value || (a.value == b.value && a.id < b.id);
}

// The first in that order after `last` (or of all, if it is none), in all threads.
__device__ __forceinline__ Candidate next_after(const float *x, int32_t n, const Candidate &last, Candidate *of_warps) {
    Candidate best{0, -1};
    for (int32_t id = static_cast<int32_t>(threadIdx.x); id < n; id += kThreads) {
        const Candidate c{x[id], id};
        if (c.value == c.value && (last.id < 0 || before(last, c)) && before(c, best)) best = c;
    }
    for (int step = 16; step > 0; step /= 2) {
        const Candidate other{__shfl_xor_sync(kAllLanes, best.value, step), __shfl_xor_sync(kAllLanes, best.id, step)};
        if (before(other, best)) best = other;
    }
    if (lane_id() == 0) of_warps[warp_id()] = best;
    __syncthreads();
    for (int w = 0; w < kWarps; w++) {
        if (before(of_warps[w], best)) best = of_warps[w];
    }
    __syncthreads();
    return best;
}

// Sums of exponentials in 16 lanes, in order; the first half-warp takes them, all threads compute the exponentials.
__device__ __forceinline__ void take_sums(const float *x, int32_t n, float top, float *e, float *t, double &sum, double &dot) {
    constexpr float kFloor = cpu::kStatsFloor;
    const auto thread = static_cast<int>(threadIdx.x);
    for (int32_t begin = 0; begin < n; begin += kPiece) {
        const int32_t count = n - begin < kPiece ? n - begin : kPiece;
        for (int32_t i = thread; i < count; i += kThreads) {
            const float below = x[begin + i] - top;
            t[i] = below < kFloor ? kFloor : below;
            e[i] = exponential(t[i]);
        }
        __syncthreads();
        if (thread < 16) {
            for (int32_t i = thread; i < count; i += 16) {
                sum += static_cast<double>(e[i]);
                dot = __fma_rn(static_cast<double>(e[i]), static_cast<double>(t[i]), dot);
            }
        }
        __syncthreads();
    }
}

__global__ void __launch_bounds__(kThreads) find_kernel(LogitRows rows, sample::Found *found, int32_t *top_ids, float *top_logits) {
    TR_SHARED(Candidate, of_warps, kWarps);
    TR_SHARED(float, e, kPiece);
    TR_SHARED(float, t, kPiece);
    const float *x = rows.logits + blockIdx.x * rows.n_vocab;
    const int32_t n = rows.wanted[blockIdx.x].n_valid, n_top = rows.wanted[blockIdx.x].n_top;

    Candidate last{0, -1}, first{0, -1};
    for (int32_t i = 0; i < n_top || i == 0; i++) {
        if (i == 0 || last.id >= 0) last = next_after(x, n, last, of_warps);
        if (i == 0) first = last;
        if (threadIdx.x == 0 && i < n_top) {
            top_ids[blockIdx.x * TR_MAX_TOP + i] = last.id;
            top_logits[blockIdx.x * TR_MAX_TOP + i] = last.id < 0 ? -INFINITY : last.value;
        }
    }

    const float top = first.id < 0 ? -INFINITY : first.value;
    double sum = 0, dot = 0;
    if (top != -INFINITY) take_sums(x, n, top, e, t, sum, dot);
    sum = sum_tree16(sum); // of the first warp's lower half
    dot = sum_tree16(dot);
    if (threadIdx.x == 0) found[blockIdx.x] = {sum, dot, top, first.id};
}

} // namespace

void find_in_rows(const LogitRows &rows, sample::Found *found, int32_t *top_ids, float *top_logits, cudaStream_t stream) {
    launch(find_kernel, Grid(static_cast<unsigned>(rows.n), kThreads, stream), rows, found, top_ids, top_logits);
}

} // namespace tr::cuda
