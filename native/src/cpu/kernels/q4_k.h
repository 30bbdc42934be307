// Q4_K and Q5_K; IQ4_XS, whose codes lie as Q4_K's.
#pragma once
#include "cpu/kernels/blocks_256.h"
#include "cpu/kernels/five_bits.h"
#include "cpu/kernels/nibbles.h"

namespace tr::cpu::TR_ISA {
namespace {

struct FormatQ4K : Blocks256Min<4> {
    using Panel = PanelQ4K;
    TR_INLINE static void unpack(Scratch &s, const Panel *panels) {
        const VecI low4 = set8(0x0f), high4 = set8(0xf0);
        for (int v = 0; v < 2; v++) {
            const Panel &p = panels[panel_of(v)];
            for (int j = 0; j < 4; j++)
#pragma GCC unroll 8
                for (int t = 0; t < 8; t++) {
                    const VecI x = load_i(p.codes[j][t] + line_of(v));
                    store_i(s.w[2 * j][t][v], and_i(x, low4));
                    // Shifting the high nibble down is left to the scale, except where 16-bit sums would saturate.
                    store_i(s.w[2 * j + 1][t][v], kVnni ? and_i(x, high4) : and_i(shift_right16<4>(x), low4));
                }
            unpack_scales(s, p.scales, v, kNibbleFactor);
        }
    }
};

struct FormatQ5K : Blocks256Min<5> {
    using Panel = PanelQ5K;
    TR_INLINE static void unpack(Scratch &s, const Panel *panels) {
        for (int v = 0; v < 2; v++) {
            const Panel &p = panels[panel_of(v)];
            for (int j = 0; j < 4; j++) unpack_five_bits(s.w[2 * j], s.w[2 * j + 1], p.codes[j], v);
            unpack_scales(s, p.scales, v, kFiveBitsFactor);
        }
    }
};

struct FormatIQ4XS : Blocks256Bytes {
    using Panel = PanelIQ4XS;
    TR_INLINE static void unpack(Scratch &s, const Panel *panels) {
        const Lookup lookup(quant::kIQ4Values);
        for (int v = 0; v < 2; v++) {
            const Panel &p = panels[panel_of(v)];
            for (int j = 0; j < 4; j++)
#pragma GCC unroll 8
                for (int t = 0; t < 8; t++) {
                    const VecI x = load_i(p.codes[j][t] + line_of(v));
                    s.codes.put(2 * j, t, v, lookup.low(x));
                    s.codes.put(2 * j + 1, t, v, lookup.high(x));
                }
            // Scale j: four bits from bit 4j of the row's word, two more from bit 2j of its half word; less 32.
            VecI low = load_i(p.scales_l[row_of(v)]), high = shift_left32<4>(widen_u16(p.scales_h + row_of(v)));
            for (int j = 0; j < 8; j++) {
                const VecI scale = or_i(and_i(low, set32(0x0f)), and_i(high, set32(0x30)));
                store(s.scale[j] + v * kLanes, to_float(add32(scale, set32(-32))));
                low = shift_right32<4>(low);
                high = shift_right32<2>(high);
            }
            store(s.d + v * kLanes, load_half(p.d + row_of(v)));
        }
    }
};

} // namespace
} // namespace tr::cpu::TR_ISA
