#include "cpu/pack/pack.h"

namespace tr::cpu {

void pack_row(const quant::BlockQ5_0 blocks[2], int row, PanelQ5_0 &panel) {
    uint8_t code[2][32];
    for (int u = 0; u < 2; u++) {
        unpack_codes(blocks[u], code[u]);
        panel.d[u][row] = blocks[u].d;
    }
    for (int v = 0; v < 2; v++) {
        uint32_t rest = 0;
        for (int t = 4 * v; t < 4 * v + 4; t++) {
            const uint32_t c0 = load_word(code[0] + 4 * t), c1 = load_word(code[1] + 4 * t);
            store_word(panel.low[t] + 4 * row, (c0 & 0x0f0f0f0f) | (c1 & 0x1e1e1e1e) << 3);
            rest |= std::rotr((c0 & 0x10101010) | (c1 & 0x01010101) << 3, 2 * (t % 4));
        }
        store_word(panel.rest[v] + 4 * row, rest);
    }
}

void unpack_row(const PanelQ5_0 &panel, int row, quant::BlockQ5_0 blocks[2]) {
    uint8_t code[2][32];
    for (int t = 0; t < 8; t++) {
        const uint32_t low = load_word(panel.low[t] + 4 * row);
        const uint32_t rest = std::rotl(load_word(panel.rest[t / 4] + 4 * row), 2 * (t % 4));
        store_word(code[0] + 4 * t, (low & 0x0f0f0f0f) | (rest & 0x10101010));
        store_word(code[1] + 4 * t, ((low & 0xf0f0f0f0) | (rest & 0x08080808)) >> 3);
    }
    for (int u = 0; u < 2; u++) {
        uint32_t high = 0;
        for (int i = 0; i < 32; i++) high |= static_cast<uint32_t>(code[u][i] >> 4) << i;
        store_word(blocks[u].qh, high);
        for (int i = 0; i < 16; i++) blocks[u].qs[i] = static_cast<uint8_t>((code[u][i] & 15) | (code[u][i + 16] & 15) << 4);
        blocks[u].d = panel.d[u][row];
    }
}

} // namespace tr::cpu
