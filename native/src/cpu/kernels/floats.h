// F32, F16 and BF16 weights, and any format dequantized to float32 on the fly (the exact float path).
#pragma once
#include "cpu/kernels/tile.h"
#include "quant/types.h"

namespace tr::cpu::TR_ISA {
namespace {

// partial += for each column: the sum over 32 k of w*x, a chain of fused multiply-adds from zero. Chains of different
// blocks do not depend on each other, so the processor overlaps them even for a single column. w is [k], two vectors
// `vector_stride` floats apart, steps of `k_stride` floats.
template <int C>
TR_INLINE void accumulate_floats(const float *w, int k_stride, int vector_stride, const RecordF32 *x, float *partial) {
    VecF sum[C][2];
#pragma GCC unroll 8
    for (int c = 0; c < C; c++) sum[c][0] = sum[c][1] = zero();
#pragma GCC unroll 4
    for (int k = 0; k < 32; k++) {
        const VecF w0 = load(w + k * k_stride), w1 = load(w + k * k_stride + vector_stride);
#pragma GCC unroll 8
        for (int c = 0; c < C; c++) {
            const VecF a = broadcast(x[c].x + k);
            sum[c][0] = fma(w0, a, sum[c][0]);
            sum[c][1] = fma(w1, a, sum[c][1]);
        }
        keep_order();
    }
#pragma GCC unroll 8
    for (int c = 0; c < C; c++) {
        float *p = partial + c * kTileRows;
        store(p, add(load(p), sum[c][0]));
        store(p + kLanes, add(load(p + kLanes), sum[c][1]));
    }
}

struct FormatF32 {
    using Record = RecordF32;
    using Panel = PanelF32;
    static constexpr int kSteps = 1, kAhead = 4;
    struct Scratch {
        const Panel *panels;
    };

    TR_INLINE static void unpack(Scratch &s, const Panel *panels) { s.panels = panels; }
    template <int C> __attribute__((noinline)) static void accumulate(const Scratch &s, const Record *x, float *partial, Prefetch &prefetch) {
        prefetch.step();
        constexpr int kVectorStride = kPanelsPerTile == 2 ? sizeof(Panel) / sizeof(float) : kLanes;
        accumulate_floats<C>(s.panels->w[0], kPanelRows, kVectorStride, x, partial);
    }
};

// F16 and BF16: weights of 16 bits, converted by kLoad.
template <VecF (*kLoad)(const uint16_t *)> struct FormatF16 {
    using Record = RecordF32;
    using Panel = PanelF16;
    static constexpr int kSteps = 1, kAhead = 8;
    struct Scratch {
        alignas(64) float w[32][kTileRows];
    };

    TR_INLINE static void unpack(Scratch &s, const Panel *panels) {
        for (int v = 0; v < 2; v++) {
            const Panel &p = panels[panel_of(v)];
#pragma GCC unroll 8
            for (int k = 0; k < 32; k++) store(s.w[k] + v * kLanes, kLoad(p.w[k] + row_of(v)));
        }
    }
    template <int C> __attribute__((noinline)) static void accumulate(const Scratch &s, const Record *x, float *partial, Prefetch &prefetch) {
        prefetch.step();
        accumulate_floats<C>(s.w[0], kTileRows, kLanes, x, partial);
    }
};

// Block formats multiplied as their dequantized floats: the same order of operations as F32 weights. The matrix is in
// file layout. A yardstick, not made for speed.
constexpr int kExactColumns = 256; // k dequantized at a time: a multiple of every format's block

template <int C> void run_tile_exact(const TileInput &in, float *partial) {
    const Matrix &m = in.matrix;
    alignas(64) float w[kExactColumns][kTileRows], row[kExactColumns];
    const quant::TypeInfo &info = *quant::type_info(static_cast<uint32_t>(m.type));
    const size_t row_bytes = file_row_bytes(m);
    const int groups = (in.width + C - 1) / C;
    const int full = C == 1 ? groups : in.width - groups * (C - 1);
    const auto *records = static_cast<const RecordF32 *>(in.records);
    for (int64_t k0 = 0; k0 < m.cols; k0 += kExactColumns) {
        const int64_t n = m.cols - k0 < kExactColumns ? m.cols - k0 : kExactColumns;
        for (int r = 0; r < kTileRows; r++) {
            const int64_t index = in.tile * kTileRows + r;
            if (index < m.rows) {
                const uint8_t *blocks = m.data.get() + static_cast<size_t>(index) * row_bytes + static_cast<size_t>(k0) / info.block * info.bytes;
                quant::dequantize(m.type, blocks, row, static_cast<size_t>(n));
            }
            for (int64_t k = 0; k < n; k++) w[k][r] = index < m.rows ? row[k] : 0;
        }
        for (int64_t k = 0; k < n; k += 32) {
            float *p = partial;
            for (int g = 0; g < full; g++, records += C, p += C * kTileRows)
                accumulate_floats<C>(w[k], kTileRows, kLanes, records, p);
            if constexpr (C > 1)
                for (int g = full; g < groups; g++, records += C - 1, p += (C - 1) * kTileRows)
                    accumulate_floats<C - 1>(w[k], kTileRows, kLanes, records, p);
        }
    }
}

template <int... C> constexpr TileFns exact_fns(std::integer_sequence<int, C...>) { return {{run_tile_exact<C + 1>...}}; }

} // namespace
} // namespace tr::cpu::TR_ISA
