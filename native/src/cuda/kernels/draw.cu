#include "cuda/kernels/draw.h"

#include "cuda/kernels/pick.h"
#include "sample/draw.h"

namespace tr::cuda {

namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32; // with more, registers would be spilled
constexpr int kLanes = sample::kSumLanes, kBlock = sample::kSumBlock, kShortTop = sample::kShortTop;
constexpr int kMostBlocks = kMostDrawnIds / kBlock, kBins = sample::CutoffScratch::kBins;

struct Shared {
    Candidate of_warps[kWarps];
    double blocks[kMostBlocks];         // sums of weights
    double bins[kBins];
    float weight[kBlock];
    int32_t id[kShortTop];
    float ordered_weight[kShortTop];    // by id
    int32_t ordered_id[kShortTop];
    int32_t n, chosen;
    double amount;
};

// The biases, then the penalties; ids of a list are distinct.
__device__ __forceinline__ void change(float *x, const Drawing &d) {
    for (auto i = static_cast<int32_t>(threadIdx.x); i < d.n_bias; i += kThreads) {
        float &logit = x[d.bias_ids[i]];
        d.saved[i] = logit;
        logit += d.bias[i];
    }
    __syncthreads();
    for (auto i = static_cast<int32_t>(threadIdx.x); i < d.n_seen; i += kThreads) {
        float &logit = x[d.seen_ids[i]];
        d.saved[d.n_bias + i] = logit;
        const float scaled = logit > 0 ? __fdiv_rn(logit, d.repetition) : logit * d.repetition;
        logit = scaled - (d.presence + d.frequency * static_cast<float>(d.seen_counts[i]));
    }
    __syncthreads();
}

__device__ __forceinline__ void change_back(float *x, const Drawing &d) {
    __syncthreads();
    for (auto i = static_cast<int32_t>(threadIdx.x); i < d.n_seen; i += kThreads) x[d.seen_ids[i]] = d.saved[d.n_bias + i];
    __syncthreads(); // an id may be in both lists
    for (auto i = static_cast<int32_t>(threadIdx.x); i < d.n_bias; i += kThreads) x[d.bias_ids[i]] = d.saved[i];
    __syncthreads();
}

// Of n weights by one thread; sample/draw.cpp's order.
__device__ __forceinline__ double sum_weights(const float *weight, int32_t n) {
    double lanes[kLanes] = {};
#pragma unroll 1
    for (int32_t i = 0; i < n; i += kLanes) {
#pragma unroll
        for (int32_t j = 0; j < kLanes; j++) lanes[j] += i + j < n ? static_cast<double>(weight[i + j]) : 0.0;
    }
    double sum = 0;
#pragma unroll
    for (int32_t j = 0; j < kLanes; j++) sum += lanes[j];
    return sum;
}

// The first of n weights at which the running sum, from `sum` on, exceeds target; the last that is not 0 if none does.
__device__ __forceinline__ int32_t walk(const float *weight, int32_t n, double sum, double target) {
    int32_t last = 0;
#pragma unroll 1
    for (int32_t i = 0; i < n && !(sum > target); i++) {
        if (!(weight[i] > 0)) continue;
        sum += static_cast<double>(weight[i]);
        last = i;
    }
    return last;
}

// Among the top_k first ids.
__device__ __forceinline__ int32_t draw_short(const float *x, const InPlay &in_play, const Drawing &d, Shared &s) {
    const auto thread = static_cast<int32_t>(threadIdx.x);
    Picker<kThreads, InPlay> picker(x, in_play, s.of_warps);
    int32_t n = 0;
    float largest = 0;
    for (; n < d.top_k; n++) {
        const Candidate c = picker.next();
        if (c.id < 0) break;
        if (n == 0) largest = c.value;
        if (thread != 0) continue;
        s.id[n] = c.id;
        s.weight[n] = exponential((c.value - largest) * d.inverse);
    }
    if (thread == 0) {
        int32_t kept = n;
        if (d.top_p > 0) {
            double missing = static_cast<double>(d.top_p) * sum_weights(s.weight, n);
#pragma unroll 1
            for (kept = 0; kept < n && missing > 0; kept++) missing -= static_cast<double>(s.weight[kept]);
        }
        while (kept > 1 && s.weight[kept - 1] < d.min_p) kept--;
        s.n = kept;
    }
    __syncthreads();
    n = s.n;
    if (thread < n) { // by ascending id
        int32_t rank = 0;
#pragma unroll 4
        for (int32_t i = 0; i < n; i++) rank += s.id[i] < s.id[thread];
        s.ordered_id[rank] = s.id[thread];
        s.ordered_weight[rank] = s.weight[thread];
    }
    __syncthreads();
    if (thread == 0) s.chosen = s.ordered_id[walk(s.ordered_weight, n, 0, d.u * sum_weights(s.ordered_weight, n))];
    __syncthreads();
    return s.chosen;
}

// The weights of a row: 0 for what is out of play, behind the last id that is kept, or less than the least weight that is.
struct Weigher {
    const float *x;
    const InPlay &in_play;
    float largest, inverse, least;
    Candidate last{0, -1};

