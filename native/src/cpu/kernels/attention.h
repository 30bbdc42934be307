// Attention over the KV cache, compiled once per kind of cache.
#pragma once
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

TR_INLINE void prefetch_byte(const uint8_t *p) { _mm_prefetch(reinterpret_cast<const char *>(p), _MM_HINT_T0); }

// Adds q[r][d] * key d for d in [first, last) to sum[r] of 2*kLanes keys: one chain per key. Brings in the next page's keys and
// this page's values meanwhile. Keys are `load(d, vector)`.
template <int R, class Load>
TR_INLINE void add_scores(VecF (&sum)[R][2], const RowGroup &g, int first, int last, const uint8_t *next_k, const uint8_t *v, int line, Load load_key) {
#pragma GCC unroll 2
    for (int d = first; d < last; d++) {
        prefetch_byte(next_k + d * line);
        prefetch_byte(v + d * line);
        const VecF k0 = load_key(d, 0), k1 = load_key(d, 1);
#pragma GCC unroll 8
        for (int r = 0; r < R; r++) {
            const VecF a = broadcast(g.q[r] + d);
            sum[r][0] = fma(a, k0, sum[r][0]);
            sum[r][1] = fma(a, k1, sum[r][1]);
        }
    }
}

template <int R> TR_INLINE void clear_sums(VecF (&sum)[R][2]) {
#pragma GCC unroll 8
    for (int r = 0; r < R; r++) sum[r][0] = sum[r][1] = zero();
}

// A kind of cache has
//   kType
//   score<R>(g, k, token, next_k, v, dim, score)   score[r][i] := q[r] . key token+i of a page, for 2*kLanes keys
//   scale(v, dim, token, d)                        what weights of a value's dimensions from d on are multiplied with
//   weight(w, scale)                               a weight, in all lanes
//   value(v, dim, token, d)                        kLanes dimensions of a value, without that scale
struct CacheF16 {
    static constexpr KvType kType = KvType::kF16;

    template <int R>
    TR_INLINE static void score(const RowGroup &g, const uint8_t *k, int token, const uint8_t *next_k, const uint8_t *v, int dim, float *score) {
        const uint16_t *keys = reinterpret_cast<const uint16_t *>(k) + token;
        VecF sum[R][2];
        clear_sums(sum);
        add_scores(sum, g, 0, dim, next_k, v, 2 * kPageTokens,
                   [keys](int d, int vector) { return load_half(keys + d * kPageTokens + vector * kLanes); });
#pragma GCC unroll 8
        for (int r = 0; r < R; r++) {
            store(score + r * kScoreStride, sum[r][0]);
            store(score + r * kScoreStride + kLanes, sum[r][1]);
        }
    }

    struct Scale {};
    TR_INLINE static Scale scale(const uint8_t *, int, int, int) { return {}; }
    TR_INLINE static VecF weight(const float *w, Scale) { return broadcast(w); }
    TR_INLINE static VecF value(const uint8_t *v, int dim, int token, int d) {
        return load_half(reinterpret_cast<const uint16_t *>(v) + token * dim + d);
    }
};

// Scores are sums over blocks, in order, of scale * (q . codes); a value counts weight * scale times its code.
struct CacheQ8_0 {
    static constexpr KvType kType = KvType::kQ8_0;

    template <int R>
    TR_INLINE static void score(const RowGroup &g, const uint8_t *k, int token, const uint8_t *next_k, const uint8_t *v, int dim, float *score) {
        const int8_t *codes = reinterpret_cast<const int8_t *>(k) + token;
        const uint16_t *scales = reinterpret_cast<const uint16_t *>(k + dim * kPageTokens) + token;
        for (int d = 0; d < dim; d += kKvBlock, scales += kPageTokens) {
            VecF sum[R][2];
            clear_sums(sum);
            add_scores(sum, g, d, d + kKvBlock, next_k, v, kPageTokens,
                       [codes](int i, int vector) { return to_float(widen_s8(codes + i * kPageTokens + vector * kLanes)); });
            const VecF s0 = load_half(scales), s1 = load_half(scales + kLanes);
#pragma GCC unroll 8
            for (int r = 0; r < R; r++) {
                float *to = score + r * kScoreStride;
                store(to, fma(sum[r][0], s0, d == 0 ? zero() : load(to)));
                store(to + kLanes, fma(sum[r][1], s1, d == 0 ? zero() : load(to + kLanes)));
            }
        }
    }

    TR_INLINE static VecF scale(const uint8_t *v, int dim, int token, int d) {
        return broadcast_half(reinterpret_cast<const uint16_t *>(v + dim * kPageTokens) + token * (dim / kKvBlock) + d / kKvBlock);
    }
    TR_INLINE static VecF weight(const float *w, VecF scale) { return mul(broadcast(w), scale); }
    TR_INLINE static VecF value(const uint8_t *v, int dim, int token, int d) {
        return to_float(widen_s8(reinterpret_cast<const int8_t *>(v) + token * dim + d));
    }
};

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

