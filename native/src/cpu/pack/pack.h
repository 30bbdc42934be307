// One row of a panel block, to and from the file's blocks. `codes` of a panel are zeroed before its rows are packed.
#pragma once
#include <bit>
#include <cstring>

#include "cpu/panels.h"

namespace tr::cpu {

// Words of four codes: a lane's worth. Arithmetic on a word works on its four bytes at once.
inline uint32_t load_word(const void *p) {
    uint32_t w;
    std::memcpy(&w, p, sizeof w);
    return w;
}
inline void store_word(void *p, uint32_t w) { std::memcpy(p, &w, sizeof w); }

void pack_row(const quant::BlockQ4_K &block, int row, PanelQ4K &panel);
void pack_row(const quant::BlockQ6_K &block, int row, PanelQ6K &panel);
void pack_row(const quant::BlockQ5_0 blocks[2], int row, PanelQ5_0 &panel);
void pack_row(const quant::BlockQ8_0 blocks[2], int row, PanelQ8_0 &panel);

void unpack_row(const PanelQ4K &panel, int row, quant::BlockQ4_K &block);
void unpack_row(const PanelQ6K &panel, int row, quant::BlockQ6_K &block);
void unpack_row(const PanelQ5_0 &panel, int row, quant::BlockQ5_0 blocks[2]);
void unpack_row(const PanelQ8_0 &panel, int row, quant::BlockQ8_0 blocks[2]);

} // namespace tr::cpu
