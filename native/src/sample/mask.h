// The ids of a row that are in play: those below n whose bit is set.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

namespace tr::sample {

struct Mask {
    int32_t n;              // ids [0, n)
    const uint32_t *words;  // NULL: all of them; else bit i%32 of word i/32, (n+31)/32 words are read

    static constexpr int32_t kBits = 32;
    static int64_t words_for(int64_t n) { return (n + kBits - 1) / kBits; }

    // The bits of the ids [32*w, 32*w+32).
    uint32_t word(int32_t w) const {
        const int32_t left = n - w * kBits;
        const uint32_t below_n = left >= kBits ? ~0u : (1u << left) - 1;
        return words ? words[w] & below_n : below_n;
    }
};

// f(base, bits) for every group of 32 ids from base on that has any in play, in ascending order.
template <class F> void for_each_group(const Mask &mask, F &&f) {
    const auto n_words = static_cast<int32_t>(Mask::words_for(mask.n));
    for (int32_t w = 0; w < n_words; w++) {
        if (const uint32_t bits = mask.word(w)) f(w * Mask::kBits, bits);
    }
}

// f(id) for every set bit of a group, in ascending order.
template <class F> void for_each_id(int32_t base, uint32_t bits, F &&f) {
    for (; bits; bits &= bits - 1) f(base + std::countr_zero(bits));
}

} // namespace tr::sample
