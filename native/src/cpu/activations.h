// How prepared activations lie in memory: by blocks of k, all columns of a block side by side, so that any group of
// neighbouring columns is one array of records.
//
// Columns are held in slabs of kSlabColumns: the products go through the weights once per slab, and a slab's activations
// stay in the second-level cache meanwhile.
#pragma once
#include <cstdint>

#include "cpu/memory.h"
#include "cpu/ops.h"

namespace tr::cpu {

constexpr int64_t kSlabColumns = 64;

// 32 values of one column, zero beyond k.
struct RecordF32 {
    static constexpr int64_t kValues = 32;
    float x[32];
};

// Two blocks of 32 values. The starts are what the kernels' accumulators start from: minus the offset of the weight codes
// times the sum of the activations, times the factor that the table's unpacked codes carry.
struct RecordQ32 {
    static constexpr int64_t kValues = 64;
    int8_t q[64];
    int32_t start_8[2], start_16[2], start_128[2]; // for offsets 8, 16 and 128
    float d[2];
    float sum[2]; // d times the sum of the codes, to meet the formats' minimums
};

// One block of 256 values.
struct RecordQ256 {
    static constexpr int64_t kValues = 256;
    int8_t q[256];
    int32_t start_32[16];  // for offset 32, per 16 values
    int32_t start_128[8];  // for offset 128, per 32 values
    int32_t pair_sums[4];  // sums of 32 values as two int16 each: blocks (0,2), (1,3), (4,6), (5,7), to meet Q4_K's mins
    float d;
    int32_t unused[3];
};
static_assert(sizeof(RecordQ32) == 104 && sizeof(RecordQ256) == 384);

// Shared with translation units that are compiled for newer processors. Always inlined, since the linker keeps only one
// copy of an inline function and must not keep one that older processors cannot run.
#define TR_ALWAYS_INLINE inline __attribute__((always_inline))

template <class Record> TR_ALWAYS_INLINE int64_t record_blocks(int64_t k) {
    return (k + Record::kValues - 1) / Record::kValues;
}
TR_ALWAYS_INLINE int64_t slab_width(int64_t slab, int64_t n) {
    const int64_t rest = n - slab * kSlabColumns;
    return rest < kSlabColumns ? rest : kSlabColumns;
}

struct Activations::Impl {
    Buffer f32{nullptr, nullptr}, q32{nullptr, nullptr}, q256{nullptr, nullptr};
    // The remainders of blocks of q256 (quantize.h), as q256 lies, written where there is one only; and which blocks have one:
    // [column][block/8], bit block%8.
    Buffer remainders{nullptr, nullptr}, marks{nullptr, nullptr};
};

// The records of one form, of n columns of k values.
template <class Record> struct RecordView {
    Record *base;
    int64_t blocks, n;

    // All columns of a slab: [block][width of the slab].
    TR_ALWAYS_INLINE Record *slab(int64_t s) const { return base + s * kSlabColumns * blocks; }
    TR_ALWAYS_INLINE Record *at(int64_t column, int64_t block) const {
        const int64_t s = column / kSlabColumns;
        return slab(s) + block * slab_width(s, n) + column % kSlabColumns;
    }
};

// n columns have n times the blocks of one, however they are arranged in slabs.
template <class Record> TR_ALWAYS_INLINE RecordView<Record> view_records(Record *base, const Activations &a, int64_t n, int64_t k) {
    const int64_t blocks = record_blocks<Record>(k);
    return {base + a.first_column * blocks, blocks, n};
}

TR_ALWAYS_INLINE RecordView<RecordF32> view_f32(const Activations &a, int64_t n, int64_t k) {
    return view_records(reinterpret_cast<RecordF32 *>(a.impl->f32.get()), a, n, k);
}
TR_ALWAYS_INLINE RecordView<RecordQ32> view_q32(const Activations &a, int64_t n, int64_t k) {
    return view_records(reinterpret_cast<RecordQ32 *>(a.impl->q32.get()), a, n, k);
}
TR_ALWAYS_INLINE RecordView<RecordQ256> view_q256(const Activations &a, int64_t n, int64_t k) {
    return view_records(reinterpret_cast<RecordQ256 *>(a.impl->q256.get()), a, n, k);
}

// The blocks of n columns of k values that have a remainder.
struct Remainders {
    static constexpr int64_t kBlocksPerMark = 8;
    RecordView<RecordQ256> records;
    uint8_t *base;
    int64_t marks; // bytes of a column

    TR_ALWAYS_INLINE bool has(int64_t column, int64_t block) const { return mark(column, block) >> block % kBlocksPerMark & 1; }
    TR_ALWAYS_INLINE void keep(int64_t column, int64_t block) const {
        mark(column, block) = static_cast<uint8_t>(mark(column, block) | 1 << block % kBlocksPerMark);
    }
    // Of this block and of those after it that share its mark: blocks are prepared in order.
    TR_ALWAYS_INLINE void clear(int64_t column, int64_t block) const {
        mark(column, block) = static_cast<uint8_t>(mark(column, block) & ((1 << block % kBlocksPerMark) - 1));
    }

    // body(column, block) for those of a slab: column by column, blocks in order. There are none as a rule.
    template <class Body> TR_ALWAYS_INLINE void for_each(int64_t s, int64_t width, Body body) const {
        const uint8_t *of_slab = base + s * kSlabColumns * marks;
        for (int64_t i = 0, step; i < width * marks; i += step) {
            uint64_t bits = 0;
            step = width * marks - i < 8 ? width * marks - i : 8;
            if (step == 8) __builtin_memcpy(&bits, of_slab + i, 8);
            else
                for (int64_t j = 0; j < step; j++) bits |= uint64_t{of_slab[i + j]} << 8 * j;
            for (; bits; bits &= bits - 1) {
                const int64_t bit = __builtin_ctzll(bits), at = i + bit / 8;
                body(s * kSlabColumns + at / marks, at % marks * kBlocksPerMark + bit % 8);
            }
        }
    }

private:
    TR_ALWAYS_INLINE uint8_t &mark(int64_t column, int64_t block) const { return base[column * marks + block / kBlocksPerMark]; }
};

TR_ALWAYS_INLINE Remainders view_remainders(const Activations &a, int64_t n, int64_t k) {
    const int64_t marks = (record_blocks<RecordQ256>(k) + Remainders::kBlocksPerMark - 1) / Remainders::kBlocksPerMark;
    return {view_records(reinterpret_cast<RecordQ256 *>(a.impl->remainders.get()), a, n, k), a.impl->marks.get() + a.first_column * marks, marks};
}

} // namespace tr::cpu
