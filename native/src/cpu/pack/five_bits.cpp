// Codes of five bits: Q5_0, Q5_1, Q5_K.
#include "cpu/pack/pack.h"

namespace tr::cpu {

namespace {

// Q5_0 and Q5_1 have their bits in the same fields.
template <class Block> void pack_codes(const Block blocks[2], int row, FiveBits &codes) {
    uint8_t code[2][32];
    for (int u = 0; u < 2; u++) unpack_codes(blocks[u], code[u]);
    pack_five_bits(code[0], code[1], row, codes);
}

template <class Block> void unpack_codes_into(const FiveBits &codes, int row, Block blocks[2]) {
    uint8_t code[2][32];
    unpack_five_bits(codes, row, code[0], code[1]);
    for (int u = 0; u < 2; u++) {
        uint32_t high = 0;
        for (int i = 0; i < 32; i++) high |= static_cast<uint32_t>(code[u][i] >> 4) << i;
        store_word(blocks[u].qh, high);
        for (int i = 0; i < 16; i++) blocks[u].qs[i] = static_cast<uint8_t>((code[u][i] & 15) | (code[u][i + 16] & 15) << 4);
    }
}

} // namespace

void pack_five_bits(const uint8_t first[32], const uint8_t second[32], int row, FiveBits &codes) {
    for (int v = 0; v < 2; v++) {
        uint32_t rest = 0;
        for (int t = 4 * v; t < 4 * v + 4; t++) {
            const uint32_t c0 = load_word(first + 4 * t), c1 = load_word(second + 4 * t);
            store_word(codes.low[t] + 4 * row, (c0 & 0x0f0f0f0f) | (c1 & 0x1e1e1e1e) << 3);
            rest |= std::rotr((c0 & 0x10101010) | (c1 & 0x01010101) << 3, 2 * (t % 4));
        }
        store_word(codes.rest[v] + 4 * row, rest);
    }
}

void unpack_five_bits(const FiveBits &codes, int row, uint8_t first[32], uint8_t second[32]) {
    for (int t = 0; t < 8; t++) {
        const uint32_t low = load_word(codes.low[t] + 4 * row);
        const uint32_t rest = std::rotl(load_word(codes.rest[t / 4] + 4 * row), 2 * (t % 4));
        store_word(first + 4 * t, (low & 0x0f0f0f0f) | (rest & 0x10101010));
        store_word(second + 4 * t, ((low & 0xf0f0f0f0) | (rest & 0x08080808)) >> 3);
    }
}

void pack_row(const quant::BlockQ5_0 blocks[2], int row, PanelQ5_0 &panel) {
    pack_codes(blocks, row, panel.codes);
    for (int u = 0; u < 2; u++) panel.d[u][row] = blocks[u].d;
}

void unpack_row(const PanelQ5_0 &panel, int row, quant::BlockQ5_0 blocks[2]) {
    unpack_codes_into(panel.codes, row, blocks);
    for (int u = 0; u < 2; u++) blocks[u].d = panel.d[u][row];
}

void pack_row(const quant::BlockQ5_1 blocks[2], int row, PanelQ5_1 &panel) {
    pack_codes(blocks, row, panel.codes);
    for (int u = 0; u < 2; u++) {
        panel.d[u][row] = blocks[u].d;
        panel.m[u][row] = blocks[u].m;
    }
}

void unpack_row(const PanelQ5_1 &panel, int row, quant::BlockQ5_1 blocks[2]) {
    unpack_codes_into(panel.codes, row, blocks);
    for (int u = 0; u < 2; u++) {
        blocks[u].d = panel.d[u][row];
        blocks[u].m = panel.m[u][row];
    }
}

void pack_row(const quant::BlockQ5_K &block, int row, PanelQ5K &panel) {
    uint8_t code[256];
    unpack_codes(block, code);
    for (int j = 0; j < 4; j++) pack_five_bits(code + 64 * j, code + 64 * j + 32, row, panel.codes[j]);
    pack_scales(block.scales, block.d, block.dmin, row, panel.scales);
}

void unpack_row(const PanelQ5K &panel, int row, quant::BlockQ5_K &block) {
    uint8_t code[256];
    for (int j = 0; j < 4; j++) unpack_five_bits(panel.codes[j], row, code + 64 * j, code + 64 * j + 32);
    for (int i = 0; i < 32; i++) {
        block.qh[i] = 0;
        for (int j = 0; j < 8; j++) block.qh[i] |= static_cast<uint8_t>((code[32 * j + i] >> 4) << j);
        for (int j = 0; j < 4; j++)
            block.qs[32 * j + i] = static_cast<uint8_t>((code[64 * j + i] & 15) | (code[64 * j + 32 + i] & 15) << 4);
    }
    unpack_scales(panel.scales, row, block.scales, block.d, block.dmin);
}

} // namespace tr::cpu
