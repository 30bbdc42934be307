// The products: work divided over tiles, results stored with what follows them (bias, residual sum, gated activation).
#include "cpu/chunks.h"
#include "cpu/kernels/math.h"
#include "cpu/kernels/operators.h"
#include "cpu/kernels/tile.h"

namespace tr::cpu::TR_ISA {
namespace {

// One matrix against the slabs of one batch.
struct Product {
    const Matrix &m;
    const Activations &acts;
    int64_t n;
    size_t bytes = m.layout == Layout::kFileRows ? 0 : tile_bytes(m);
    PanelInfo panel = panel_info(m.type);
    int64_t blocks = (m.cols + panel.columns - 1) / panel.columns; // of k, of all panels of a tile

    TR_INLINE const void *records(int64_t slab) const {
        switch (m.form()) {
        case kActQ256: return view_q256(acts, n, m.cols).slab(slab);
        case kActQ32: return view_q32(acts, n, m.cols).slab(slab);
        case kActF32: break;
        }
        return view_f32(acts, n, m.cols).slab(slab);
    }

    // partial[width][kTileRows] := tile times the slab's columns, in as few groups as possible, of even size.
    TR_INLINE void run(int64_t tile, int64_t slab, int width, float *partial) const {
        for (int i = 0; i < width * kTileRows; i += kLanes) store(partial + i, zero());
        const int groups = (width + kMaxColumns - 1) / kMaxColumns;
        const int columns = (width + groups - 1) / groups;
        const TileFns &fns = tile_fns_of(m);
        const uint8_t *data = m.data.get() + static_cast<size_t>(tile) * bytes;
        fns.by_columns[columns - 1]({m, tile, data, records(slab), width, blocks}, partial);
        if (m.form() == kActQ256) add_remainders(fns, tile, data, slab, width, partial);
    }

    // Each is one more block of its column.
    TR_INLINE void add_remainders(const TileFns &fns, int64_t tile, const uint8_t *data, int64_t slab, int width, float *partial) const {
        const Remainders remainders = view_remainders(acts, n, m.cols);
        const size_t block_bytes = bytes / static_cast<size_t>(blocks);
        remainders.for_each(slab, width, [&](int64_t column, int64_t block) {
            const TileInput in{m, tile, data + static_cast<size_t>(block) * block_bytes, remainders.records.at(column, block), 1, 1};
            fns.by_columns[0](in, partial + (column - slab * kSlabColumns) * kTileRows);
        });
    }
};

// Calls body(tile, slab, width) for every tile and slab, divided among the workers.
template <class Body> TR_INLINE void for_each_tile(Worker &worker, int64_t rows, int64_t n, Body body) {
    const int64_t tiles = (rows + kTileRows - 1) / kTileRows, slabs = (n + kSlabColumns - 1) / kSlabColumns;
    Chunks chunks(worker, tiles * slabs);
    for (int64_t begin, end; chunks.next(&begin, &end);)
        for (int64_t i = begin; i < end; i++) body(i % tiles, i / tiles, static_cast<int>(slab_width(i / tiles, n)));
}

// Applies op(out, value, row) to the valid rows of a tile, one column after another; whole vectors where all rows are valid.
template <class Vector, class Scalar>
TR_INLINE void store_tile(const float *partial, int64_t tile, int64_t slab, int width, int64_t rows, float *out, int64_t stride,
                          Vector vector, Scalar scalar) {
    const int64_t row = tile * kTileRows;
    const int valid = rows - row < kTileRows ? static_cast<int>(rows - row) : kTileRows;
    for (int c = 0; c < width; c++, partial += kTileRows) {
        float *o = out + (slab * kSlabColumns + c) * stride + row;
        if (valid == kTileRows) {
            store(o, vector(load(partial), o, row));
            store(o + kLanes, vector(load(partial + kLanes), o + kLanes, row + kLanes));
        } else {
            for (int r = 0; r < valid; r++) o[r] = scalar(partial[r], o[r], row + r);
        }
    }
}

using Partial = float[kSlabColumns * kTileRows];

} // namespace

void matmul(Worker &worker, const Matrix &m, const Activations &acts, int64_t n, const float *bias, float *out, int64_t stride) {
    const Product product{m, acts, n};
    alignas(64) Partial partial;
    for_each_tile(worker, m.rows, n, [&](int64_t tile, int64_t slab, int width) {
        product.run(tile, slab, width, partial);
        if (bias)
            store_tile(partial, tile, slab, width, m.rows, out, stride,
                [bias](VecF v, const float *, int64_t row) { return add(v, load(bias + row)); },
                [bias](float v, float, int64_t row) { return v + bias[row]; });
        else
            store_tile(partial, tile, slab, width, m.rows, out, stride,
                [](VecF v, const float *, int64_t) { return v; }, [](float v, float, int64_t) { return v; });
    });
}

void matmul_add(Worker &worker, const Matrix &m, const Activations &acts, int64_t n, float *out, int64_t stride) {
    const Product product{m, acts, n};
    alignas(64) Partial partial;
    for_each_tile(worker, m.rows, n, [&](int64_t tile, int64_t slab, int width) {
        product.run(tile, slab, width, partial);
        store_tile(partial, tile, slab, width, m.rows, out, stride,
            [](VecF v, const float *o, int64_t) { return add(load(o), v); }, [](float v, float o, int64_t) { return o + v; });
    });
}

void matmul_gated(Worker &worker, const Matrix &gate, const Matrix &up, Gate kind, const Activations &acts, int64_t n, float *out,
                  int64_t stride) {
    const Product gates{gate, acts, n}, ups{up, acts, n};
    alignas(64) Partial partial, factor;
    for_each_tile(worker, gate.rows, n, [&](int64_t tile, int64_t slab, int width) {
        gates.run(tile, slab, width, partial);
        ups.run(tile, slab, width, factor);
        for (int i = 0; i < width * kTileRows; i += kLanes) {
            const VecF g = load(partial + i);
            store(partial + i, mul(kind == Gate::kGelu ? gelu(g) : silu(g), load(factor + i)));
        }
        store_tile(partial, tile, slab, width, gate.rows, out, stride,
            [](VecF v, const float *, int64_t) { return v; }, [](float v, float, int64_t) { return v; });
    });
}

} // namespace tr::cpu::TR_ISA
