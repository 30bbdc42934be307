// Q4_K, the scales it shares with Q5_K, and IQ4_XS, whose codes lie as Q4_K's.
#include "cpu/pack/pack.h"

namespace tr::cpu {

void pack_scales(const uint8_t packed[12], uint16_t d, uint16_t dmin, int row, ScalesAndMins &scales) {
    uint8_t scale[8], min[8];
    quant::unpack_scales(packed, scale, min);
    for (int j = 0; j < 8; j++) scales.lines[j / 4][16 * (j % 4) + row] |= scale[j];
    for (int i = 0; i < 4; i++) {
        scales.lines[2][4 * row + i] |= min[i];
        for (int p = 0; p < 3; p++) scales.lines[p][4 * row + i] |= static_cast<uint8_t>((min[4 + i] >> 2 * p & 3) << 6);
    }
    scales.d[row] = d;
    scales.dmin[row] = dmin;
}

void unpack_scales(const ScalesAndMins &scales, int row, uint8_t packed[12], uint16_t &d, uint16_t &dmin) {
    uint8_t scale[8], min[8];
    for (int j = 0; j < 8; j++) scale[j] = scales.lines[j / 4][16 * (j % 4) + row] & 63;
    for (int i = 0; i < 4; i++) {
        min[i] = scales.lines[2][4 * row + i] & 63;
        min[4 + i] = 0;
        for (int p = 0; p < 3; p++) min[4 + i] |= static_cast<uint8_t>((scales.lines[p][4 * row + i] >> 6) << 2 * p);
    }
    quant::pack_scales(scale, min, packed);
    d = scales.d[row];
    dmin = scales.dmin[row];
}

void pack_row(const quant::BlockQ4_K &block, int row, PanelQ4K &panel) {
    for (int j = 0; j < 4; j++)
        for (int t = 0; t < 8; t++) store_word(panel.codes[j][t] + 4 * row, load_word(block.qs + 32 * j + 4 * t));
    pack_scales(block.scales, block.d, block.dmin, row, panel.scales);
}

void unpack_row(const PanelQ4K &panel, int row, quant::BlockQ4_K &block) {
    for (int j = 0; j < 4; j++)
        for (int t = 0; t < 8; t++) store_word(block.qs + 32 * j + 4 * t, load_word(panel.codes[j][t] + 4 * row));
    unpack_scales(panel.scales, row, block.scales, block.d, block.dmin);
}

void pack_row(const quant::BlockIQ4_XS &block, int row, PanelIQ4XS &panel) {
    uint8_t code[256];
    unpack_codes(block, code);
    for (int j = 0; j < 4; j++)
        for (int t = 0; t < 8; t++) {
            const uint8_t *low = code + 64 * j + 4 * t;
            store_word(panel.codes[j][t] + 4 * row, load_word(low) | load_word(low + 32) << 4);
        }
    store_word(panel.scales_l[row], load_word(block.scales_l));
    panel.scales_h[row] = block.scales_h;
    panel.d[row] = block.d;
}

void unpack_row(const PanelIQ4XS &panel, int row, quant::BlockIQ4_XS &block) {
    for (int j = 0; j < 4; j++)
        for (int t = 0; t < 4; t++) { // within a sub-block, nibbles 4t.. and 16+4t.. share bytes
            const uint32_t first = load_word(panel.codes[j][t] + 4 * row), last = load_word(panel.codes[j][t + 4] + 4 * row);
            store_word(block.qs + 32 * j + 4 * t, (first & 0x0f0f0f0f) | (last & 0x0f0f0f0f) << 4);
            store_word(block.qs + 32 * j + 16 + 4 * t, (first >> 4 & 0x0f0f0f0f) | (last & 0xf0f0f0f0));
        }
    store_word(block.scales_l, load_word(panel.scales_l[row]));
    block.scales_h = panel.scales_h[row];
    block.d = panel.d[row];
}

} // namespace tr::cpu
