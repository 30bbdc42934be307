// Codes of four bits in blocks of 32: Q4_0, Q4_1, IQ4_NL, MXFP4.
#include "cpu/pack/pack.h"

namespace tr::cpu {

namespace {

template <class Block> void pack_codes(const Block blocks[2], int row, uint8_t (&codes)[8][64]) {
    uint8_t code[2][32];
    for (int u = 0; u < 2; u++) unpack_codes(blocks[u], code[u]);
    for (int t = 0; t < 8; t++) store_word(codes[t] + 4 * row, load_word(code[0] + 4 * t) | load_word(code[1] + 4 * t) << 4);
}

template <class Block> void unpack_codes_into(const uint8_t (&codes)[8][64], int row, Block blocks[2]) {
    for (int t = 0; t < 4; t++) { // nibbles 4t.. and 16+4t.. of a block share bytes
        const uint32_t first = load_word(codes[t] + 4 * row), last = load_word(codes[t + 4] + 4 * row);
        store_word(blocks[0].qs + 4 * t, (first & 0x0f0f0f0f) | (last & 0x0f0f0f0f) << 4);
        store_word(blocks[1].qs + 4 * t, (first >> 4 & 0x0f0f0f0f) | (last & 0xf0f0f0f0));
    }
}

} // namespace

void pack_row(const quant::BlockQ4_0 blocks[2], int row, PanelQ4_0 &panel) {
    pack_codes(blocks, row, panel.codes);
    for (int u = 0; u < 2; u++) panel.d[u][row] = blocks[u].d;
}

void unpack_row(const PanelQ4_0 &panel, int row, quant::BlockQ4_0 blocks[2]) {
    unpack_codes_into(panel.codes, row, blocks);
    for (int u = 0; u < 2; u++) blocks[u].d = panel.d[u][row];
}

void pack_row(const quant::BlockIQ4_NL blocks[2], int row, PanelQ4_0 &panel) {
    pack_codes(blocks, row, panel.codes);
    for (int u = 0; u < 2; u++) panel.d[u][row] = blocks[u].d;
}

void unpack_row(const PanelQ4_0 &panel, int row, quant::BlockIQ4_NL blocks[2]) {
    unpack_codes_into(panel.codes, row, blocks);
    for (int u = 0; u < 2; u++) blocks[u].d = panel.d[u][row];
}

void pack_row(const quant::BlockQ4_1 blocks[2], int row, PanelQ4_1 &panel) {
    pack_codes(blocks, row, panel.codes);
    for (int u = 0; u < 2; u++) {
        panel.d[u][row] = blocks[u].d;
        panel.m[u][row] = blocks[u].m;
    }
}

void unpack_row(const PanelQ4_1 &panel, int row, quant::BlockQ4_1 blocks[2]) {
    unpack_codes_into(panel.codes, row, blocks);
    for (int u = 0; u < 2; u++) {
        blocks[u].d = panel.d[u][row];
        blocks[u].m = panel.m[u][row];
    }
}

void pack_row(const quant::BlockMXFP4 blocks[2], int row, PanelMXFP4 &panel) {
    pack_codes(blocks, row, panel.codes);
    for (int u = 0; u < 2; u++) panel.e[u][row] = blocks[u].e;
}

void unpack_row(const PanelMXFP4 &panel, int row, quant::BlockMXFP4 blocks[2]) {
    unpack_codes_into(panel.codes, row, blocks);
    for (int u = 0; u < 2; u++) blocks[u].e = panel.e[u][row];
}

} // namespace tr::cpu
