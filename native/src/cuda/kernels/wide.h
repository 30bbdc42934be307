// Blocks of 32 codes that one thread reads as a whole: by vectors of 16 bytes where a format's codes lie so.
#pragma once
#include "cuda/kernels/formats.h"

namespace tr::cuda {

// Codes 0 to 15 and 16 to 31 of a block, four to a word: what F::codes gives for t from 0 to 3.
struct Block {
    uint32_t first[4], second[4];
};

__device__ __forceinline__ void four_words(const uint8_t *p, uint32_t (&w)[4]) {
    const auto v = load_vector<uint4>(p);
    w[0] = v.x;
    w[1] = v.y;
    w[2] = v.z;
    w[3] = v.w;
}

// 32 bytes as they are.
__device__ __forceinline__ Block bytes_32(const uint8_t *p) {
    Block b;
    four_words(p, b.first);
    four_words(p + 16, b.second);
    return b;
}

// f(word) in place of each word.
template <class F> __device__ __forceinline__ Block each(const Block &b, F &&f) {
    Block to;
    for (int t = 0; t < 4; t++) {
        to.first[t] = f(b.first[t]);
        to.second[t] = f(b.second[t]);
    }
    return to;
}

// Block j of a unit.
template <class F> __device__ __forceinline__ Block block_of(const uint8_t *c, int j) {
    if constexpr (F::kType == quant::Type::Q4_0) {
        Block b;
        four_words(c, b.first);
        for (int t = 0; t < 4; t++) {
            b.second[t] = minus<8>(nibbles(b.first[t], 4));
            b.first[t] = minus<8>(nibbles(b.first[t], 0));
        }
        return b;
    } else if constexpr (F::kType == quant::Type::Q8_0) {
        return bytes_32(c);
    } else if constexpr (F::kType == quant::Type::Q4_K) {
        return each(bytes_32(c + 32 * (j / 2)), [j](uint32_t w) { return nibbles(w, 4 * (j % 2)); });
    } else if constexpr (F::kType == quant::Type::Q5_K) {
        const Block high = bytes_32(c);
        Block b = block_of<Q4_K>(c + 32, j);
        for (int t = 0; t < 4; t++) {
            b.first[t] |= (high.first[t] >> j & 0x01010101) << 4;
            b.second[t] |= (high.second[t] >> j & 0x01010101) << 4;
        }
        return b;
    } else if constexpr (F::kType == quant::Type::Q6_K) {
        const int half = j / 4, part = j % 4;
        const Block low = bytes_32(c + 64 * half + 32 * (part % 2)), high = bytes_32(c + 128 + 32 * half);
        const auto joined = [part](uint32_t l, uint32_t h) { return minus<32>(nibbles(l, 4 * (part / 2)) | (h >> 2 * part & 0x03030303) << 4); };
        Block b;
        for (int t = 0; t < 4; t++) {
            b.first[t] = joined(low.first[t], high.first[t]);
            b.second[t] = joined(low.second[t], high.second[t]);
        }
        return b;
    } else {
        Block b;
        for (int t = 0; t < 4; t++) {
            const Pair p = F::codes(c, j, t);
            b.first[t] = p.first;
            b.second[t] = p.second;
        }
        return b;
    }
}

} // namespace tr::cuda
