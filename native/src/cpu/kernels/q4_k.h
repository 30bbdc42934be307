#pragma once
#include "cpu/kernels/dot.h"
#include "cpu/kernels/tile.h"

namespace tr::cpu::TR_ISA {
namespace {

struct FormatQ4K {
    using Record = RecordQ256;
    using Panel = PanelQ4K;
    static constexpr int kSteps = 8, kAhead = 2;

    struct Scratch {
        alignas(64) Quad w[8][8];                      // [sub-block][t]; odd sub-blocks times 16 with kVnni
        alignas(64) float scale[8][kTileRows];         // divided by the factor that the codes carry
        alignas(64) int32_t min_pairs[4][kTileRows];   // two int16: mins of sub-blocks as in RecordQ256::pair_sums
        alignas(64) float d[kTileRows], dmin[kTileRows];
    };

    TR_INLINE static void unpack(Scratch &s, const Panel *panels) {
        const VecI low4 = set8(0x0f), high4 = set8(0xf0), low6 = set8(0x3f), high2 = set8(0xc0), low8 = set16(0xff);
        for (int v = 0; v < 2; v++) {
            const Panel &p = panels[panel_of(v)];
            const int line = line_of(v), row = row_of(v), lane = v * kLanes;
            for (int j = 0; j < 4; j++)
#pragma GCC unroll 8
                for (int t = 0; t < 8; t++) {
                    const VecI x = load_i(p.codes[j][t] + line);
                    store_i(s.w[2 * j][t][v], and_i(x, low4));
                    // Shifting the high nibble down is left to the scale, except where 16-bit sums would saturate.
                    store_i(s.w[2 * j + 1][t][v], kVnni ? and_i(x, high4) : and_i(shift_right16<4>(x), low4));
                }

            alignas(64) uint8_t scale[8][16];
            for (int i = 0; i < 128; i += 4 * kLanes) store_i(scale[0] + i, and_i(load_i(p.scales[0] + i), low6));
            for (int j = 0; j < 8; j++) {
                VecF f = to_float(widen_u8(scale[j] + row));
                if (kVnni && j % 2) f = mul(f, set(1.0f / 16));
                store(s.scale[j] + lane, f);
            }

            const VecI a = load_i(p.scales[0] + line), b = load_i(p.scales[1] + line), c = load_i(p.scales[2] + line);
            const VecI first = and_i(c, low6); // mins 0-3, then 4-7, one per byte
            const VecI last = or_i(or_i(shift_right16<6>(and_i(a, high2)), shift_right16<4>(and_i(b, high2))),
                                   shift_right16<2>(and_i(c, high2)));
            store_i(s.min_pairs[0] + lane, and_i(first, low8));
            store_i(s.min_pairs[1] + lane, shift_right16<8>(first));
            store_i(s.min_pairs[2] + lane, and_i(last, low8));
            store_i(s.min_pairs[3] + lane, shift_right16<8>(last));
            store(s.d + lane, load_half(p.d + row));
            store(s.dmin + lane, load_half(p.dmin + row));
        }
    }

    // Per block: sum = sum over sub-blocks of scale*(codes . x), in order; then partial += (sum*d - dmin*(mins . sums of x)) * dx
    template <int C> __attribute__((noinline)) static void accumulate(const Scratch &s, const Record *x, float *partial, Prefetch &prefetch) {
        VecF sum[C][2];
#pragma GCC unroll 8
        for (int c = 0; c < C; c++) sum[c][0] = sum[c][1] = zero();
#pragma GCC unroll 1
        for (int j = 0; j < 8; j++) {
            prefetch.step();
            VecI dot[C][2];
#pragma GCC unroll 8
            for (int c = 0; c < C; c++) dot[c][0] = dot[c][1] = zero_i();
            dot_columns<C, 8, 4>(dot, s.w[j], x->q + 32 * j, sizeof(Record));
            const VecF f0 = load(s.scale[j]), f1 = load(s.scale[j] + kLanes);
#pragma GCC unroll 8
            for (int c = 0; c < C; c++) {
                sum[c][0] = fma(to_float(dot[c][0]), f0, sum[c][0]);
                sum[c][1] = fma(to_float(dot[c][1]), f1, sum[c][1]);
            }
        }
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++) {
            const int lane = v * kLanes;
            const VecF d = load(s.d + lane), dmin = load(s.dmin + lane);
            VecI pairs[4];
            for (int i = 0; i < 4; i++) pairs[i] = load_i(s.min_pairs[i] + lane);
#pragma GCC unroll 8
            for (int c = 0; c < C; c++) {
                VecI mins = zero_i();
                for (int i = 0; i < 4; i++) mins = dot_s16(mins, pairs[i], broadcast_word(x[c].pair_sums + i));
                const VecF block = fnma(to_float(mins), dmin, mul(sum[c][v], d));
                float *p = partial + c * kTileRows + lane;
                store(p, fma(block, broadcast(&x[c].d), load(p)));
            }
        }
    }
};

} // namespace
} // namespace tr::cpu::TR_ISA
