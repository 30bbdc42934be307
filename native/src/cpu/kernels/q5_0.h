#pragma once
#include "cpu/kernels/dot.h"
#include "cpu/kernels/tile.h"

namespace tr::cpu::TR_ISA {
namespace {

struct FormatQ5_0 {
    using Record = RecordQ32;
    using Panel = PanelQ5_0;
    static constexpr int kSteps = 2, kAhead = 8;

    struct Scratch {
        alignas(64) Quad w[2][8];             // [block][t]; block 1 times 8 with kVnni
        alignas(64) float scale[2][kTileRows];
    };

    TR_INLINE static void unpack(Scratch &s, const Panel *panels) {
        const VecI low4 = set8(0x0f), high4 = set8(0xf0), bit4 = set8(0x10), bit3 = set8(0x08);
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++) {
            const Panel &p = panels[panel_of(v)];
            const int line = line_of(v), row = row_of(v), lane = v * kLanes;
#pragma GCC unroll 8
            for (int t = 0; t < 8; t++) {
                const VecI first = load_i(p.rest[t / 4] + line);
                const VecI rest = t % 4 == 0 ? first : t % 4 == 1 ? rotate_left32<2>(first) : t % 4 == 2 ? rotate_left32<4>(first) : rotate_left32<6>(first);
                const VecI low = load_i(p.low[t] + line);
                VecI odd = mask_or(low, high4, and_i(rest, bit3));
                if (!kVnni) odd = shift_right16<3>(odd);
                store_i(s.w[0][t][v], mask_or(low, low4, and_i(rest, bit4)));
                store_i(s.w[1][t][v], odd);
            }
            store(s.scale[0] + lane, load_half(p.d[0] + row));
            const VecF d = load_half(p.d[1] + row);
            store(s.scale[1] + lane, kVnni ? mul(d, set(1.0f / 8)) : d);
        }
    }

    // Per block of 32: partial += ((codes-16) . x * dx) * d
    template <int C> __attribute__((noinline)) static void accumulate(const Scratch &s, const Record *x, float *partial, Prefetch &prefetch) {
#pragma GCC unroll 2
        for (int u = 0; u < 2; u++) {
            prefetch.step();
            VecI dot[C][2];
#pragma GCC unroll 8
            for (int c = 0; c < C; c++) dot[c][0] = dot[c][1] = broadcast_word(x[c].start_q5 + u);
            dot_columns<C, 8, 5>(dot, s.w[u], x->q + 32 * u, sizeof(Record));
            add_scaled(dot, s.scale[u], x, u, partial);
        }
    }

    template <int C> TR_INLINE static void add_scaled(VecI (&dot)[C][2], const float *scale, const Record *x, int u, float *partial) {
        const VecF f0 = load(scale), f1 = load(scale + kLanes);
#pragma GCC unroll 8
        for (int c = 0; c < C; c++) {
            const VecF dx = broadcast(x[c].d + u);
            float *p = partial + c * kTileRows;
            store(p, fma(mul(to_float(dot[c][0]), dx), f0, load(p)));
            store(p + kLanes, fma(mul(to_float(dot[c][1]), dx), f1, load(p + kLanes)));
        }
    }
};

} // namespace
} // namespace tr::cpu::TR_ISA
