#include "cpu/pack/pack.h"

namespace tr::cpu {

void pack_row(const quant::BlockQ8_0 blocks[2], int row, PanelQ8_0 &panel) {
    for (int u = 0; u < 2; u++) {
        // Flipping the top bit of a byte in two's complement adds 128.
        for (int t = 0; t < 8; t++) store_word(panel.codes[u][t] + 4 * row, load_word(blocks[u].qs + 4 * t) ^ 0x80808080);
        panel.d[u][row] = blocks[u].d;
    }
}

void unpack_row(const PanelQ8_0 &panel, int row, quant::BlockQ8_0 blocks[2]) {
    for (int u = 0; u < 2; u++) {
        for (int t = 0; t < 8; t++) store_word(blocks[u].qs + 4 * t, load_word(panel.codes[u][t] + 4 * row) ^ 0x80808080);
        blocks[u].d = panel.d[u][row];
    }
}

} // namespace tr::cpu
