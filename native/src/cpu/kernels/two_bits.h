// Q2_K and Q3_K.
#pragma once
#include "cpu/kernels/blocks_256.h"

namespace tr::cpu::TR_ISA {
namespace {

// The two bits at 2s of every byte.
template <int s> TR_INLINE VecI two_bits(VecI x) { return and_i(shift_right16<2 * s>(x), set8(0x03)); }

// Codes 0..7, offset 4. They go in times 8, so that the offset is the 32 of Blocks256x16, and its start serves; odd
// sub-blocks' times 4 on top, as there.
struct FormatQ3K : Blocks256x16 {
    using Panel = PanelQ3K;

    template <int s> TR_INLINE static void put(Scratch &to, int g, int t, int v, VecI low, VecI high) {
        // The third bit is bit s of `high`: to bit 2.
        const VecI code = or_i(two_bits<s>(low), shift_left32<2>(and_i(shift_right16<s>(high), set8(0x01))));
        store_i(to.w[4 * g + s][t][v], shift_left32<kVnni && s % 2 ? 5 : 3>(code));
    }

    TR_INLINE static void unpack(Scratch &s, const Panel *panels) {
        for (int v = 0; v < 2; v++) {
            const Panel &p = panels[panel_of(v)];
            const int line = line_of(v), row = row_of(v), lane = v * kLanes;
            for (int g = 0; g < 4; g++)
#pragma GCC unroll 4
                for (int t = 0; t < 4; t++) {
                    const VecI low = load_i(p.codes[g][t] + line), both = load_i(p.high[g / 2][t] + line);
                    const VecI high = g % 2 ? shift_right16<4>(both) : both;
                    put<0>(s, g, t, v, low, high);
                    put<1>(s, g, t, v, low, high);
                    put<2>(s, g, t, v, low, high);
                    put<3>(s, g, t, v, low, high);
                }
            // Scale j: the low or high nibble of byte j%8, and two bits more from byte 8+j%4; less 32.
            for (int j = 0; j < 4; j++) {
                const VecI first = widen_u8(p.scales[j] + row), second = widen_u8(p.scales[j + 4] + row);
                VecI high = shift_left32<4>(widen_u8(p.scales[8 + j] + row));
                const VecI low[4] = {first, second, shift_right32<4>(first), shift_right32<4>(second)};
                for (int i = 0; i < 4; i++) { // sub-block j + 4i: odd where j is
                    const VecI scale = or_i(and_i(low[i], set32(0x0f)), and_i(high, set32(0x30)));
                    store(s.scale[j + 4 * i] + lane, mul(to_float(add32(scale, set32(-32))), set(kVnni && j % 2 ? 1.0f / 32 : 1.0f / 8)));
                    high = shift_right32<2>(high);
                }
            }
            store(s.d + lane, load_half(p.d + row));
        }
    }
};

// 16 sub-blocks of 16 k, each with a scale and a minimum. Per block: sum = sum over sub-blocks of scale*(codes . x), in order;
// then partial += (sum*d - dmin*(mins . sums of x)) * dx
struct FormatQ2K {
    using Record = RecordQ256;
    using Panel = PanelQ2K;
    static constexpr int kSteps = 16, kAhead = 2;

    struct Scratch {
        alignas(64) Quad w[16][4];
        alignas(64) float scale[16][kTileRows];
        alignas(64) float min[16][kTileRows]; // divided by what start_32 is of minus the sum of x
        alignas(64) float d[kTileRows], dmin[kTileRows];
    };

    TR_INLINE static void unpack(Scratch &s, const Panel *panels) {
        for (int v = 0; v < 2; v++) {
            const Panel &p = panels[panel_of(v)];
            const int row = row_of(v), lane = v * kLanes;
            for (int g = 0; g < 4; g++)
#pragma GCC unroll 4
                for (int t = 0; t < 4; t++) {
                    const VecI x = load_i(p.codes[g][t] + line_of(v));
                    store_i(s.w[4 * g][t][v], two_bits<0>(x));
                    store_i(s.w[4 * g + 1][t][v], two_bits<1>(x));
                    store_i(s.w[4 * g + 2][t][v], two_bits<2>(x));
                    store_i(s.w[4 * g + 3][t][v], two_bits<3>(x));
                }
            for (int j = 0; j < 16; j++) {
                const VecI both = widen_u8(p.scales[j] + row);
                store(s.scale[j] + lane, to_float(and_i(both, set32(0x0f))));
                store(s.min[j] + lane, mul(to_float(shift_right32<4>(both)), set(kVnni && j % 2 ? 1.0f / 128 : 1.0f / 32)));
            }
            store(s.d + lane, load_half(p.d + row));
            store(s.dmin + lane, load_half(p.dmin + row));
        }
    }

    template <int C> __attribute__((noinline)) static void accumulate(const Scratch &s, const Record *x, float *partial, Prefetch &prefetch) {
        VecF sum[C][2];
        clear(sum);
#pragma GCC unroll 1
        for (int j = 0; j < 16; j++) {
            prefetch.step();
            VecI dot[C][2];
#pragma GCC unroll 8
            for (int c = 0; c < C; c++) dot[c][0] = dot[c][1] = zero_i();
            dot_columns<C, 4, 4>(dot, s.w[j], x->q + 16 * j, sizeof(Record));
            add_scaled(sum, dot, s.scale[j]);
        }
        for (int c = 0; c < C; c++) {
            // Minus the minimums' part: integers below 2^24 in float arithmetic, so any order is exact.
            VecF mins[2] = {zero(), zero()};
#pragma GCC unroll 4
            for (int j = 0; j < 16; j++) {
                const VecF start = to_float(broadcast_word(x[c].start_32 + j));
                mins[0] = fma(start, load(s.min[j]), mins[0]);
                mins[1] = fma(start, load(s.min[j] + kLanes), mins[1]);
            }
#pragma GCC unroll 2
            for (int v = 0; v < 2; v++) {
                const VecF block = fma(mins[v], load(s.dmin + v * kLanes), mul(sum[c][v], load(s.d + v * kLanes)));
                float *p = partial + c * kTileRows + v * kLanes;
                store(p, fma(block, broadcast(&x[c].d), load(p)));
            }
        }
    }
};

} // namespace
} // namespace tr::cpu::TR_ISA