// o[r] += weight[r][i] * value i for keys [begin, end) of a page, in order, V vectors of the head's dimensions from d on, which
// lie in one block.
template <class Cache, int R, int V>
TR_INLINE void weigh_values(const float *weight, const uint8_t *v, int dim, int begin, int end, PartialView *out, int d) {
    VecF sum[R][V];
#pragma GCC unroll 8
    for (int r = 0; r < R; r++)
        for (int j = 0; j < V; j++) sum[r][j] = load(out[r].o + d + j * kLanes);
    for (int i = begin; i < end; i++) {
        VecF value[V];
        for (int j = 0; j < V; j++) value[j] = Cache::value(v, dim, i, d + j * kLanes);
        const auto scale = Cache::scale(v, dim, i, d);
#pragma GCC unroll 8
        for (int r = 0; r < R; r++) {
            const VecF w = Cache::weight(weight + r * kScoreStride + i, scale);
            for (int j = 0; j < V; j++) sum[r][j] = fma(w, value[j], sum[r][j]);
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; r++)
        for (int j = 0; j < V; j++) store(out[r].o + d + j * kLanes, sum[r][j]);
}

template <class Cache, int R>
TR_INLINE void weigh_page(const float *weight, const uint8_t *v, int dim, int begin, int end, PartialView *out) {
    int d = 0;
    for (; d + 2 * kLanes <= dim; d += 2 * kLanes) weigh_values<Cache, R, 2>(weight, v, dim, begin, end, out, d);
    if (d < dim) weigh_values<Cache, R, 1>(weight, v, dim, begin, end, out, d);
}

// Reduces R rows over the segment whose first page is pages[0]. `ahead` is where the keys of the next segment start.
template <class Cache, int R>
void reduce_rows(RowGroup &g, const AttentionShape &shape, const int32_t *pages, int32_t head_kv, KvLayer kv, const uint8_t *ahead) {
    const int dim = shape.head_dim;
    const int64_t head_stride = kv_page_bytes(Cache::kType, dim), page_stride = head_stride * shape.n_head_kv;
    const auto base = [&](int page) { return pages[page] * page_stride + head_kv * head_stride; };
    const int first_page = g.first[0] / kPageTokens, n_pages = (g.keys[R - 1] + kPageTokens - 1) / kPageTokens;

    for (int page = first_page; page < n_pages; page++) {
        const uint8_t *k = kv.k + base(page), *next_k = page + 1 < n_pages ? kv.k + base(page + 1) : ahead;
        for (int i = 0; i < kPageTokens; i += 2 * kLanes)
            Cache::template score<R>(g, k, i, next_k, kv.v + base(page), dim, g.score[0] + page * kPageTokens + i);
    }
    for (int r = 0; r < R; r++) {
        weights(g.score[r], g.first[r], g.keys[r], shape.scale, g.out[r].m, g.out[r].l);
        for (int d = 0; d < dim; d += kLanes) store(g.out[r].o + d, zero());
    }
    for (int page = first_page; page < n_pages; page++) {
        const int first = page * kPageTokens;
        const auto in_page = [&](int key) { return key <= first ? 0 : key - first < kPageTokens ? key - first : kPageTokens; };
        const uint8_t *v = kv.v + base(page);
        // Keys that all rows see; before them those that only earlier rows see, after them those that only later ones do.
        const int begin = in_page(g.first[R - 1]), end = in_page(g.keys[0]);
        const auto alone = [&](int r, int from, int to) {
            if (from < to) weigh_page<Cache, 1>(g.score[r] + first, v, dim, from, to, g.out + r);
        };
        if (begin < end) {
            for (int r = 0; r < R - 1; r++) alone(r, in_page(g.first[r]), begin);
            weigh_page<Cache, R>(g.score[0] + first, v, dim, begin, end, g.out);
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

template <class Cache> struct AttentionCall {
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
    TR_INLINE Span reduce(const AttentionItem &item, int first, int count, int64_t segment, RowGroup &g, const uint8_t *ahead, Out out) const {
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
        case 1: reduce_rows<Cache, 1>(g, shape, pages, item.head_kv, kv, ahead); break;
        case 2: reduce_rows<Cache, 2>(g, shape, pages, item.head_kv, kv, ahead); break;
        case 3: reduce_rows<Cache, 3>(g, shape, pages, item.head_kv, kv, ahead); break;
        case 4: reduce_rows<Cache, 4>(g, shape, pages, item.head_kv, kv, ahead); break;
#if TR_VECTOR_BITS == 512
        case 5: reduce_rows<Cache, 5>(g, shape, pages, item.head_kv, kv, ahead); break;
        case 6: reduce_rows<Cache, 6>(g, shape, pages, item.head_kv, kv, ahead); break;
        case 7: reduce_rows<Cache, 7>(g, shape, pages, item.head_kv, kv, ahead); break;
        case 8: reduce_rows<Cache, 8>(g, shape, pages, item.head_kv, kv, ahead); break;
#endif
        }
        return {skipped, end};
    }

    // Where the keys of a segment start.
    TR_INLINE const uint8_t *keys(const AttentionItem &item, int64_t segment) const {
        const int64_t page = tokens[item.token].pages[segment * (kKvSegment / kPageTokens)];
        return kv.k + (page * shape.n_head_kv + item.head_kv) * kv_page_bytes(Cache::kType, shape.head_dim);
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
            const uint8_t *ahead = keys(item, segment < last ? segment + 1 : segment);
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
        const uint8_t *ahead = keys(item, index + 1 < item.segments ? segment + 1 : segment);
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

template <class Cache>
void attend(Worker &worker, const AttentionShape &shape, const QueryToken *tokens, int64_t n, const float *q, KvLayer kv,
               AttentionScratch &scratch, float *out) {
    const AttentionCall<Cache> call{shape, tokens, q, kv, *scratch.impl, out};
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

} // namespace

// Ops::attention of a Q8_0 cache.
void attention_q8_0(Worker &worker, const AttentionShape &shape, const QueryToken *tokens, int64_t n, const float *q, KvLayer kv,
                    AttentionScratch &scratch, float *out);

} // namespace tr::cpu::TR_ISA
