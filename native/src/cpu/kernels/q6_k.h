#pragma once
#include "cpu/kernels/dot.h"
#include "cpu/kernels/tile.h"

namespace tr::cpu::TR_ISA {
namespace {

struct FormatQ6K {
    using Record = RecordQ256;
    using Panel = PanelQ6K;
    static constexpr int kSteps = 16, kAhead = 2;

    struct Scratch {
        alignas(64) Quad w[16][4];               // [sub-block][t]; odd sub-blocks times 4 with kVnni
        alignas(64) float scale[16][kTileRows];  // divided by the factor that the codes carry
        alignas(64) float d[kTileRows];
    };

    TR_INLINE static void unpack(Scratch &s, const Panel *panels) {
        const VecI low4 = set8(0x0f), high4 = set8(0xf0), bits45 = set8(0x30), bits23 = set8(0x0c);
        for (int v = 0; v < 2; v++) {
            const Panel &p = panels[panel_of(v)];
            const int line = line_of(v), row = row_of(v), lane = v * kLanes;
            for (int g = 0; g < 4; g++) {
                const PanelQ6K::Group &group = p.groups[g];
#pragma GCC unroll 4
                for (int t = 0; t < 4; t++) {
                    VecI rest = load_i(group.rest[t] + line);
#pragma GCC unroll 2
                    for (int pair = 0; pair < 2; pair++) {
                        const VecI low = load_i(group.low[pair][t] + line);
                        VecI odd = mask_or(low, high4, and_i(rest, bits23));
                        if (!kVnni) odd = shift_right16<2>(odd); // its low two bits are clear: none enter the next byte
                        store_i(s.w[4 * g + 2 * pair][t][v], mask_or(low, low4, and_i(rest, bits45)));
                        store_i(s.w[4 * g + 2 * pair + 1][t][v], odd);
                        rest = rotate_left32<4>(rest);
                    }
                }
            }
            for (int j = 0; j < 16; j++) {
                VecF f = to_float(widen_s8(p.scales[j] + row));
                if (kVnni && j % 2) f = mul(f, set(1.0f / 4));
                store(s.scale[j] + lane, f);
            }
            store(s.d + lane, load_half(p.d + row));
        }
    }

    // Per block: sum = sum over sub-blocks of scale*((codes-32) . x), in order; then partial += (sum*d) * dx
    template <int C> __attribute__((noinline)) static void accumulate(const Scratch &s, const Record *x, float *partial, Prefetch &prefetch) {
        VecF sum[C][2];
#pragma GCC unroll 8
        for (int c = 0; c < C; c++) sum[c][0] = sum[c][1] = zero();
#pragma GCC unroll 1
        for (int j = 0; j < 16; j++) {
            prefetch.step<C == 1 ? _MM_HINT_T0 : _MM_HINT_T1>(); // one column has little to compute: a tenth faster so
            VecI dot[C][2];
#pragma GCC unroll 8
            for (int c = 0; c < C; c++) dot[c][0] = dot[c][1] = broadcast_word(x[c].start_q6 + j);
            dot_columns<C, 4, 6>(dot, s.w[j], x->q + 16 * j, sizeof(Record));
            const VecF f0 = load(s.scale[j]), f1 = load(s.scale[j] + kLanes);
#pragma GCC unroll 8
            for (int c = 0; c < C; c++) {
                sum[c][0] = fma(to_float(dot[c][0]), f0, sum[c][0]);
                sum[c][1] = fma(to_float(dot[c][1]), f1, sum[c][1]);
            }
        }
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++) {
            const VecF d = load(s.d + v * kLanes);
#pragma GCC unroll 8
            for (int c = 0; c < C; c++) {
                float *p = partial + c * kTileRows + v * kLanes;
                store(p, fma(mul(sum[c][v], d), broadcast(&x[c].d), load(p)));
            }
        }
    }
};

} // namespace
} // namespace tr::cpu::TR_ISA
