// What formats of two blocks of 32 k share: from unpacked codes on.
#pragma once
#include "cpu/kernels/dot.h"
#include "cpu/kernels/tile.h"

namespace tr::cpu::TR_ISA {
namespace {

// partial[c] += dot[c] * dx * scale, for block u of the records.
template <int C> TR_INLINE void add_scaled(const VecI (&dot)[C][2], const float *scale, const RecordQ32 *x, int u, float *partial) {
    const VecF f0 = load(scale), f1 = load(scale + kLanes);
#pragma GCC unroll 8
    for (int c = 0; c < C; c++) {
        const VecF dx = broadcast(x[c].d + u);
        float *p = partial + c * kTileRows;
        store(p, fma(mul(to_float(dot[c][0]), dx), f0, load(p)));
        store(p + kLanes, fma(mul(to_float(dot[c][1]), dx), f1, load(p + kLanes)));
    }
}

// Codes less an offset, whose part of the product is the record's `kStart`. Per block of 32:
// partial += ((codes-offset) . x * dx) * d
template <int kBits, auto kStart> struct Blocks32 {
    using Record = RecordQ32;
    static constexpr int kSteps = 2, kAhead = 8;

    struct Scratch {
        alignas(64) Quad w[2][8];              // [block][t]; block 1 times a factor with kVnni
        alignas(64) float scale[2][kTileRows]; // divided by that factor
    };

    template <int C> __attribute__((noinline)) static void accumulate(const Scratch &s, const Record *x, float *partial, Prefetch &prefetch) {
#pragma GCC unroll 2
        for (int u = 0; u < 2; u++) {
            prefetch.step();
            VecI dot[C][2];
#pragma GCC unroll 8
            for (int c = 0; c < C; c++) dot[c][0] = dot[c][1] = broadcast_word(x[c].*kStart + u);
            dot_columns<C, 8, kBits>(dot, s.w[u], x->q + 32 * u, sizeof(Record));
            add_scaled(dot, s.scale[u], x, u, partial);
        }
    }
};

// Codes and a minimum m. Per block of 32: partial += (codes . x * dx) * d; partial += sum of x * m
template <int kBits> struct Blocks32Min {
    using Record = RecordQ32;
    static constexpr int kSteps = 2, kAhead = 8;

    struct Scratch {
        alignas(64) Quad w[2][8];
        alignas(64) float scale[2][kTileRows], min[2][kTileRows];
    };

    template <int C> __attribute__((noinline)) static void accumulate(const Scratch &s, const Record *x, float *partial, Prefetch &prefetch) {
#pragma GCC unroll 2
        for (int u = 0; u < 2; u++) {
            prefetch.step();
            VecI dot[C][2];
#pragma GCC unroll 8
            for (int c = 0; c < C; c++) dot[c][0] = dot[c][1] = zero_i();
            dot_columns<C, 8, kBits>(dot, s.w[u], x->q + 32 * u, sizeof(Record));
            const VecF f0 = load(s.scale[u]), f1 = load(s.scale[u] + kLanes), m0 = load(s.min[u]), m1 = load(s.min[u] + kLanes);
#pragma GCC unroll 8
            for (int c = 0; c < C; c++) {
                const VecF dx = broadcast(x[c].d + u), sum = broadcast(x[c].sum + u);
                float *p = partial + c * kTileRows;
                store(p, fma(sum, m0, fma(mul(to_float(dot[c][0]), dx), f0, load(p))));
                store(p + kLanes, fma(sum, m1, fma(mul(to_float(dot[c][1]), dx), f1, load(p + kLanes))));
            }
        }
    }
};

// Codes of eight bits, 128 more than what they stand for. Per block of 32: partial += (codes . x * dx) * d
struct Blocks32Bytes {
    using Record = RecordQ32;
    static constexpr int kSteps = 2, kAhead = 8;

    struct Scratch {
        Bytes<2, 8> codes;
        alignas(64) float scale[2][kTileRows];
    };

    template <int C> __attribute__((noinline)) static void accumulate(const Scratch &s, const Record *x, float *partial, Prefetch &prefetch) {
#pragma GCC unroll 2
        for (int u = 0; u < 2; u++) {
            prefetch.step();
            VecI dot[C][2];
            dot_bytes(dot, s.codes, u, x->q + 32 * u, x->start_128 + u, sizeof(Record));
            add_scaled(dot, s.scale[u], x, u, partial);
        }
    }
};

// Scales of blocks 0 and 1 as floats, the second's divided by the factor that its codes carry.
TR_INLINE void unpack_halves(float (&to)[2][kTileRows], const uint16_t (&d)[2][16], int row, int lane, float factor) {
    store(to[0] + lane, load_half(d[0] + row));
    store(to[1] + lane, mul(load_half(d[1] + row), set(1 / factor)));
}

} // namespace
} // namespace tr::cpu::TR_ISA
