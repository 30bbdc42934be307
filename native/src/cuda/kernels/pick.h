// The largest logits of a row, one after the other, by a block of threads.
#pragma once
#include "cuda/kernels/math.h"

namespace tr::cuda {

// A logit and its id; the order of sample/select.h: larger first, the lower id among equals. No id: -1, after all others.
struct Candidate {
    float value;
    int32_t id;
};
__device__ __forceinline__ bool before(const Candidate &a, const Candidate &b) {
    if (a.id < 0 || b.id < 0) return b.id < 0 && a.id >= 0;
    return a.value > b.value || (a.value == b.value && a.id < b.id);
}

// The ids of a row that are in play: those below n whose bit is set in both masks; a mask may be NULL.
struct InPlay {
    int32_t n;
    const uint32_t *first, *second;

    __device__ bool operator()(int32_t id) const { return (!first || first[id / 32] >> id % 32 & 1) && (!second || second[id / 32] >> id % 32 & 1); }
};

// Each thread keeps the first of its own ids that was not taken yet, and looks for another only when it was its own that was.
// Which ids of how many it may take, in_play says.
template <int kThreads, class Allowed> class Picker {
public:
    static constexpr int kWarps = kThreads / 32;

    // of_warps [kWarps] is the block's.
    __device__ Picker(const float *x, const Allowed &in_play, Candidate *of_warps) : x_(x), in_play_(in_play), of_warps_(of_warps) { look(); }

    // The next one, in all threads.
    __device__ Candidate next() {
        Candidate best = own_;
        for (int step = 16; step > 0; step /= 2) {
            const Candidate other{__shfl_xor_sync(kAllLanes, best.value, step), __shfl_xor_sync(kAllLanes, best.id, step)};
            if (before(other, best)) best = other;
        }
        if (lane_id() == 0) of_warps_[warp_id()] = best;
        __syncthreads();
        for (int w = 0; w < kWarps; w++) {
            if (before(of_warps_[w], best)) best = of_warps_[w];
        }
        __syncthreads();
        if (best.id >= 0 && best.id == own_.id) look();
        return best;
    }

private:
    __device__ void look() {
        const Candidate last = own_;
        own_ = {0, -1};
#pragma unroll 2
        for (auto id = static_cast<int32_t>(threadIdx.x); id < in_play_.n; id += kThreads) {
            const Candidate c{x_[id], id};
            if (c.value == c.value && (last.id < 0 || before(last, c)) && before(c, own_) && in_play_(id)) own_ = c;
        }
    }

    const float *x_;
    const Allowed &in_play_;
    Candidate *of_warps_;
    Candidate own_{0, -1};
};

} // namespace tr::cuda
