#include "cuda/kernels/answer.h"

#include "cpu/softmax.h"
#include "cuda/kernels/pick.h"
#include "tokenrouter.h"

namespace tr::cuda {

namespace {

constexpr int kThreads = 512;
constexpr int kPiece = 2048; // logits whose exponentials are in shared memory at once; a multiple of 16

// Sums of exponentials in 16 lanes, in order; the first half-warp takes them, all threads compute the exponentials.
__device__ __forceinline__ void take_sums(const float *x, const InPlay &in_play, float top, float *e, float *t, double &sum, double &dot) {
    constexpr float kFloor = cpu::kStatsFloor;
    const auto thread = static_cast<int>(threadIdx.x);
    const int32_t n = in_play.n;
    for (int32_t begin = 0; begin < n; begin += kPiece) {
        const int32_t count = n - begin < kPiece ? n - begin : kPiece;
        for (int32_t i = thread; i < count; i += kThreads) {
            const float below = x[begin + i] - top;
            t[i] = below < kFloor || !in_play(begin + i) ? kFloor : below;
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
    TR_SHARED(Candidate, of_warps, kThreads / 32);
    TR_SHARED(float, e, kPiece);
    TR_SHARED(float, t, kPiece);
    const float *x = rows.logits + blockIdx.x * rows.n_vocab;
    const sample::Wanted &wanted = rows.wanted[blockIdx.x];
    const InPlay in_play{wanted.n_valid, wanted.valid, nullptr};

    Picker<kThreads, InPlay> picker(x, in_play, of_warps);
    const Candidate first = picker.next();
    for (int32_t i = 0; i < wanted.n_top; i++) {
        const Candidate c = i == 0 ? first : picker.next();
        if (threadIdx.x != 0) continue;
        top_ids[blockIdx.x * TR_MAX_TOP + i] = c.id;
        top_logits[blockIdx.x * TR_MAX_TOP + i] = c.id < 0 ? -INFINITY : c.value;
    }

    const float top = first.id < 0 ? -INFINITY : first.value;
    double sum = 0, dot = 0;
    if (top != -INFINITY) take_sums(x, in_play, top, e, t, sum, dot);
    sum = sum_tree16(sum); // of the first warp's lower half
    dot = sum_tree16(dot);
    if (threadIdx.x == 0) found[blockIdx.x] = {sum, dot, top, first.id, first.id, top};
}

} // namespace

void find_in_rows(const LogitRows &rows, sample::Found *found, int32_t *top_ids, float *top_logits, cudaStream_t stream) {
    launch(find_kernel, Grid(static_cast<unsigned>(rows.n), kThreads, stream), rows, found, top_ids, top_logits);
}

} // namespace tr::cuda
