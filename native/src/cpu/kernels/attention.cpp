// Attention over the KV cache.
#include "cpu/attention.h"
#include "cpu/chunks.h"
#include "cpu/kernels/math.h"
#include "cpu/kernels/operators.h"

namespace tr::cpu::TR_ISA {
namespace {

constexpr int kRowGroup = kMaxColumns; // rows whose accumulators fit in registers
constexpr int kScoreStride = kKvSegment;

// Up to kRowGroup rows of an item on their way through one segment.
struct RowGroup {
    alignas(64) float q[kRowGroup][kMaxHeadDim];
    alignas(64) float score[kRowGroup][kScoreStride]; // then exp(score - m)
    int first[kRowGroup], keys[kRowGroup];            // the row sees positions [first, keys) of the segment; neither falls with the row
    PartialView out[kRowGroup];
};

// A page of one kv head is head_dim cache lines of keys and as many of values.
TR_INLINE void prefetch_line(const uint16_t *page, int line) {
    _mm_prefetch(reinterpret_cast<const char *>(page + line * kPageTokens), _MM_HINT_T0);
}

// score[r][i] := q[r] . key i for 2*kLanes keys: one chain over the head's dimensions per key. Brings in the next page's keys
// and this page's values meanwhile.
template <int R>
TR_INLINE void score_keys(const RowGroup &g, const uint16_t *k, const uint16_t *next_k, const uint16_t *v, int dim, float *score) {
    VecF sum[R][2];
#pragma GCC unroll 8
    for (int r = 0; r < R; r++) sum[r][0] = sum[r][1] = zero();
#pragma GCC unroll 2
    for (int d = 0; d < dim; d++) {
        prefetch_line(next_k, d);
        prefetch_line(v, d);
        const VecF k0 = load_half(k + d * kPageTokens), k1 = load_half(k + d * kPageTokens + kLanes);
#pragma GCC unroll 8
        for (int r = 0; r < R; r++) {
            const VecF a = broadcast(g.q[r] + d);
            sum[r][0] = fma(a, k0, sum[r][0]);
            sum[r][1] = fma(a, k1, sum[r][1]);
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; r++) {
        store(score + r * kScoreStride, sum[r][0]);
        store(score + r * kScoreStride + kLanes, sum[r][1]);
    }
}

// One row: m, l and the weights exp(score*scale - m), zero outside the keys it sees. l in 16 lanes, lane i takes keys i, i+16, ...
TR_INLINE void weights(float *score, int first, int keys, float scale, float *m, float *l) {
    const int begin = first / 16 * 16, end = (keys + 15) / 16 * 16;
    for (int i = begin; i < end; i += kLanes) store(score + i, mul(load(score + i), set(scale)));
    for (int i = begin; i < first; i++) score[i] = -__builtin_inff();
    for (int i = keys; i < end; i++) score[i] = -__builtin_inff();
    VecF largest = load(score + begin);
    for (int i = begin + kLanes; i < end; i += kLanes) largest = max(largest, load(score + i));
    alignas(64) float lane[16];
    store(lane, largest);
    float top = lane[0];
    for (int i = 1; i < kLanes; i++) top = lane[i] > top ? lane[i] : top;

    constexpr int kVectors = 16 / kLanes;
    VecF sum[kVectors];
    for (int v = 0; v < kVectors; v++) sum[v] = zero();
    for (int i = begin; i < end; i += 16)
        for (int v = 0; v < kVectors; v++) {
            float *s = score + i + v * kLanes;
            const VecF e = exp(sub(load(s), set(top)));
            store(s, e);
            sum[v] = add(sum[v], e);
        }
    for (int v = 0; v < kVectors; v++) store(lane + v * kLanes, sum[v]);
    *m = top;
    *l = sum_tree16(lane);
}

// o[r] += weight[r][i] * value i for keys [0, keys) of a page, in order, V vectors of the head's dimensions.
template <int R, int V>
TR_INLINE void weigh_values(const float *weight, const uint16_t *v, int dim, int keys, PartialView *out, int d) {
    VecF sum[R][V];
#pragma GCC unroll 8
    for (int r = 0; r < R; r++)
        for (int j = 0; j < V; j++) sum[r][j] = load(out[r].o + d + j * kLanes);
    for (int i = 0; i < keys; i++) {
        VecF value[V];
        for (int j = 0; j < V; j++) value[j] = load_half(v + i * dim + d + j * kLanes);
#pragma GCC unroll 8
        for (int r = 0; r < R; r++) {
            const VecF w = broadcast(weight + r * kScoreStride + i);
            for (int j = 0; j < V; j++) sum[r][j] = fma(w, value[j], sum[r][j]);
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; r++)
        for (int j = 0; j < V; j++) store(out[r].o + d + j * kLanes, sum[r][j]);
}

template <int R> TR_INLINE void weigh_page(const float *weight, const uint16_t *v, int dim, int keys, PartialView *out) {
    int d = 0;
    for (; d + 2 * kLanes <= dim; d += 2 * kLanes) weigh_values<R, 2>(weight, v, dim, keys, out, d);
    if (d < dim) weigh_values<R, 1>(weight, v, dim, keys, out, d);
}

// Reduces R rows over the segment whose first page is pages[0]. `ahead` is where the keys of the next segment start.
template <int R>
void reduce_rows(RowGroup &g, const AttentionShape &shape, const int32_t *pages, int32_t head_kv, KvLayer kv, const uint16_t *ahead) {
    const int dim = shape.head_dim;
    const int64_t head_stride = static_cast<int64_t>(dim) * kPageTokens, page_stride = head_stride * shape.n_head_kv;
    const auto base = [&](int page) { return pages[page] * page_stride + head_kv * head_stride; };
    const int first_page = g.first[0] / kPageTokens, n_pages = (g.keys[R - 1] + kPageTokens - 1) / kPageTokens;

    for (int page = first_page; page < n_pages; page++) {
        const uint16_t *k = kv.k + base(page), *next_k = page + 1 < n_pages ? kv.k + base(page + 1) : ahead;
        for (int i = 0; i < kPageTokens; i += 2 * kLanes)
            score_keys<R>(g, k + i, next_k, kv.v + base(page), dim, g.score[0] + page * kPageTokens + i);
    }
    for (int r = 0; r < R; r++) {
        weights(g.score[r], g.first[r], g.keys[r], shape.scale, g.out[r].m, g.out[r].l);
        for (int d = 0; d < dim; d += kLanes) store(g.out[r].o + d, zero());
    }
    for (int page = first_page; page < n_pages; page++) {
        const int first = page * kPageTokens;
        const auto in_page = [&](int key) { return key <= first ? 0 : key - first < kPageTokens ? key - first : kPageTokens; };
        const uint16_t *v = kv.v + base(page);
        // Keys that all rows see; before them those that only earlier rows see, after them those that only later ones do.
        const int begin = in_page(g.first[R - 1]), end = in_page(g.keys[0]);
        const auto alone = [&](int r, int from, int to) {
            if (from < to) weigh_page<1>(g.score[r] + first + from, v + from * dim, dim, to - from, g.out + r);
        };
        if (begin < end) {
            for (int r = 0; r < R - 1; r++) alone(r, in_page(g.first[r]), begin);
            weigh_page<R>(g.score[0] + first + begin, v + begin * dim, dim, end - begin, g.out);
            for (int r = 1; r < R; r++) alone(r, end, in_page(g.keys[r]));
        } else {
            for (int r = 0; r < R; r++) alone(r, in_page(g.first[r]), in_page(g.keys[r]));
        }
    }
}

// (m, l, o) := the two merged.
TR_INLINE void merge(PartialView sum, PartialView part, int dim) {
    const float m = *part.m > *sum.m ? *part.m : *sum.m;
    alignas(64) float factor[16];
    for (int i = 0; i < 16; i++) factor[i] = 0;
    factor[0] = *sum.m - m;
    factor[1] = *part.m - m;
    store(factor, exp(load(factor)));
    const VecF a = set(factor[0]), b = set(factor[1]);
    *sum.l = __builtin_fmaf(*part.l, factor[1], *sum.l * factor[0]);
    *sum.m = m;
    for (int d = 0; d < dim; d += kLanes) store(sum.o + d, fma(load(part.o + d), b, mul(load(sum.o + d), a)));
}

TR_INLINE void clear(PartialView p, int dim) {
    *p.m = -__builtin_inff();
    *p.l = 0;
    for (int d = 0; d < dim; d += kLanes) store(p.o + d, zero());
}

struct AttentionCall {
    const AttentionShape &shape;
    const QueryToken *tokens;
    const float *q;
    KvLayer kv;
    AttentionScratch::Impl &scratch;
    float *out;

    TR_INLINE int64_t vector_of(const AttentionItem &item, int row) const { // offset of the row in q and out
        return ((item.token + row / item.heads) * shape.n_head + item.head + row % item.heads) * shape.head_dim;
    }

    // Rows [begin, end) of a group.
    struct Span {
        int begin, end;
    };

    // Reduces rows [first, first+count) over a segment into out(row). Rows that do not see the segment, the first or last ones
    // as their tokens come before it or have left it behind, are left out; returns the others.
    template <class Out>
    TR_INLINE Span reduce(const AttentionItem &item, int first, int count, int64_t segment, RowGroup &g, const uint16_t *ahead, Out out) const {
        const auto in_segment = [segment](int64_t position) {
            const int64_t key = position - segment * kKvSegment;
            return static_cast<int>(key < 0 ? 0 : key < kKvSegment ? key : kKvSegment);
        };
        const auto position_of = [&](int row) { return tokens[item.token + row / item.heads].position; };
        const auto first_of = [&](int row) { return in_segment(first_seen(shape, position_of(row))); };
        const auto keys_of = [&](int row) { return in_segment(position_of(row) + int64_t{1}); };
        int skipped = 0, end = count;
        while (skipped < end && keys_of(first + skipped) == 0) skipped++;
        while (skipped < end && first_of(first + end - 1) == kKvSegment) end--;
        const int rows = end - skipped;
        if (rows == 0) return {skipped, end};
        for (int r = 0; r < rows; r++) {
            const int row = first + skipped + r;
            const float *from = q + vector_of(item, row);
            for (int d = 0; d < shape.head_dim; d += kLanes) store(g.q[r] + d, load(from + d));
            g.first[r] = first_of(row);
            g.keys[r] = keys_of(row);
            g.out[r] = out(row);
        }
        const int32_t *pages = tokens[item.token].pages + segment * (kKvSegment / kPageTokens);
        switch (rows) {
        case 1: reduce_rows<1>(g, shape, pages, item.head_kv, kv, ahead); break;
        case 2: reduce_rows<2>(g, shape, pages, item.head_kv, kv, ahead); break;
        case 3: reduce_rows<3>(g, shape, pages, item.head_kv, kv, ahead); break;
        case 4: reduce_rows<4>(g, shape, pages, item.head_kv, kv, ahead); break;
#if TR_VECTOR_BITS == 512
        case 5: reduce_rows<5>(g, shape, pages, item.head_kv, kv, ahead); break;
        case 6: reduce_rows<6>(g, shape, pages, item.head_kv, kv, ahead); break;
        case 7: reduce_rows<7>(g, shape, pages, item.head_kv, kv, ahead); break;
        case 8: reduce_rows<8>(g, shape, pages, item.head_kv, kv, ahead); break;
#endif
        }
        return {skipped, end};
    }

    // Where the keys of a segment start.
    TR_INLINE const uint16_t *keys(const AttentionItem &item, int64_t segment) const {
        const int64_t page = tokens[item.token].pages[segment * (kKvSegment / kPageTokens)];
        return kv.k + (page * shape.n_head_kv + item.head_kv) * shape.head_dim * kPageTokens;
    }

    TR_INLINE void write(const AttentionItem &item, int row, PartialView sum) const {
        float *to = out + vector_of(item, row);
        const VecF inverse = set(1.0f / *sum.l);
        for (int d = 0; d < shape.head_dim; d += kLanes) store(to + d, mul(load(sum.o + d), inverse));
    }

    // A whole item, segment by segment.
    void run_item(const AttentionItem &item) const {
        RowGroup g;
        alignas(64) float sum_o[kMaxRows][kMaxHeadDim], part_o[kRowGroup][kMaxHeadDim];
        float sum_ml[kMaxRows][2], part_ml[kRowGroup][2];
        const int rows = static_cast<int>(item.tokens) * item.heads;
        const auto sum = [&](int row) { return PartialView{&sum_ml[row][0], &sum_ml[row][1], sum_o[row]}; };
        for (int row = 0; row < rows; row++) clear(sum(row), shape.head_dim);
        const int64_t last = item.first_segment + item.segments - 1;
        for (int64_t segment = item.first_segment; segment <= last; segment++) {
            const uint16_t *ahead = keys(item, segment < last ? segment + 1 : segment);
            for (int first = 0; first < rows; first += kRowGroup) {
                const int count = rows - first < kRowGroup ? rows - first : kRowGroup;
                const auto part = [&](int row) { return PartialView{&part_ml[row - first][0], &part_ml[row - first][1], part_o[row - first]}; };
                const Span seen = reduce(item, first, count, segment, g, ahead, part);
                for (int r = seen.begin; r < seen.end; r++)
                    merge(sum(first + r), part(first + r), shape.head_dim);
            }
        }
        for (int row = 0; row < rows; row++) write(item, row, sum(row));
    }

    // One segment of an item, counted from its first; merges them all if it is the last to be done.
    void run_segment(const AttentionItem &item, int64_t index) const {
        const int64_t segment = item.first_segment + index;
        const uint16_t *ahead = keys(item, index + 1 < item.segments ? segment + 1 : segment);
        RowGroup g;
        const int rows = static_cast<int>(item.tokens) * item.heads;
        for (int first = 0; first < rows; first += kRowGroup)
            reduce(item, first, rows - first < kRowGroup ? rows - first : kRowGroup, segment, g, ahead,
                   [&](int row) { return scratch.slot(item.slot + row * item.segments + index); });
        std::atomic<int32_t> &done = scratch.done[item.index];
        if (done.fetch_add(1, std::memory_order_acq_rel) + 1 < item.segments) return;
        done.store(0, std::memory_order_relaxed);

        alignas(64) float sum_o[kMaxHeadDim];
        float sum_m, sum_l;
        const PartialView sum{&sum_m, &sum_l, sum_o};
        for (int row = 0; row < rows; row++) {
            clear(sum, shape.head_dim);
            const int64_t position = tokens[item.token + row / item.heads].position;
            for (int64_t s = first_seen(shape, position) / kKvSegment; s <= position / kKvSegment; s++)
                merge(sum, scratch.slot(item.slot + row * item.segments + s - item.first_segment), shape.head_dim);
            write(item, row, sum);
        }
    }
};

} // namespace

void attention(Worker &worker, const AttentionShape &shape, const QueryToken *tokens, int64_t n, const float *q, KvLayer kv,
               AttentionScratch &scratch, float *out) {
    const AttentionCall call{shape, tokens, q, kv, *scratch.impl, out};
    const AttentionPlan plan = plan_attention(shape, tokens, n);
    AttentionWalk walk(shape, tokens, n);
    AttentionItem item{};
    int64_t end = 0; // pieces up to and with the current item
    Chunks chunks(worker, plan.pieces);
    for (int64_t i, last; chunks.next(&i, &last);)
        for (; i < last; i++) {
            while (i >= end) {
                walk.next(item);
                end += plan.split ? item.segments : 1;
            }
            if (!plan.split) {
                call.run_item(item);
                continue;
            }
            call.run_segment(item, i - (end - item.segments));
        }
}

} // namespace tr::cpu::TR_ISA
