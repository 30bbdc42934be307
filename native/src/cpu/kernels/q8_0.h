#pragma once
#include "cpu/kernels/q5_0.h"

namespace tr::cpu::TR_ISA {
namespace {

struct FormatQ8_0 {
    using Record = RecordQ32;
    using Panel = PanelQ8_0;
    static constexpr int kSteps = 2, kAhead = 8;

    struct Scratch {
        alignas(64) Quad w[2][8];             // [block][t]: code + 128, or its low nibble where 16-bit sums would saturate
#if !TR_VNNI
        alignas(64) Quad high[2][8];          // its high nibble
#endif
        alignas(64) float scale[2][kTileRows];
    };

    TR_INLINE static void unpack(Scratch &s, const Panel *panels) {
        const VecI low4 = set8(0x0f);
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++) {
            const Panel &p = panels[panel_of(v)];
            const int line = line_of(v), row = row_of(v);
            for (int u = 0; u < 2; u++) {
#pragma GCC unroll 8
                for (int t = 0; t < 8; t++) {
                    const VecI x = load_i(p.codes[u][t] + line);
                    store_i(s.w[u][t][v], kVnni ? x : and_i(x, low4));
#if !TR_VNNI
                    store_i(s.high[u][t][v], and_i(shift_right16<4>(x), low4));
#endif
                }
                store(s.scale[u] + v * kLanes, load_half(p.d[u] + row));
            }
        }
    }

    // Per block of 32: partial += (codes . x * dx) * d
    template <int C> __attribute__((noinline)) static void accumulate(const Scratch &s, const Record *x, float *partial, Prefetch &prefetch) {
#pragma GCC unroll 2
        for (int u = 0; u < 2; u++) {
            prefetch.step();
            VecI dot[C][2];
#if TR_VNNI
#pragma GCC unroll 8
            for (int c = 0; c < C; c++) dot[c][0] = dot[c][1] = broadcast_word(x[c].start_q8 + u);
            dot_columns<C, 8, 8>(dot, s.w[u], x->q + 32 * u, sizeof(Record));
#else
#pragma GCC unroll 8
            for (int c = 0; c < C; c++) dot[c][0] = dot[c][1] = zero_i();
            dot_columns<C, 8, 4>(dot, s.high[u], x->q + 32 * u, sizeof(Record));
#pragma GCC unroll 8
            for (int c = 0; c < C; c++) {
                const VecI start = broadcast_word(x[c].start_q8 + u);
                for (int v = 0; v < 2; v++) dot[c][v] = add32(shift_left32<4>(dot[c][v]), start);
            }
            dot_columns<C, 8, 4>(dot, s.w[u], x->q + 32 * u, sizeof(Record));
#endif
            FormatQ5_0::add_scaled(dot, s.scale[u], x, u, partial);
        }
    }
};

} // namespace
} // namespace tr::cpu::TR_ISA