    __device__ float operator()(int32_t id) const {
        if (id >= in_play.n || !in_play(id)) return 0;
        if (last.id >= 0 && before(last, {x[id], id})) return 0;
        const float weight = exponential((x[id] - largest) * inverse);
        return weight >= least ? weight : 0;
    }
    // As in sample/cutoff.cpp.
    __device__ int32_t bin(int32_t id) const {
        constexpr float kPerNat = sample::kBinsPerNat, kLast = kBins - 1;
        const float distance = (largest - x[id]) * inverse * kPerNat;
        const float at_least_0 = distance > 0 ? distance : 0;
        return static_cast<int32_t>(at_least_0 < kLast ? at_least_0 : kLast);
    }
};

// The ids of one bin that have a weight.
struct InBin {
    int32_t n, bin;
    const Weigher &weigh;
    __device__ bool operator()(int32_t id) const { return weigh.bin(id) == bin && weigh(id) > 0; }
};

// The last id of the shortest prefix that measures at least `amount`: in ids, or in weight. None if all of it does not. A bin's weights are within
// a power of two of each other, so that their sum in double is exact in any order. That is not so in the last bin, which no sum of weights
// gets to: what lies there is far less than the least that top-p may drop.
__device__ __forceinline__ Candidate last_kept(const Weigher &weigh, double amount, bool in_ids, Shared &s) {
    const auto thread = static_cast<int32_t>(threadIdx.x);
    const auto measure = [=](float weight) { return in_ids ? 1.0 : static_cast<double>(weight); };
    for (int32_t i = thread; i < kBins; i += kThreads) s.bins[i] = 0;
    __syncthreads();
#pragma unroll 2
    for (int32_t id = thread; id < weigh.in_play.n; id += kThreads) {
        const float weight = weigh(id);
        if (weight > 0) atomicAdd(&s.bins[weigh.bin(id)], measure(weight));
    }
    __syncthreads();
    if (thread == 0) {
        int32_t bin = 0;
#pragma unroll 1
        while (bin < kBins && s.bins[bin] < amount) amount -= s.bins[bin++];
        s.n = bin;
        s.amount = amount;
    }
    __syncthreads();
    amount = s.amount;
    Candidate last{0, -1};
    const InBin in_bin{weigh.in_play.n, s.n, weigh};
    if (in_bin.bin == kBins) return last;
    Picker<kThreads, InBin> picker(weigh.x, in_bin, s.of_warps);
    while (amount > 0) {
        const Candidate next = picker.next();
        if (next.id < 0) break;
        last = next;
        amount -= measure(weigh(next.id));
    }
    return last;
}

// blocks[b] := the sum of the weights of block b. Eight neighbouring threads have a block's lanes.
__device__ __forceinline__ void sum_blocks(const Weigher &weigh, int32_t n, double *blocks) {
    const auto thread = static_cast<int32_t>(threadIdx.x), lane = thread % kLanes, n_blocks = (n + kBlock - 1) / kBlock;
    for (int32_t first = 0; first < n_blocks; first += kThreads / kLanes) {
        const int32_t b = first + thread / kLanes;
        double own = 0;
#pragma unroll 2
        for (int32_t i = b * kBlock + lane; b < n_blocks && i < (b + 1) * kBlock && i < n; i += kLanes) own += static_cast<double>(weigh(i));
        double sum = 0;
        for (int from = 0; from < kLanes; from++) sum += __shfl_sync(kAllLanes, own, from, kLanes);
        if (lane == 0 && b < n_blocks) blocks[b] = sum;
    }
}

// The sum of all weights, in all threads; those of the blocks are left in s.blocks.
__device__ __forceinline__ double sum_row(const Weigher &weigh, int32_t n, Shared &s) {
    sum_blocks(weigh, n, s.blocks);
    __syncthreads();
    double total = 0;
#pragma unroll 4
    for (int32_t b = 0; b < (n + kBlock - 1) / kBlock; b++) total += s.blocks[b];
    return total;
}

// Among all ids in play.
__device__ __forceinline__ int32_t draw_long(Weigher weigh, const Drawing &d, Shared &s) {
    const int32_t n = weigh.in_play.n, n_blocks = (n + kBlock - 1) / kBlock;
    const auto thread = static_cast<int32_t>(threadIdx.x);
    if (d.top_k > 0 && d.top_k < n) weigh.last = last_kept(weigh, d.top_k, true, s);
    if (d.top_p > 0) {
        const Candidate last = last_kept(weigh, static_cast<double>(d.top_p) * sum_row(weigh, n, s), false, s);
        if (last.id >= 0) weigh.last = last;
    }
    weigh.least = d.min_p;
    const double target = d.u * sum_row(weigh, n, s);
    __syncthreads(); // all have read the blocks' sums
    if (thread == 0) {
        double sum = 0;
        int32_t b = 0;
#pragma unroll 1
        for (; b < n_blocks && !(s.blocks[b] > 0 && sum + s.blocks[b] > target); b++) sum += s.blocks[b];
        s.n = b;
        s.blocks[0] = sum;
    }
    __syncthreads();
    if (s.n < n_blocks) {
        const int32_t begin = s.n * kBlock;
#pragma unroll 1
        for (int32_t i = thread; i < kBlock; i += kThreads) s.weight[i] = weigh(begin + i);
        __syncthreads();
        if (thread == 0) s.chosen = begin + walk(s.weight, n - begin < kBlock ? n - begin : kBlock, s.blocks[0], target);
    } else if (thread == 0) { // rounding kept the sum from getting there
        int32_t last = n - 1;
        while (last > 0 && !(weigh(last) > 0)) last--;
        s.chosen = last;
    }
    __syncthreads();
    return s.chosen;
}

__global__ void __launch_bounds__(kThreads) draw_kernel(LogitRows rows, float *logits, const Drawing *drawings, sample::Found *found) {
    TR_SHARED(Shared, whole, 1);
    Shared &s = whole[0];
    const Drawing &d = drawings[blockIdx.x];
    if (!d.wanted) return;
    float *x = logits + blockIdx.x * rows.n_vocab;
    const InPlay in_play{rows.wanted[blockIdx.x].n_valid, rows.wanted[blockIdx.x].valid, d.allowed};
    change(x, d);
    int32_t id = -1;
    const Candidate first = Picker<kThreads, InPlay>(x, in_play, s.of_warps).next();
    if (first.id < 0 || d.greedy) id = first.id;
    else if (d.top_k > 0 && d.top_k <= kShortTop && d.top_k < in_play.n) id = draw_short(x, in_play, d, s);
    else id = draw_long({x, in_play, first.value, d.inverse, 0}, d, s);
    change_back(x, d);
    if (threadIdx.x != 0) return;
    found[blockIdx.x].drawn = id;
    found[blockIdx.x].drawn_logit = id < 0 ? 0 : x[id];
}

} // namespace

void draw_rows(const LogitRows &rows, float *logits, const Drawing *drawings, sample::Found *found, cudaStream_t stream) {
    launch(draw_kernel, Grid(static_cast<unsigned>(rows.n), kThreads, stream), rows, logits, drawings, found);
}

} // namespace tr::cuda
