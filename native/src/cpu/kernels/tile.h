// What the products of all formats share: a tile of rows times a slab of columns.
//
// A tile goes through its blocks of k in order. Each block's weights are unpacked once into a scratch that stays in the
// first-level cache, then multiplied with all columns, in groups of up to kMaxColumns whose accumulators stay in
// registers. A column's sequence of operations is the same in a group of any size.
#pragma once
#include <utility>

#include "cpu/activations.h"
#include "cpu/panels.h"
#include "cpu/simd/simd.h"

namespace tr::cpu::TR_ISA {

struct TileInput {
    const Matrix &matrix;
    int64_t tile;
    const uint8_t *data;   // of the tile; unused by the exact float path
    const void *records;   // of the slab: [block][width]
    int width;             // columns of the slab
    int64_t blocks;        // of `data` and `records`
};

// partial is [width][kTileRows] and starts at zero. Rows beyond the matrix get values of no meaning.
using TileFn = void (*)(const TileInput &, float *partial);

// The functions of one format, by columns per group - 1.
struct TileFns {
    TileFn by_columns[kMaxColumns];
};

// Those of a matrix, by its type and layout. Each family of formats is compiled on its own.
const TileFns &tile_fns_of(const Matrix &m);
extern const TileFns kTilesF32, kTilesF16, kTilesBF16, kTilesExact;                             // tiles_float.cpp
extern const TileFns kTilesQ4_0, kTilesQ4_1, kTilesQ5_0, kTilesQ5_1, kTilesQ8_0;                // tiles_32.cpp
extern const TileFns kTilesIQ4_NL, kTilesMXFP4;
extern const TileFns kTilesQ4K, kTilesQ5K, kTilesIQ4XS;                                         // tiles_256x32.cpp
extern const TileFns kTilesQ2K, kTilesQ3K, kTilesQ6K;                                           // tiles_256x16.cpp

namespace {

// Where vector v of a tile's rows lies in its panels.
constexpr int kPanelsPerTile = kTileRows / kPanelRows;
constexpr int panel_of(int v) { return kPanelsPerTile == 2 ? v : 0; }
constexpr int row_of(int v) { return kPanelsPerTile == 2 ? 0 : v * kLanes; } // first row within the panel
constexpr int line_of(int v) { return 4 * row_of(v); }                       // first byte within a 64-byte line

// Lines of the coming blocks, brought into a cache (the second level if not said otherwise) a few at a time between the
// steps of the computation.
struct Prefetch {
    const uint8_t *next;
    int lines;             // per step

    template <auto kHint = _MM_HINT_T1> TR_INLINE void step() {
        for (int i = 0; i < lines; i++, next += 64) _mm_prefetch(reinterpret_cast<const char *>(next), kHint);
    }
};

// Runs a format over a tile, columns in groups of C or C-1. A format F has
//   Record               the activation records it reads
//   Panel                its packed block
//   kSteps               calls of Prefetch::step() per accumulate()
//   kAhead               blocks to prefetch ahead
//   Scratch              one unpacked block of a tile
//   unpack(scratch, panels)
//   accumulate<C>(scratch, records, partial, prefetch)    partial[c] += block times column c, for C columns
template <class F, int C> void run_tile(const TileInput &in, float *partial) {
    typename F::Scratch scratch;
    constexpr int64_t kBlockBytes = kPanelsPerTile * sizeof(typename F::Panel);
    const int groups = (in.width + C - 1) / C;
    const int full = C == 1 ? groups : in.width - groups * (C - 1); // groups of C columns; the others have C-1

    Prefetch prefetch;
    const int steps = groups * F::kSteps;
    prefetch.lines = static_cast<int>((kBlockBytes / 64 + steps) / steps);

    const uint8_t *data = in.data;
    const auto *records = static_cast<const typename F::Record *>(in.records);
    for (int64_t b = 0; b < in.blocks; b++, data += kBlockBytes) {
        F::unpack(scratch, reinterpret_cast<const typename F::Panel *>(data));
        prefetch.next = data + F::kAhead * kBlockBytes;
        float *p = partial;
        for (int g = 0; g < full; g++, records += C, p += C * kTileRows) F::template accumulate<C>(scratch, records, p, prefetch);
        if constexpr (C > 1)
            for (int g = full; g < groups; g++, records += C - 1, p += (C - 1) * kTileRows)
                F::template accumulate<C - 1>(scratch, records, p, prefetch);
    }
}

template <class F, int... C> constexpr TileFns tile_fns(std::integer_sequence<int, C...>) { return {{run_tile<F, C + 1>...}}; }
template <class F> constexpr TileFns tile_fns() { return tile_fns<F>(std::make_integer_sequence<int, kMaxColumns>()); }

} // namespace
} // namespace tr::cpu::TR_ISA
