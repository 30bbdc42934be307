// Rotary positions, the norms of heads before them, and the one place that writes the KV cache.
#include "cpu/kernels/norm.h"
#include "cpu/kernels/operators.h"
#include "cpu/ops.h"

namespace tr::cpu::TR_ISA {
namespace {

// (a, b) := (a cos - b sin, a sin + b cos) for pairs (i, i + half); half is a multiple of 8.
TR_INLINE void rotate(float *head, int half, const float *cos, const float *sin) {
    int i = 0;
    for (; i + kLanes <= half; i += kLanes) {
        const VecF a = load(head + i), b = load(head + half + i), c = load(cos + i), s = load(sin + i);
        store(head + i, fnma(b, s, mul(a, c)));
        store(head + half + i, fma(a, s, mul(b, c)));
    }
    for (; i < half; i++) {
        const float a = head[i], b = head[half + i];
        head[i] = __builtin_fmaf(-b, sin[i], a * cos[i]);
        head[half + i] = __builtin_fmaf(a, sin[i], b * cos[i]);
    }
}

} // namespace

void rope_store(Worker &worker, const AttentionShape &shape, const QueryToken *tokens, int64_t n, float *q, float *k, const float *v,
                const Rotation &r, KvLayer kv) {
    const int dim = shape.head_dim, half = dim / 2;
    alignas(64) uint16_t halves[kMaxHeadDim];
    for (int64_t t; (t = worker.next(n)) < n;) {
        const int64_t position = tokens[t].position;
        const float *c = r.cos + position * half, *s = r.sin + position * half;
        for (int h = 0; h < shape.n_head; h++) {
            float *query = q + (t * shape.n_head + h) * dim;
            if (r.q_gain) norm_head(query, dim, r.q_gain, r.eps);
            rotate(query, half, c, s);
        }

        const int64_t page = tokens[t].pages[position / kPageTokens], slot = position % kPageTokens;
        for (int h = 0; h < shape.n_head_kv; h++) {
            float *key = k + (t * shape.n_head_kv + h) * dim;
            const float *value = v + (t * shape.n_head_kv + h) * dim;
            const int64_t base = (page * shape.n_head_kv + h) * dim * kPageTokens;
            if (r.k_gain) norm_head(key, dim, r.k_gain, r.eps);
            rotate(key, half, c, s);
            for (int i = 0; i < dim; i += kLanes) store_half(halves + i, load(key + i));
            for (int i = 0; i < dim; i++) kv.k[base + i * kPageTokens + slot] = halves[i];
            for (int i = 0; i < dim; i += kLanes) store_half(kv.v + base + slot * dim + i, load(value + i));
        }
    }
}

} // namespace tr::cpu::TR_ISA
