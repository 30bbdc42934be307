// Attention over the paged cache. A block has a token and the query heads that share a kv head: what it reads of the cache serves them all.
// KV segments of a fixed length are reduced each for itself and merged in order: by one block, one after the other, or each by a block
// of its own, whose results a second kernel merges. Same bits.
#include "cuda/kernels/cache.h"
#include "cuda/kernels/launch.h"

namespace tr::cuda {

namespace {

constexpr int kThreads = 128, kWarps = kThreads / 32, kSegment = cpu::kKvSegment, kPages = kSegment / cpu::kPageTokens;
constexpr int kMostHeads = 8;  // of a block; a group of more is shared out among several
constexpr int kMostDims = cpu::kMaxHeadDim / kThreads; // of a head, per thread

// Results of a row, over one segment or merged: the largest score, the sum of exp(score - it), and the same times the values.
struct Partial {
    float m, l;
};

__device__ __forceinline__ float larger(float a, float b) { return a < b ? b : a; } // std::max

// (sum.m, sum.l) := merged with part; o := o * old + part's * fresh is what becomes of the vectors.
struct Merge {
    float old, fresh;
};
__device__ __forceinline__ Merge merge(Partial &sum, const Partial &part) {
    const float m = larger(sum.m, part.m);
    const Merge by{exponential(sum.m - m), exponential(part.m - m)};
    sum.m = m;
    sum.l = __fmaf_rn(part.l, by.fresh, sum.l * by.old);
    return by;
}

// The rows of a block: some heads of one token.
struct Rows {
    int64_t token, position;
    const int32_t *pages;
    int first_head, heads, head_kv;
    int64_t seen; // the first position that the token sees

