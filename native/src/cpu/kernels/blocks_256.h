// What formats of blocks of 256 k share: from unpacked codes, scales and minimums on.
#pragma once
#include "cpu/kernels/dot.h"
#include "cpu/kernels/tile.h"

namespace tr::cpu::TR_ISA {
namespace {

template <int C> TR_INLINE void clear(VecF (&sum)[C][2]) {
#pragma GCC unroll 8
    for (int c = 0; c < C; c++) sum[c][0] = sum[c][1] = zero();
}

// sum += dot * scale
template <int C> TR_INLINE void add_scaled(VecF (&sum)[C][2], const VecI (&dot)[C][2], const float *scale) {
    const VecF f0 = load(scale), f1 = load(scale + kLanes);
#pragma GCC unroll 8
    for (int c = 0; c < C; c++) {
        sum[c][0] = fma(to_float(dot[c][0]), f0, sum[c][0]);
        sum[c][1] = fma(to_float(dot[c][1]), f1, sum[c][1]);
    }
}

// partial += (sum*d) * dx
template <int C> TR_INLINE void add_block(const VecF (&sum)[C][2], const float *d, const RecordQ256 *x, float *partial) {
#pragma GCC unroll 2
    for (int v = 0; v < 2; v++) {
        const VecF factor = load(d + v * kLanes);
#pragma GCC unroll 8
        for (int c = 0; c < C; c++) {
            float *p = partial + c * kTileRows + v * kLanes;
            store(p, fma(mul(sum[c][v], factor), broadcast(&x[c].d), load(p)));
        }
    }
}

// 16 sub-blocks of 16 k, codes less an offset of 32. Per block: sum = sum over sub-blocks of scale*((codes-32) . x), in order;
// then partial += (sum*d) * dx
struct Blocks256x16 {
    using Record = RecordQ256;
    static constexpr int kSteps = 16, kAhead = 2;

    struct Scratch {
        alignas(64) Quad w[16][4];               // [sub-block][t]; odd sub-blocks times 4 with kVnni
        alignas(64) float scale[16][kTileRows];  // divided by the factor that the codes carry
        alignas(64) float d[kTileRows];
    };

    template <int C> __attribute__((noinline)) static void accumulate(const Scratch &s, const Record *x, float *partial, Prefetch &prefetch) {
        VecF sum[C][2];
        clear(sum);
#pragma GCC unroll 1
        for (int j = 0; j < 16; j++) {
            prefetch.step<C == 1 ? _MM_HINT_T0 : _MM_HINT_T1>(); // one column has little to compute: a tenth faster so
            VecI dot[C][2];
#pragma GCC unroll 8
            for (int c = 0; c < C; c++) dot[c][0] = dot[c][1] = broadcast_word(x[c].start_32 + j);
            dot_columns<C, 4, 6>(dot, s.w[j], x->q + 16 * j, sizeof(Record));
            add_scaled(sum, dot, s.scale[j]);
        }
        add_block(sum, s.d, x, partial);
    }
};

// 8 sub-blocks of 32 k, codes of eight bits less an offset of 128. As Blocks256x16.
struct Blocks256Bytes {
    using Record = RecordQ256;
    static constexpr int kSteps = 8, kAhead = 2;

    struct Scratch {
        Bytes<8, 8> codes;
        alignas(64) float scale[8][kTileRows], d[kTileRows];
    };

