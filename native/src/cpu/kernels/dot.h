// The integer product of one sub-block: exact, so its order is free.
#pragma once
#include "cpu/simd/simd.h"

namespace tr::cpu::TR_ISA {
namespace {

// Four consecutive k of kTileRows rows, as unpacked codes.
using Quad = uint8_t[2][4 * kLanes];

// acc[c][v] += sum over kQuads*4 values of k of codes w[k] * activations x[k] of column c. Columns are `column_stride` bytes
// apart. Codes have at most kBits bits (any number with kVnni: instructions sum into 32 bits); activations are never -128.
template <int C, int kQuads, int kBits>
TR_INLINE void dot_columns(VecI (&acc)[C][2], const Quad *w, const int8_t *x, int column_stride) {
#if TR_VNNI
#pragma GCC unroll 8
    for (int t = 0; t < kQuads; t++) {
        const VecI w0 = load_i(w[t][0]), w1 = load_i(w[t][1]);
#pragma GCC unroll 8
        for (int c = 0; c < C; c++) {
            const VecI a = broadcast_word(x + c * column_stride + 4 * t);
            acc[c][0] = dot_u8s8(acc[c][0], w0, a);
            acc[c][1] = dot_u8s8(acc[c][1], w1, a);
        }
        keep_order();
    }
#else
    // Products go to 16 bits first. Quads that can be summed there without saturation: 2 * codes * 127 each, at most 32767.
    constexpr int kSum = kBits == 4 ? 8 : kBits == 5 ? 4 : 2;
    static_assert(kSum * 2 * ((1 << kBits) - 1) * 127 <= 32767);
    constexpr int kStep = kSum < kQuads ? kSum : kQuads;
    const VecI ones = set16(1);
    for (int s = 0; s < kQuads; s += kStep, w += kStep, x += 4 * kStep) {
        VecI sum[C][2];
#pragma GCC unroll 8
        for (int c = 0; c < C; c++) sum[c][0] = sum[c][1] = zero_i();
#pragma GCC unroll 8
        for (int t = 0; t < kStep; t++) {
            const VecI w0 = load_i(w[t][0]), w1 = load_i(w[t][1]);
#pragma GCC unroll 8
            for (int c = 0; c < C; c++) {
                const VecI a = broadcast_word(x + c * column_stride + 4 * t);
                sum[c][0] = add16(sum[c][0], products_u8s8(w0, a));
                sum[c][1] = add16(sum[c][1], products_u8s8(w1, a));
            }
            keep_order();
        }
#pragma GCC unroll 8
        for (int c = 0; c < C; c++) {
            acc[c][0] = dot_s16(acc[c][0], sum[c][0], ones);
            acc[c][1] = dot_s16(acc[c][1], sum[c][1], ones);
        }
    }
#endif
}

// Codes of eight bits, kSub sub-blocks of 4*kQuads k. Where 16-bit sums would saturate, their nibbles are apart.
template <int kSub, int kQuads> struct Bytes {
    alignas(64) Quad w[kSub][kQuads]; // the code, or its low nibble
#if !TR_VNNI
    alignas(64) Quad high[kSub][kQuads];
#endif
    TR_INLINE void put(int sub, int t, int v, VecI code) {
#if TR_VNNI
        store_i(w[sub][t][v], code);
#else
        store_i(w[sub][t][v], and_i(code, set8(0x0f)));
        store_i(high[sub][t][v], and_i(shift_right16<4>(code), set8(0x0f)));
#endif
    }
};

// acc[c][v] := start of column c + sum of codes * activations of sub-block `sub`. The starts are `column_stride` bytes apart too.
template <int C, int kSub, int kQuads>
TR_INLINE void dot_bytes(VecI (&acc)[C][2], const Bytes<kSub, kQuads> &codes, int sub, const int8_t *x, const int32_t *start, int column_stride) {
    const auto start_of = [&](int c) { return broadcast_word(reinterpret_cast<const uint8_t *>(start) + c * column_stride); };
#if TR_VNNI
#pragma GCC unroll 8
    for (int c = 0; c < C; c++) acc[c][0] = acc[c][1] = start_of(c);
#else
#pragma GCC unroll 8
    for (int c = 0; c < C; c++) acc[c][0] = acc[c][1] = zero_i();
    dot_columns<C, kQuads, 4>(acc, codes.high[sub], x, column_stride);
#pragma GCC unroll 8
    for (int c = 0; c < C; c++) {
        const VecI first = start_of(c);
        for (int v = 0; v < 2; v++) acc[c][v] = add32(shift_left32<4>(acc[c][v]), first);
    }
#endif
    dot_columns<C, kQuads, kVnni ? 8 : 4>(acc, codes.w[sub], x, column_stride);
}

} // namespace
} // namespace tr::cpu::TR_ISA
