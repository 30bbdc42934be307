// One row of a panel block, to and from the file's blocks. A panel is all zeros before its rows are packed.
#pragma once
#include <bit>
#include <cstring>

#include "cpu/panels.h"
#include "quant/blocks.h"

namespace tr::cpu {

// Words of four codes: a lane's worth. Arithmetic on a word works on its four bytes at once.
inline uint32_t load_word(const void *p) {
    uint32_t w;
    std::memcpy(&w, p, sizeof w);
    return w;
}
inline void store_word(void *p, uint32_t w) { std::memcpy(p, &w, sizeof w); }

void pack_row(const quant::BlockQ4_0 blocks[2], int row, PanelQ4_0 &panel);
void pack_row(const quant::BlockQ4_1 blocks[2], int row, PanelQ4_1 &panel);
void pack_row(const quant::BlockQ5_0 blocks[2], int row, PanelQ5_0 &panel);
void pack_row(const quant::BlockQ5_1 blocks[2], int row, PanelQ5_1 &panel);
void pack_row(const quant::BlockQ8_0 blocks[2], int row, PanelQ8_0 &panel);
void pack_row(const quant::BlockIQ4_NL blocks[2], int row, PanelQ4_0 &panel);
void pack_row(const quant::BlockMXFP4 blocks[2], int row, PanelMXFP4 &panel);
void pack_row(const quant::BlockQ2_K &block, int row, PanelQ2K &panel);
void pack_row(const quant::BlockQ3_K &block, int row, PanelQ3K &panel);
void pack_row(const quant::BlockQ4_K &block, int row, PanelQ4K &panel);
void pack_row(const quant::BlockQ5_K &block, int row, PanelQ5K &panel);
void pack_row(const quant::BlockQ6_K &block, int row, PanelQ6K &panel);
void pack_row(const quant::BlockIQ4_XS &block, int row, PanelIQ4XS &panel);

void unpack_row(const PanelQ4_0 &panel, int row, quant::BlockQ4_0 blocks[2]);
void unpack_row(const PanelQ4_1 &panel, int row, quant::BlockQ4_1 blocks[2]);
void unpack_row(const PanelQ5_0 &panel, int row, quant::BlockQ5_0 blocks[2]);
void unpack_row(const PanelQ5_1 &panel, int row, quant::BlockQ5_1 blocks[2]);
void unpack_row(const PanelQ8_0 &panel, int row, quant::BlockQ8_0 blocks[2]);
void unpack_row(const PanelQ4_0 &panel, int row, quant::BlockIQ4_NL blocks[2]);
void unpack_row(const PanelMXFP4 &panel, int row, quant::BlockMXFP4 blocks[2]);
void unpack_row(const PanelQ2K &panel, int row, quant::BlockQ2_K &block);
void unpack_row(const PanelQ3K &panel, int row, quant::BlockQ3_K &block);
void unpack_row(const PanelQ4K &panel, int row, quant::BlockQ4_K &block);
void unpack_row(const PanelQ5K &panel, int row, quant::BlockQ5_K &block);
void unpack_row(const PanelQ6K &panel, int row, quant::BlockQ6_K &block);
void unpack_row(const PanelIQ4XS &panel, int row, quant::BlockIQ4_XS &block);

// What formats share.
void pack_five_bits(const uint8_t first[32], const uint8_t second[32], int row, FiveBits &codes);
void unpack_five_bits(const FiveBits &codes, int row, uint8_t first[32], uint8_t second[32]);
void pack_scales(const uint8_t packed[12], uint16_t d, uint16_t dmin, int row, ScalesAndMins &scales);
void unpack_scales(const ScalesAndMins &scales, int row, uint8_t packed[12], uint16_t &d, uint16_t &dmin);

} // namespace tr::cpu