    template <int C> __attribute__((noinline)) static void accumulate(const Scratch &s, const Record *x, float *partial, Prefetch &prefetch) {
        VecF sum[C][2];
        clear(sum);
#pragma GCC unroll 1
        for (int j = 0; j < 8; j++) {
            prefetch.step();
            VecI dot[C][2];
            dot_bytes(dot, s.codes, j, x->q + 32 * j, x->start_128 + j, sizeof(Record));
            add_scaled(sum, dot, s.scale[j]);
        }
        add_block(sum, s.d, x, partial);
    }
};

// 8 sub-blocks of 32 k, each with a scale and a minimum. Per block: sum = sum over sub-blocks of scale*(codes . x), in order;
// then partial += (sum*d - dmin*(mins . sums of x)) * dx
template <int kBits> struct Blocks256Min {
    using Record = RecordQ256;
    static constexpr int kSteps = 8, kAhead = 2;

    struct Scratch {
        alignas(64) Quad w[8][8];                      // [sub-block][t]; odd sub-blocks times a factor with kVnni
        alignas(64) float scale[8][kTileRows];         // divided by the factor that the codes carry
        alignas(64) int32_t min_pairs[4][kTileRows];   // two int16: mins of sub-blocks as in RecordQ256::pair_sums
        alignas(64) float d[kTileRows], dmin[kTileRows];
    };

    TR_INLINE static void unpack_scales(Scratch &s, const ScalesAndMins &p, int v, float odd_factor) {
        const VecI low6 = set8(0x3f), high2 = set8(0xc0), low8 = set16(0xff);
        const int line = line_of(v), row = row_of(v), lane = v * kLanes;
        alignas(64) uint8_t scale[8][16];
        for (int i = 0; i < 128; i += 4 * kLanes) store_i(scale[0] + i, and_i(load_i(p.lines[0] + i), low6));
        for (int j = 0; j < 8; j++) {
            VecF f = to_float(widen_u8(scale[j] + row));
            if (kVnni && j % 2) f = mul(f, set(1 / odd_factor));
            store(s.scale[j] + lane, f);
        }

        const VecI a = load_i(p.lines[0] + line), b = load_i(p.lines[1] + line), c = load_i(p.lines[2] + line);
        const VecI first = and_i(c, low6); // mins 0-3, then 4-7, one per byte
        const VecI last = or_i(or_i(shift_right16<6>(and_i(a, high2)), shift_right16<4>(and_i(b, high2))),
                               shift_right16<2>(and_i(c, high2)));
        store_i(s.min_pairs[0] + lane, and_i(first, low8));
        store_i(s.min_pairs[1] + lane, shift_right16<8>(first));
        store_i(s.min_pairs[2] + lane, and_i(last, low8));
        store_i(s.min_pairs[3] + lane, shift_right16<8>(last));
        store(s.d + lane, load_half(p.d + row));
        store(s.dmin + lane, load_half(p.dmin + row));
    }

    template <int C> __attribute__((noinline)) static void accumulate(const Scratch &s, const Record *x, float *partial, Prefetch &prefetch) {
        VecF sum[C][2];
        clear(sum);
#pragma GCC unroll 1
        for (int j = 0; j < 8; j++) {
            prefetch.step();
            VecI dot[C][2];
#pragma GCC unroll 8
            for (int c = 0; c < C; c++) dot[c][0] = dot[c][1] = zero_i();
            dot_columns<C, 8, kBits>(dot, s.w[j], x->q + 32 * j, sizeof(Record));
            add_scaled(sum, dot, s.scale[j]);
        }
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++) {
            const int lane = v * kLanes;
            const VecF d = load(s.d + lane), dmin = load(s.dmin + lane);
            VecI pairs[4];
            for (int i = 0; i < 4; i++) pairs[i] = load_i(s.min_pairs[i] + lane);
#pragma GCC unroll 8
            for (int c = 0; c < C; c++) {
                VecI mins = zero_i();
                for (int i = 0; i < 4; i++) mins = dot_s16(mins, pairs[i], broadcast_word(x[c].pair_sums + i));
                const VecF block = fnma(to_float(mins), dmin, mul(sum[c][v], d));
                float *p = partial + c * kTileRows + lane;
                store(p, fma(block, broadcast(&x[c].d), load(p)));
            }
        }
    }
};

} // namespace
} // namespace tr::cpu::TR_ISA
