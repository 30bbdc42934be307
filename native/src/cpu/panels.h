// Packed weights: panels of 16 rows.
//
// A 64-byte line of codes is 16 lanes of 32 bits; lane r holds four consecutive k of row r, so an 8-bit dot-product
// instruction sums over k within its lane, no sums across lanes are needed, and an activation operand is one broadcast of
// four bytes. A 32-byte vector takes half a line: rows 0-7 or 8-15. Panel blocks have exactly the size of the file's
// blocks: packing loses nothing, and embedding_row() gives the file's row back.
//
// A matrix is a row of tiles; a tile is one panel (Layout::kTiles16) or two panels interleaved by block
// (Layout::kTiles32), so that a worker reads one stream: [tile][block of k][panel of the tile].
#pragma once
#include <cstdint>

#include "cpu/ops.h"

namespace tr::cpu {

constexpr int64_t kPanelRows = 16;

// ---- two blocks of 32 k, block 0 and block 1

struct PanelQ4_0 { // also IQ4_NL
    static constexpr int64_t kColumns = 64;
    // Byte 4r+i of line t is row r, k = 4t+i: block 0's code in the low nibble, block 1's in the high one.
    uint8_t codes[8][64];
    uint16_t d[2][16]; // [block][row]
};

struct PanelQ4_1 {
    static constexpr int64_t kColumns = 64;
    uint8_t codes[8][64]; // as Q4_0
    uint16_t d[2][16], m[2][16];
};

struct PanelMXFP4 {
    static constexpr int64_t kColumns = 64;
    uint8_t codes[8][64]; // as Q4_0
    uint8_t e[2][16];
};

// Codes of five bits of two blocks. Byte 4r+i of line t is row r, k = 4t+i: the low 4 bits of block 0's code in the low nibble,
// the HIGH 4 bits of block 1's code in the high nibble. rest[v] rotated left by 2*(t%4) within its lanes serves line
// t = 4v..4v+3: bit 4 is the top bit of block 0's code, bit 3 the bottom bit of block 1's. So block 0's code comes out as it
// is and block 1's times 8.
struct FiveBits {
    uint8_t low[8][64];
    uint8_t rest[2][64];
};

struct PanelQ5_0 {
    static constexpr int64_t kColumns = 64;
    FiveBits codes;
    uint16_t d[2][16];
};

struct PanelQ5_1 {
    static constexpr int64_t kColumns = 64;
    FiveBits codes;
    uint16_t d[2][16], m[2][16];
};

struct PanelQ8_0 {
    static constexpr int64_t kColumns = 64;
    uint8_t codes[2][8][64]; // code + 128; byte 4r+i of line t is row r, k = 4t+i
    uint16_t d[2][16];
};

// ---- one block of 256 k

// The 6-bit scales and mins of the eight sub-blocks of 32 k of Q4_K and Q5_K, in the low 6 bits of three lines:
//   lines 0, 1: byte 16*(j%4)+r of line j/4 is scale j of row r
//   line 2: byte 4r+i is min i (0-3) of row r
// and in the high 2 bits of all three: byte 4r+i of line p has bits 2p and 2p+1 of min 4+i of row r.
struct ScalesAndMins {
    uint8_t lines[3][64];
    uint16_t d[16], dmin[16];
};

struct PanelQ4K {
    static constexpr int64_t kColumns = 256;
    // codes[j][t]: byte 4r+i is row r; low nibble k = 64j+4t+i, high nibble k = 64j+32+4t+i.
    uint8_t codes[4][8][64];
    ScalesAndMins scales;
};

struct PanelQ5K {
    static constexpr int64_t kColumns = 256;
    FiveBits codes[4]; // of 64 k each: sub-blocks 2j and 2j+1
    ScalesAndMins scales;
};

struct PanelQ6K {
    static constexpr int64_t kColumns = 256;
    // Four groups of 64 k, each four sub-blocks of 16 k, called 0 to 3. Byte 4r+i of line t is row r, k = 4t+i within the
    // sub-block. The low 4 bits of an even sub-block's code and the high 4 bits of an odd one's share a byte; of
    // `rest`, bits 4-5 are the other two bits of the even and bits 2-3 of the odd one. For sub-blocks 2 and 3, `rest` is
    // first rotated left by 4 within its 32-bit lane. So with two masks an even code comes out as it is and an odd one times 4.
    struct Group {
        uint8_t low[2][4][64]; // [sub-block pair][t]
        uint8_t rest[4][64];
    } groups[4];
    int8_t scales[16][16]; // [sub-block][row]
    uint16_t d[16];
};

struct PanelQ2K {
    static constexpr int64_t kColumns = 256;
    // codes[g][t]: byte 4r+i is row r; bits 2s and 2s+1 are the code of k = 4t+i of sub-block 4g+s, of 16 k each.
    uint8_t codes[4][4][64];
    uint8_t scales[16][16]; // [sub-block][row]: scale in the low nibble, min in the high one
    uint16_t d[16], dmin[16];
};

struct PanelQ3K {
    static constexpr int64_t kColumns = 256;
    uint8_t codes[4][4][64]; // the low two bits, as Q2K
    uint8_t high[2][4][64];  // [g/2][t]: bit 4*(g%2)+s is the third bit of the code whose others are codes[g][t]'s
    uint8_t scales[12][16];  // [byte of the file's block][row]
    uint16_t d[16];
};

struct PanelIQ4XS {
    static constexpr int64_t kColumns = 256;
    uint8_t codes[4][8][64];   // as Q4_K
    uint8_t scales_l[16][4];   // [row]
    uint16_t scales_h[16], d[16];
};

// ---- floats, 32 k

struct PanelF16 { // also BF16
    static constexpr int64_t kColumns = 32;
    uint16_t w[32][16]; // [k][row]
};

struct PanelF32 {
    static constexpr int64_t kColumns = 32;
    float w[32][16]; // [k][row]
};

static_assert(sizeof(PanelQ4_0) == 16 * 2 * 18 && sizeof(PanelQ4_1) == 16 * 2 * 20 && sizeof(PanelMXFP4) == 16 * 2 * 17);
static_assert(sizeof(PanelQ5_0) == 16 * 2 * 22 && sizeof(PanelQ5_1) == 16 * 2 * 24 && sizeof(PanelQ8_0) == 16 * 2 * 34);
static_assert(sizeof(PanelQ2K) == 16 * 84 && sizeof(PanelQ3K) == 16 * 110 && sizeof(PanelQ4K) == 16 * 144);
static_assert(sizeof(PanelQ5K) == 16 * 176 && sizeof(PanelQ6K) == 16 * 210 && sizeof(PanelIQ4XS) == 16 * 136);

// Sizes of one panel block.
struct PanelInfo {
    int64_t columns;
    size_t bytes;
};
PanelInfo panel_info(quant::Type type);

int64_t tile_rows(Layout layout); // 0 for kFileRows
int64_t tile_count(const Matrix &m);
size_t tile_bytes(const Matrix &m);
// Bytes of one row in the file.
size_t file_row_bytes(const Matrix &m);

// Packs one panel block: rows [0, n_rows) of 16 at `rows`, `stride` bytes apart, each pointing at `n_columns` weights in file layout
// (less than panel_info().columns only at the right edge). Missing rows and columns become zero weights.
void pack_panel(quant::Type type, const uint8_t *rows, size_t stride, int n_rows, int64_t n_columns, uint8_t *panel);
// The reverse for one row: its blocks in file layout.
void unpack_panel_row(quant::Type type, const uint8_t *panel, int row, int64_t n_columns, uint8_t *blocks);

// Ops::packed_bytes and Ops::pack of tables that use tiles, unless the matrix is for the exact float path.
size_t packed_bytes(Matrix &m, Layout layout);
void pack(Worker &, Matrix &m, const void *src);

} // namespace tr::cpu