    __device__ Rows(const Attention &a, int spans) : token(blockIdx.y), position(a.tokens.tokens[token].position), pages(a.tokens.tokens[token].pages) {
        const int group = a.shape.n_head / a.shape.n_head_kv, span = static_cast<int>(blockIdx.z) % spans;
        head_kv = static_cast<int>(blockIdx.z) / spans;
        first_head = head_kv * group + span * kMostHeads;
        heads = group - span * kMostHeads < kMostHeads ? group - span * kMostHeads : kMostHeads;
        seen = a.shape.window > 0 && position >= a.shape.window ? position + 1 - a.shape.window : 0;
    }
    __device__ int64_t first_segment() const { return seen / kSegment; }
    __device__ int64_t segments() const { return position / kSegment + 1 - first_segment(); }
};

// What the threads of a block share.
struct Shared {
    float q[kMostHeads][cpu::kMaxHeadDim];
    float weight[kMostHeads][kSegment]; // scores, then exp(score - m)
    Partial part[kMostHeads];
};

// Scores of positions [first, last) of a segment, which begins at `begin`; others are not touched. A warp takes a page, a lane a token.
template <bool kQ8> __device__ __forceinline__ void take_scores(const Attention &a, const Rows &rows, int64_t begin, int64_t first, int64_t last, Shared &shared) {
    for (int page = warp_id(); page < kPages; page += kWarps) {
        const int64_t at = begin + page * cpu::kPageTokens + lane_id();
        if (at < first || at >= last) continue;
        const Page<kQ8> cached(a.shape, a.kv, rows.pages[at / cpu::kPageTokens], rows.head_kv);
        for (int h = 0; h < rows.heads; h++) shared.weight[h][at - begin] = cached.score(shared.q[h], lane_id()) * a.shape.scale;
    }
}

// The softmax of the scores, without the division. A warp takes a head.
__device__ __forceinline__ void take_weights(const Rows &rows, int64_t begin, int64_t first, int64_t last, Shared &shared) {
    const auto from = static_cast<int>(first - begin), to = static_cast<int>(last - begin);
    for (int h = warp_id(); h < rows.heads; h += kWarps) {
        float *weight = shared.weight[h];
        float m = -INFINITY;
        for (int i = from + lane_id(); i < to; i += 32) m = larger(m, weight[i]);
        for (int step = 16; step > 0; step /= 2) m = larger(m, __shfl_xor_sync(kAllLanes, m, step));
        for (int i = from + lane_id(); i < to; i += 32) weight[i] = exponential(weight[i] - m);
        __syncwarp();
        float lane = 0; // of 16: positions 16 apart, in order
        for (int i = from / 16 * 16 + lane_id() % 16; i < to; i += 16) {
            if (i >= from) lane += weight[i];
        }
        const float l = sum_tree16(lane);
        if (lane_id() == 0) shared.part[h] = {m, l};
    }
}

// The weighted sum of values, dimension d of head h.
template <bool kQ8> __device__ __forceinline__ float weighted_sum(const Attention &a, const Rows &rows, int64_t begin, int64_t first, int64_t last, const Shared &shared, int h, int d) {
    float o = 0;
    for (int64_t at = first; at < last;) {
        const Page<kQ8> cached(a.shape, a.kv, rows.pages[at / cpu::kPageTokens], rows.head_kv);
        const int64_t next = (at / cpu::kPageTokens + 1) * cpu::kPageTokens, end = next < last ? next : last;
        for (; at < end; at++) o = cached.add_value(shared.weight[h][at - begin], static_cast<int>(at % cpu::kPageTokens), d, o);
    }
    return o;
}

// Where the results of a row over a segment go: m, l, then the vector.
__device__ __forceinline__ float *partial_of(const Attention &a, int64_t token, int head, int64_t segment) {
    return a.partials + ((token * a.shape.n_head + head) * a.segments + segment) * (a.shape.head_dim + 2);
}

// n values of a token that attends to nothing: what follows reads them.
__device__ __forceinline__ void fill_with_nothing(float *out, int n) {
    for (int i = static_cast<int>(threadIdx.x); i < n; i += kThreads) out[i] = 0;
}

template <bool kQ8> __global__ void __launch_bounds__(kThreads) attend_kernel(Attention a, int spans) {
    TR_SHARED(Shared, whole, 1);
    Shared &shared = whole[0];
    const Rows rows(a, spans);
    const int dim = a.shape.head_dim, thread = static_cast<int>(threadIdx.x);
    if (rows.position == kNowhere) {
        if (!a.partials) fill_with_nothing(a.out + (rows.token * a.shape.n_head + rows.first_head) * dim, rows.heads * dim);
        return;
    }
    if (blockIdx.x >= rows.segments()) return;
    for (int i = thread; i < rows.heads * dim; i += kThreads) shared.q[i / dim][i % dim] = a.q[(rows.token * a.shape.n_head + rows.first_head) * dim + i];
    __syncthreads();

    Partial sum[kMostHeads];
    float o[kMostHeads][kMostDims] = {};
    for (int h = 0; h < kMostHeads; h++) sum[h] = {-INFINITY, 0};
    for (int64_t s = blockIdx.x; s < rows.segments(); s += gridDim.x) {
        const int64_t begin = (rows.first_segment() + s) * kSegment;
        const int64_t first = rows.seen > begin ? rows.seen : begin, last = rows.position + 1 < begin + kSegment ? rows.position + 1 : begin + kSegment;
        take_scores<kQ8>(a, rows, begin, first, last, shared);
        __syncthreads();
        take_weights(rows, begin, first, last, shared);
        __syncthreads();
#pragma unroll
        for (int h = 0; h < kMostHeads; h++) {
            if (h >= rows.heads) break;
            if (a.partials) {
                float *to = partial_of(a, rows.token, rows.first_head + h, s);
                for (int d = thread; d < dim; d += kThreads) to[2 + d] = weighted_sum<kQ8>(a, rows, begin, first, last, shared, h, d);
                if (thread == 0) {
                    to[0] = shared.part[h].m;
                    to[1] = shared.part[h].l;
                }
                continue;
            }
            const Merge by = merge(sum[h], shared.part[h]);
#pragma unroll
            for (int i = 0; i < kMostDims; i++) {
                const int d = thread + i * kThreads;
                if (d < dim) o[h][i] = __fmaf_rn(weighted_sum<kQ8>(a, rows, begin, first, last, shared, h, d), by.fresh, o[h][i] * by.old);
            }
        }
        __syncthreads();
    }
    if (a.partials) return;
#pragma unroll
    for (int h = 0; h < kMostHeads; h++) {
        if (h >= rows.heads) break;
        const float inverse = __fdiv_rn(1.0f, sum[h].l);
#pragma unroll
        for (int i = 0; i < kMostDims; i++) {
            const int d = thread + i * kThreads;
            if (d < dim) a.out[(rows.token * a.shape.n_head + rows.first_head + h) * dim + d] = o[h][i] * inverse;
        }
    }
}

__global__ void __launch_bounds__(kThreads) merge_kernel(Attention a) {
    const int64_t token = blockIdx.x;
    const int head = static_cast<int>(blockIdx.y), dim = a.shape.head_dim;
    const int64_t position = a.tokens.tokens[token].position;
    if (position == kNowhere) return fill_with_nothing(a.out + (token * a.shape.n_head + head) * dim, dim);
    const int64_t seen = a.shape.window > 0 && position >= a.shape.window ? position + 1 - a.shape.window : 0;
    const int64_t segments = position / kSegment + 1 - seen / kSegment;
    for (int d = static_cast<int>(threadIdx.x); d < dim; d += kThreads) {
        Partial sum{-INFINITY, 0};
        float o = 0;
        for (int64_t s = 0; s < segments; s++) {
            const float *from = partial_of(a, token, head, s);
            const Merge by = merge(sum, {from[0], from[1]});
            o = __fmaf_rn(from[2 + d], by.fresh, o * by.old);
        }
        a.out[(token * a.shape.n_head + head) * dim + d] = o * __fdiv_rn(1.0f, sum.l);
    }
}

} // namespace

void attend(const Attention &a, cudaStream_t stream) {
    const int group = a.shape.n_head / a.shape.n_head_kv, spans = (group + kMostHeads - 1) / kMostHeads;
    const dim3 blocks(a.partials ? static_cast<unsigned>(a.segments) : 1, static_cast<unsigned>(a.tokens.n), static_cast<unsigned>(a.shape.n_head_kv * spans));
    const Grid grid(blocks, kThreads, stream);
    if (a.kv.type == cpu::KvType::kQ8_0) launch(attend_kernel<true>, grid, a, spans);
    else launch(attend_kernel<false>, grid, a, spans);
    if (a.partials) launch(merge_kernel, Grid(dim3(static_cast<unsigned>(a.tokens.n), static_cast<unsigned>(a.shape.n_head)), kThreads, stream), a);
}

} // namespace tr::cuda
