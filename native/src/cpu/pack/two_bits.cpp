// Q2_K and Q3_K.
#include "cpu/pack/pack.h"

namespace tr::cpu {

namespace {

// Bits 2s of byte i of codes[g][t] <-> code 64g + 16s + 4t + i.
void pack_codes(const uint8_t code[256], int row, uint8_t (&codes)[4][4][64]) {
    for (int g = 0; g < 4; g++)
        for (int t = 0; t < 4; t++) {
            uint32_t word = 0;
            for (int s = 0; s < 4; s++) word |= (load_word(code + 64 * g + 16 * s + 4 * t) & 0x03030303) << 2 * s;
            store_word(codes[g][t] + 4 * row, word);
        }
}

void unpack_codes_into(const uint8_t (&codes)[4][4][64], int row, uint8_t qs[64]) {
    for (int i = 0; i < 64; i++) qs[i] = 0;
    for (int k = 0; k < 256; k++) {
        const int code = codes[k / 64][k % 16 / 4][4 * row + k % 4] >> 2 * (k % 64 / 16) & 3;
        qs[k / 128 * 32 + k % 32] |= static_cast<uint8_t>(code << 2 * (k % 128 / 32)); // see quant::unpack_codes
    }
}

} // namespace

void pack_row(const quant::BlockQ2_K &block, int row, PanelQ2K &panel) {
    uint8_t code[256];
    unpack_codes(block, code);
    pack_codes(code, row, panel.codes);
    for (int s = 0; s < 16; s++) panel.scales[s][row] = block.scales[s];
    panel.d[row] = block.d;
    panel.dmin[row] = block.dmin;
}

void unpack_row(const PanelQ2K &panel, int row, quant::BlockQ2_K &block) {
    unpack_codes_into(panel.codes, row, block.qs);
    for (int s = 0; s < 16; s++) block.scales[s] = panel.scales[s][row];
    block.d = panel.d[row];
    block.dmin = panel.dmin[row];
}

void pack_row(const quant::BlockQ3_K &block, int row, PanelQ3K &panel) {
    uint8_t code[256];
    unpack_codes(block, code);
    pack_codes(code, row, panel.codes);
    for (int g = 0; g < 4; g++)
        for (int t = 0; t < 4; t++) {
            uint8_t *line = panel.high[g / 2][t] + 4 * row;
            uint32_t word = load_word(line);
            for (int s = 0; s < 4; s++) word |= (load_word(code + 64 * g + 16 * s + 4 * t) >> 2 & 0x01010101) << (4 * (g % 2) + s);
            store_word(line, word);
        }
    for (int i = 0; i < 12; i++) panel.scales[i][row] = block.scales[i];
    panel.d[row] = block.d;
}

void unpack_row(const PanelQ3K &panel, int row, quant::BlockQ3_K &block) {
    unpack_codes_into(panel.codes, row, block.qs);
    for (int i = 0; i < 32; i++) block.hmask[i] = 0;
    for (int k = 0; k < 256; k++) {
        const int g = k / 64, bit = panel.high[g / 2][k % 16 / 4][4 * row + k % 4] >> (4 * (g % 2) + k % 64 / 16) & 1;
        block.hmask[k % 32] |= static_cast<uint8_t>(bit << k / 32);
    }
    for (int i = 0; i < 12; i++) block.scales[i] = panel.scales[i][row];
    block.d = panel.d[row];
}

} // namespace tr::cpu
