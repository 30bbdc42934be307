// The KV cache as attention sees it: cpu::KvLayer's layout. Keys lie transposed within their page, so that the 32 lanes of a warp read one
// dimension of the page's 32 tokens side by side.
#pragma once
#include "cuda/kernels/layout.h"
#include "cuda/kernels/math.h"

namespace tr::cuda {

// The keys and values of one page and kv head.
template <bool kQ8> struct Page {
    const uint8_t *k, *v;
    int dim;

    __device__ Page(const cpu::AttentionShape &shape, const cpu::KvLayer &kv, int64_t page, int64_t head_kv) : dim(shape.head_dim) {
        constexpr int64_t kTokens = cpu::kPageTokens;
        const int64_t bytes = kQ8 ? (int64_t{dim} + dim / cpu::kKvBlock * 2) * kTokens : int64_t{2} * dim * kTokens;
        k = kv.k + (page * shape.n_head_kv + head_kv) * bytes;
        v = kv.v + (page * shape.n_head_kv + head_kv) * bytes;
    }

    // q times the key of a token of the page, which lies in memory of the block.
    __device__ float score(const float *q, int slot) const {
        constexpr int kTokens = cpu::kPageTokens, kBlock = cpu::kKvBlock;
        float score = 0;
        if constexpr (!kQ8) {
            const auto *key = reinterpret_cast<const uint16_t *>(k) + slot;
            for (int d = 0; d < dim; d++) score = __fmaf_rn(q[d], from_half(key[d * kTokens]), score);
        } else {
            const auto *key = reinterpret_cast<const int8_t *>(k) + slot;
            const auto *scale = reinterpret_cast<const uint16_t *>(k + dim * kTokens) + slot;
            for (int b = 0; b < dim / kBlock; b++) {
                float sum = 0;
                for (int d = kBlock * b; d < kBlock * (b + 1); d++) sum = __fmaf_rn(q[d], static_cast<float>(key[d * kTokens]), sum);
                score = __fmaf_rn(sum, from_half(scale[b * kTokens]), score);
            }
        }
        return score;
    }

    // sum + weight times dimension d of the value of a token.
    __device__ float add_value(float weight, int slot, int d, float sum) const {
        constexpr int kTokens = cpu::kPageTokens, kBlock = cpu::kKvBlock;
        if constexpr (!kQ8) {
            return __fmaf_rn(weight, from_half(reinterpret_cast<const uint16_t *>(v)[slot * dim + d]), sum);
        } else {
            const float scale = from_half(reinterpret_cast<const uint16_t *>(v + dim * kTokens)[slot * (dim / kBlock) + d / kBlock]);
            return __fmaf_rn(weight * scale, static_cast<float>(reinterpret_cast<const int8_t *>(v)[slot * dim + d]), sum);
        }
    }

    // Stores dimensions 32*block + lane of a token's key and value; a whole warp calls.
    __device__ void store(float key, float value, int slot, int block) const {
        constexpr int kTokens = cpu::kPageTokens, kBlock = cpu::kKvBlock;
        const int d = 32 * block + lane_id();
        auto *to_k = const_cast<uint8_t *>(k), *to_v = const_cast<uint8_t *>(v);
        if constexpr (!kQ8) {
            if (d >= dim) return;
            reinterpret_cast<uint16_t *>(to_k)[d * kTokens + slot] = to_half(key);
            reinterpret_cast<uint16_t *>(to_v)[slot * dim + d] = to_half(value);
        } else {
            const float keys[1] = {key}, values[1] = {value};
            const Quantizer of_key = make_quantizer(keys), of_value = make_quantizer(values);
            reinterpret_cast<int8_t *>(to_k)[d * kTokens + slot] = quantize(of_key, key);
            reinterpret_cast<int8_t *>(to_v)[slot * dim + d] = quantize(of_value, value);
            if (lane_id() != 0) return;
            reinterpret_cast<uint16_t *>(to_k + dim * kTokens)[block * kTokens + slot] = to_half(of_key.scale);
            reinterpret_cast<uint16_t *>(to_v + dim * kTokens)[slot * (dim / kBlock) + block] = to_half(of_value.scale);
        }
    }
};

} // namespace tr::cuda
