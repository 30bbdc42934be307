// Codes of five bits in blocks of 32: Q5_0, Q5_1.
#pragma once
#include "cpu/kernels/blocks_32.h"

namespace tr::cpu::TR_ISA {
namespace {

constexpr float kFiveBitsFactor = kVnni ? 8 : 1; // of block 1's codes

// first[t][v] and second[t][v] := vector v of line t of two sub-blocks' codes, the second's times kFiveBitsFactor.
TR_INLINE void unpack_five_bits(Quad (&first)[8], Quad (&second)[8], const FiveBits &codes, int v) {
    const VecI low4 = set8(0x0f), high4 = set8(0xf0), bit4 = set8(0x10), bit3 = set8(0x08);
#pragma GCC unroll 8
    for (int t = 0; t < 8; t++) {
        const VecI all = load_i(codes.rest[t / 4] + line_of(v));
        const VecI rest = t % 4 == 0 ? all : t % 4 == 1 ? rotate_left32<2>(all) : t % 4 == 2 ? rotate_left32<4>(all) : rotate_left32<6>(all);
        const VecI low = load_i(codes.low[t] + line_of(v));
        VecI odd = mask_or(low, high4, and_i(rest, bit3));
        if (!kVnni) odd = shift_right16<3>(odd); // its low three bits are clear: none enter the next byte
        store_i(first[t][v], mask_or(low, low4, and_i(rest, bit4)));
        store_i(second[t][v], odd);
    }
}

struct FormatQ5_0 : Blocks32<5, &RecordQ32::start_16> {
    using Panel = PanelQ5_0;
    TR_INLINE static void unpack(Scratch &s, const Panel *panels) {
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++) {
            const Panel &p = panels[panel_of(v)];
            unpack_five_bits(s.w[0], s.w[1], p.codes, v);
            unpack_halves(s.scale, p.d, row_of(v), v * kLanes, kFiveBitsFactor);
        }
    }
};

struct FormatQ5_1 : Blocks32Min<5> {
    using Panel = PanelQ5_1;
    TR_INLINE static void unpack(Scratch &s, const Panel *panels) {
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++) {
            const Panel &p = panels[panel_of(v)];
            unpack_five_bits(s.w[0], s.w[1], p.codes, v);
            unpack_halves(s.scale, p.d, row_of(v), v * kLanes, kFiveBitsFactor);
            unpack_halves(s.min, p.m, row_of(v), v * kLanes, 1);
        }
    }
};

} // namespace
} // namespace tr::cpu::TR_ISA
