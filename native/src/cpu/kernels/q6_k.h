#pragma once
#include "cpu/kernels/blocks_256.h"

namespace tr::cpu::TR_ISA {
namespace {

struct FormatQ6K : Blocks256x16 {
    using Panel = PanelQ6K;
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
};

} // namespace
} // namespace tr::cpu::TR_ISA
