#pragma once
#include "cpu/kernels/blocks_32.h"

namespace tr::cpu::TR_ISA {
namespace {

struct FormatQ8_0 : Blocks32Bytes {
    using Panel = PanelQ8_0;
    TR_INLINE static void unpack(Scratch &s, const Panel *panels) {
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++) {
            const Panel &p = panels[panel_of(v)];
            for (int u = 0; u < 2; u++)
#pragma GCC unroll 8
                for (int t = 0; t < 8; t++) s.codes.put(u, t, v, load_i(p.codes[u][t] + line_of(v)));
            unpack_halves(s.scale, p.d, row_of(v), v * kLanes, 1);
        }
    }
};

} // namespace
} // namespace tr::cpu::TR_ISA
