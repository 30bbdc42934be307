// Rotary positions, the norms of heads before them, and the one place that writes the KV cache.
#include "cpu/kernels/norm.h"
#include "cpu/kernels/operators.h"
#include "cpu/kernels/quantize_block.h"
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

// Where the keys and values of one token and kv head go.
struct Slot {
    uint8_t *k, *v; // of its page and head
    int64_t token;  // in the page
};

TR_INLINE void store_f16(const Slot &slot, const float *key, const float *value, int dim) {
    alignas(64) uint16_t halves[kMaxHeadDim];
    auto *k = reinterpret_cast<uint16_t *>(slot.k) + slot.token, *v = reinterpret_cast<uint16_t *>(slot.v) + slot.token * dim;
    for (int i = 0; i < dim; i += kLanes) store_half(halves + i, load(key + i));
    for (int i = 0; i < dim; i++) k[i * kPageTokens] = halves[i];
    for (int i = 0; i < dim; i += kLanes) store_half(v + i, load(value + i));
}

TR_INLINE void store_q8_0(const Slot &slot, const float *key, const float *value, int dim) {
    auto *k_scales = reinterpret_cast<uint16_t *>(slot.k + dim * kPageTokens) + slot.token;
    auto *v_scales = reinterpret_cast<uint16_t *>(slot.v + dim * kPageTokens) + slot.token * (dim / kKvBlock);
    int32_t sums[2];
    for (int i = 0; i < dim; i += kKvBlock) {
        alignas(64) int8_t codes[kKvBlock];
        k_scales[i / kKvBlock * kPageTokens] = _cvtss_sh(quantize_block<kKvBlock>(key + i, codes, sums), _MM_FROUND_TO_NEAREST_INT);
        for (int j = 0; j < kKvBlock; j++) slot.k[(i + j) * kPageTokens + slot.token] = static_cast<uint8_t>(codes[j]);
        auto *to = reinterpret_cast<int8_t *>(slot.v + slot.token * dim + i);
        v_scales[i / kKvBlock] = _cvtss_sh(quantize_block<kKvBlock>(value + i, to, sums), _MM_FROUND_TO_NEAREST_INT);
    }
}

} // namespace

void rope_store(Worker &worker, const AttentionShape &shape, const QueryToken *tokens, int64_t n, float *q, float *k, const float *v,
                const Rotation &r, KvLayer kv) {
    const int dim = shape.head_dim, half = dim / 2;
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
            const int64_t at = (page * shape.n_head_kv + h) * kv_page_bytes(kv.type, dim);
            if (r.k_gain) norm_head(key, dim, r.k_gain, r.eps);
            rotate(key, half, c, s);
            const Slot to{kv.k + at, kv.v + at, slot};
            if (kv.type == KvType::kF16) store_f16(to, key, value, dim);
            else store_q8_0(to, key, value, dim);
        }
    }
}

} // namespace tr::cpu::TR_ISA
