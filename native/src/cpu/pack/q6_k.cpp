#include "cpu/pack/pack.h"

namespace tr::cpu {

namespace {

// The two bits of an even code and the two of an odd one that do not fit the shared byte, where the kernels mask them.
uint32_t rest_of(uint32_t even, uint32_t odd) { return (even & 0x30303030) | (odd & 0x03030303) << 2; }

} // namespace

void pack_row(const quant::BlockQ6_K &block, int row, PanelQ6K &panel) {
    uint8_t code[256];
    unpack_codes(block, code);
    for (int g = 0; g < 4; g++)
        for (int t = 0; t < 4; t++) {
            uint32_t c[4];
            for (int s = 0; s < 4; s++) c[s] = load_word(code + 64 * g + 16 * s + 4 * t);
            PanelQ6K::Group &group = panel.groups[g];
            for (int pair = 0; pair < 2; pair++)
                store_word(group.low[pair][t] + 4 * row, (c[2 * pair] & 0x0f0f0f0f) | (c[2 * pair + 1] & 0x3c3c3c3c) << 2);
            store_word(group.rest[t] + 4 * row, rest_of(c[0], c[1]) | std::rotr(rest_of(c[2], c[3]), 4));
        }
    for (int s = 0; s < 16; s++) panel.scales[s][row] = block.scales[s];
    panel.d[row] = block.d;
}

void unpack_row(const PanelQ6K &panel, int row, quant::BlockQ6_K &block) {
    uint8_t code[256];
    for (int g = 0; g < 4; g++)
        for (int t = 0; t < 4; t++)
            for (int pair = 0; pair < 2; pair++) {
                const uint32_t low = load_word(panel.groups[g].low[pair][t] + 4 * row);
                const uint32_t rest = std::rotl(load_word(panel.groups[g].rest[t] + 4 * row), 4 * pair);
                store_word(code + 64 * g + 32 * pair + 4 * t, (low & 0x0f0f0f0f) | (rest & 0x30303030));
                store_word(code + 64 * g + 32 * pair + 16 + 4 * t, ((low & 0xf0f0f0f0) | (rest & 0x0c0c0c0c)) >> 2);
            }
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < 32; i++) {
            const uint8_t *c = code + 128 * half + i;
            block.ql[64 * half + i] = static_cast<uint8_t>((c[0] & 15) | (c[64] & 15) << 4);
            block.ql[64 * half + 32 + i] = static_cast<uint8_t>((c[32] & 15) | (c[96] & 15) << 4);
            block.qh[32 * half + i] = static_cast<uint8_t>(c[0] >> 4 | (c[32] >> 4) << 2 | (c[64] >> 4) << 4 | (c[96] >> 4) << 6);
        }
    for (int s = 0; s < 16; s++) block.scales[s] = panel.scales[s][row];
    block.d = panel.d[row];
}

} // namespace tr::cpu
