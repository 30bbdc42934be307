// Positions and attention.
#include <algorithm>

#include "cpu/reference/reference.h"

namespace tr::cpu::reference {

namespace {

void rotate(float *head, int half, const float *cos, const float *sin) {
    for (int i = 0; i < half; i++) {
        const float a = head[i], b = head[i + half];
        head[i] = std::fma(-b, sin[i], a * cos[i]);
        head[i + half] = std::fma(a, sin[i], b * cos[i]);
    }
}

// Where the keys and values of one token and kv head lie in a layer.
struct CacheSlot {
    int64_t base, slot;
    CacheSlot(const AttentionShape &shape, const QueryToken &token, int64_t position, int64_t head_kv)
        : base((token.pages[position / kPageTokens] * static_cast<int64_t>(shape.n_head_kv) + head_kv) * shape.head_dim * kPageTokens),
          slot(position % kPageTokens) {}
    int64_t key(int d) const { return base + d * kPageTokens + slot; }
    int64_t value(int dim, int d) const { return base + slot * dim + d; }
};

struct Partial {
    float m = -INFINITY, l = 0, o[kMaxHeadDim] = {};
};

void norm_head(float *head, int dim, const float *gain, float eps) {
    const float scale = norm_scale(head, dim, eps);
    for (int i = 0; i < dim; i++) head[i] = head[i] * scale * gain[i];
}

// Scores of positions [first, last) of one segment, their softmax without the division, and the weighted sum of values.
Partial reduce_segment(const AttentionShape &shape, const QueryToken &token, int64_t head_kv, const float *q, KvLayer kv,
                       int64_t first, int64_t last) {
    Partial p;
    float score[kKvSegment];
    for (int64_t i = first; i < last; i++) {
        const CacheSlot slot(shape, token, i, head_kv);
        float sum = 0;
        for (int d = 0; d < shape.head_dim; d++) sum = std::fma(q[d], quant::half_to_float(kv.k[slot.key(d)]), sum);
        score[i - first] = sum * shape.scale;
        p.m = std::max(p.m, score[i - first]);
    }
    float lane[16] = {};
    for (int64_t i = first; i < last; i++) {
        const CacheSlot slot(shape, token, i, head_kv);
        const float weight = exp(score[i - first] - p.m);
        lane[i % 16] += weight; // segments begin at multiples of 16
        for (int d = 0; d < shape.head_dim; d++)
            p.o[d] = std::fma(weight, quant::half_to_float(kv.v[slot.value(shape.head_dim, d)]), p.o[d]);
    }
    p.l = sum_tree16(lane);
    return p;
}

void merge(Partial &sum, const Partial &part, int dim) {
    const float m = std::max(sum.m, part.m);
    const float a = exp(sum.m - m), b = exp(part.m - m);
    sum.m = m;
    sum.l = std::fma(part.l, b, sum.l * a);
    for (int d = 0; d < dim; d++) sum.o[d] = std::fma(part.o[d], b, sum.o[d] * a);
}

} // namespace

void rope_store(Worker &worker, const AttentionShape &shape, const QueryToken *tokens, int64_t n, float *q, float *k, const float *v,
                const Rotation &r, KvLayer kv) {
    const int dim = shape.head_dim, half = dim / 2;
    for (int64_t t; (t = worker.next(n)) < n;) {
        const int64_t position = tokens[t].position;
        const float *cos = r.cos + position * half, *sin = r.sin + position * half;
        for (int h = 0; h < shape.n_head; h++) {
            float *query = q + (t * shape.n_head + h) * dim;
            if (r.q_gain) norm_head(query, dim, r.q_gain, r.eps);
            rotate(query, half, cos, sin);
        }
        for (int h = 0; h < shape.n_head_kv; h++) {
            float *key = k + (t * shape.n_head_kv + h) * dim;
            const float *value = v + (t * shape.n_head_kv + h) * dim;
            if (r.k_gain) norm_head(key, dim, r.k_gain, r.eps);
            rotate(key, half, cos, sin);
            const CacheSlot slot(shape, tokens[t], position, h);
            for (int d = 0; d < dim; d++) {
                kv.k[slot.key(d)] = quant::float_to_half(key[d]);
                kv.v[slot.value(dim, d)] = quant::float_to_half(value[d]);
            }
        }
    }
}

void attention(Worker &worker, const AttentionShape &shape, const QueryToken *tokens, int64_t n, const float *q, KvLayer kv,
               AttentionScratch &, float *out) {
    const int64_t rows = n * shape.n_head;
    for (int64_t row; (row = worker.next(rows)) < rows;) {
        const QueryToken &token = tokens[row / shape.n_head];
        const int64_t head_kv = row % shape.n_head / (shape.n_head / shape.n_head_kv), keys = token.position + 1;
        const int64_t seen = shape.window > 0 ? std::max<int64_t>(0, keys - shape.window) : 0;
        Partial sum;
        for (int64_t segment = seen / kKvSegment * kKvSegment; segment < keys; segment += kKvSegment)
            merge(sum, reduce_segment(shape, token, head_kv, q + row * shape.head_dim, kv, std::max(seen, segment), std::min(keys, segment + kKvSegment)),
                  shape.head_dim);
        const float inverse = 1.0f / sum.l;
        for (int d = 0; d < shape.head_dim; d++) out[row * shape.head_dim + d] = sum.o[d] * inverse;
    }
}

} // namespace tr::cpu::reference
