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

// The keys and values of one token and kv head in a layer.
class CacheSlot {
public:
    CacheSlot(const AttentionShape &shape, const QueryToken &token, int64_t position, int64_t head_kv, KvLayer kv)
        : dim_(shape.head_dim), slot_(position % kPageTokens), type_(kv.type) {
        const int64_t page = token.pages[position / kPageTokens];
        const int64_t at = (page * shape.n_head_kv + head_kv) * kv_page_bytes(kv.type, shape.head_dim);
        k_ = kv.k + at;
        v_ = kv.v + at;
    }

    float score(const float *q) const {
        float score = 0;
        if (type_ == KvType::kF16) {
            for (int d = 0; d < dim_; d++) score = std::fma(q[d], quant::half_to_float(halves(k_)[d * kPageTokens + slot_]), score);
            return score;
        }
        for (int b = 0; b < dim_ / kKvBlock; b++) {
            float sum = 0;
            for (int d = kKvBlock * b; d < kKvBlock * (b + 1); d++)
                sum = std::fma(q[d], static_cast<float>(codes(k_)[d * kPageTokens + slot_]), sum);
            score = std::fma(sum, quant::half_to_float(scales(k_)[b * kPageTokens + slot_]), score);
        }
        return score;
    }

    void add_value(float weight, float *o) const {
        for (int d = 0; d < dim_; d++) {
            if (type_ == KvType::kF16) {
                o[d] = std::fma(weight, quant::half_to_float(halves(v_)[slot_ * dim_ + d]), o[d]);
            } else {
                const float scale = quant::half_to_float(scales(v_)[slot_ * (dim_ / kKvBlock) + d / kKvBlock]);
                o[d] = std::fma(weight * scale, static_cast<float>(codes(v_)[slot_ * dim_ + d]), o[d]);
            }
        }
    }

    void store(const float *key, const float *value) const {
        if (type_ == KvType::kF16) {
            for (int d = 0; d < dim_; d++) {
                halves(k_)[d * kPageTokens + slot_] = quant::float_to_half(key[d]);
                halves(v_)[slot_ * dim_ + d] = quant::float_to_half(value[d]);
            }
            return;
        }
        for (int b = 0; b < dim_ / kKvBlock; b++) {
            int8_t code[kKvBlock];
            scales(k_)[b * kPageTokens + slot_] = quant::float_to_half(quantize_block(key + kKvBlock * b, kKvBlock, code));
            for (int d = 0; d < kKvBlock; d++) codes(k_)[(kKvBlock * b + d) * kPageTokens + slot_] = code[d];
            scales(v_)[slot_ * (dim_ / kKvBlock) + b] = quant::float_to_half(quantize_block(value + kKvBlock * b, kKvBlock, code));
            for (int d = 0; d < kKvBlock; d++) codes(v_)[slot_ * dim_ + kKvBlock * b + d] = code[d];
        }
    }

private:
    static uint16_t *halves(uint8_t *page) { return reinterpret_cast<uint16_t *>(page); }
    static int8_t *codes(uint8_t *page) { return reinterpret_cast<int8_t *>(page); }
    uint16_t *scales(uint8_t *page) const { return reinterpret_cast<uint16_t *>(page + dim_ * kPageTokens); }

    int dim_;
    int64_t slot_;
    KvType type_;
    uint8_t *k_, *v_;
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
        score[i - first] = CacheSlot(shape, token, i, head_kv, kv).score(q) * shape.scale;
        p.m = std::max(p.m, score[i - first]);
    }
    float lane[16] = {};
    for (int64_t i = first; i < last; i++) {
        const float weight = exp(score[i - first] - p.m);
        lane[i % 16] += weight; // segments begin at multiples of 16
        CacheSlot(shape, token, i, head_kv, kv).add_value(weight, p.o);
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
            CacheSlot(shape, tokens[t], position, h, kv).store(key, value);
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
