#include "cpu/pack/pack.h"

namespace tr::cpu {

void pack_row(const quant::BlockQ4_K &block, int row, PanelQ4K &panel) {
    for (int j = 0; j < 4; j++)
        for (int t = 0; t < 8; t++) store_word(panel.codes[j][t] + 4 * row, load_word(block.qs + 32 * j + 4 * t));

    uint8_t scale[8], min[8];
    unpack_scales(block, scale, min);
    for (int j = 0; j < 8; j++) panel.scales[j / 4][16 * (j % 4) + row] |= scale[j];
    for (int i = 0; i < 4; i++) {
        panel.scales[2][4 * row + i] |= min[i];
        for (int p = 0; p < 3; p++) panel.scales[p][4 * row + i] |= static_cast<uint8_t>((min[4 + i] >> 2 * p & 3) << 6);
    }
    panel.d[row] = block.d;
    panel.dmin[row] = block.dmin;
}

void unpack_row(const PanelQ4K &panel, int row, quant::BlockQ4_K &block) {
    for (int j = 0; j < 4; j++)
        for (int t = 0; t < 8; t++) store_word(block.qs + 32 * j + 4 * t, load_word(panel.codes[j][t] + 4 * row));

    uint8_t scale[8], min[8];
    for (int j = 0; j < 8; j++) scale[j] = panel.scales[j / 4][16 * (j % 4) + row] & 63;
    for (int i = 0; i < 4; i++) {
        min[i] = panel.scales[2][4 * row + i] & 63;
        min[4 + i] = 0;
        for (int p = 0; p < 3; p++) min[4 + i] |= static_cast<uint8_t>((panel.scales[p][4 * row + i] >> 6) << 2 * p);
    }
    for (int j = 0; j < 4; j++) {
        block.scales[j] = static_cast<uint8_t>(scale[j] | (scale[j + 4] >> 4) << 6);
        block.scales[j + 4] = static_cast<uint8_t>(min[j] | (min[j + 4] >> 4) << 6);
        block.scales[j + 8] = static_cast<uint8_t>((scale[j + 4] & 15) | (min[j + 4] & 15) << 4);
    }
    block.d = panel.d[row];
    block.dmin = panel.dmin[row];
}

} // namespace tr::cpu
