// Codes of four bits in blocks of 32: Q4_0 and Q4_1 as they are, IQ4_NL and MXFP4 through a table.
#pragma once
#include "cpu/kernels/blocks_32.h"
#include "quant/blocks.h"

namespace tr::cpu::TR_ISA {
namespace {

constexpr float kNibbleFactor = kVnni ? 16 : 1; // of block 1: the high nibble stays where it is

template <class Scratch> TR_INLINE void unpack_nibbles(Scratch &s, const uint8_t (&codes)[8][64], int v) {
    const VecI low4 = set8(0x0f), high4 = set8(0xf0);
#pragma GCC unroll 8
    for (int t = 0; t < 8; t++) {
        const VecI x = load_i(codes[t] + line_of(v));
        store_i(s.w[0][t][v], and_i(x, low4));
        store_i(s.w[1][t][v], kVnni ? and_i(x, high4) : and_i(shift_right16<4>(x), low4));
    }
}

struct FormatQ4_0 : Blocks32<4, &RecordQ32::start_8> {
    using Panel = PanelQ4_0;
    TR_INLINE static void unpack(Scratch &s, const Panel *panels) {
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++) {
            const Panel &p = panels[panel_of(v)];
            unpack_nibbles(s, p.codes, v);
            unpack_halves(s.scale, p.d, row_of(v), v * kLanes, kNibbleFactor);
        }
    }
};

struct FormatQ4_1 : Blocks32Min<4> {
    using Panel = PanelQ4_1;
    TR_INLINE static void unpack(Scratch &s, const Panel *panels) {
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++) {
            const Panel &p = panels[panel_of(v)];
            unpack_nibbles(s, p.codes, v);
            unpack_halves(s.scale, p.d, row_of(v), v * kLanes, kNibbleFactor);
            unpack_halves(s.min, p.m, row_of(v), v * kLanes, 1);
        }
    }
};

// 128 more than what the nibbles of `x` stand for, low and high ones.
struct Lookup {
    VecI table;
    explicit TR_INLINE Lookup(const int8_t (&values)[16]) : table(xor_i(repeat16(values), set8(0x80))) {}
    TR_INLINE VecI low(VecI x) const { return shuffle16(table, and_i(x, set8(0x0f))); }
    TR_INLINE VecI high(VecI x) const { return shuffle16(table, and_i(shift_right16<4>(x), set8(0x0f))); }
};

TR_INLINE void unpack_values(Blocks32Bytes::Scratch &s, const uint8_t (&codes)[8][64], int v, const Lookup &lookup) {
#pragma GCC unroll 8
    for (int t = 0; t < 8; t++) {
        const VecI x = load_i(codes[t] + line_of(v));
        s.codes.put(0, t, v, lookup.low(x));
        s.codes.put(1, t, v, lookup.high(x));
    }
}

struct FormatIQ4_NL : Blocks32Bytes {
    using Panel = PanelQ4_0;
    TR_INLINE static void unpack(Scratch &s, const Panel *panels) {
        const Lookup lookup(quant::kIQ4Values);
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++) {
            const Panel &p = panels[panel_of(v)];
            unpack_values(s, p.codes, v, lookup);
            unpack_halves(s.scale, p.d, row_of(v), v * kLanes, 1);
        }
    }
};

struct FormatMXFP4 : Blocks32Bytes {
    using Panel = PanelMXFP4;
    TR_INLINE static void unpack(Scratch &s, const Panel *panels) {
        const Lookup lookup(quant::kMXFP4Values);
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++) {
            const Panel &p = panels[panel_of(v)];
            unpack_values(s, p.codes, v, lookup);
            for (int u = 0; u < 2; u++) {
                // Half of 2^(e-127). An exponent of 0 would make zero: 2^-127 takes its place, which is no normal float.
                const VecI power = max32(shift_left32<23>(widen_u8(p.e[u] + row_of(v))), set32(0x00400000));
                store(s.scale[u] + v * kLanes, mul(from_bits(power), set(0.5f)));
            }
        }
    }
};

} // namespace
} // namespace tr::cpu::TR_ISA
