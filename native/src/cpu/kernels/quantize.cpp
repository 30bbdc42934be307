// Activations: quantization, with the norm before it.
#include "cpu/activations.h"
#include "cpu/kernels/norm.h"
#include "cpu/kernels/operators.h"
#include "cpu/kernels/quantize_block.h"
#include "cpu/quantize.h"

namespace tr::cpu::TR_ISA {
namespace {

// Factors that unpacked codes of odd blocks carry (panels.h), hence the starts of their sums.
constexpr int kOddFactor4Bits = kVnni ? 16 : 1, kOddFactor5Bits = kVnni ? 8 : 1, kOddFactor6Bits = kVnni ? 4 : 1;

TR_INLINE void quantize(const float *x, RecordQ32 &record) {
    int32_t sums[2];
    for (int u = 0; u < 2; u++) {
        record.d[u] = quantize_block<32>(x + 32 * u, record.q + 32 * u, sums);
        const int32_t sum = sums[0] + sums[1];
        record.start_8[u] = -8 * sum * (u ? kOddFactor4Bits : 1);
        record.start_16[u] = -16 * sum * (u ? kOddFactor5Bits : 1);
        record.start_128[u] = -128 * sum;
        record.sum[u] = static_cast<float>(sum) * record.d[u];
    }
}

// Returns the number of codes that are zero.
TR_INLINE int quantize(const float *x, RecordQ256 &record) {
    int32_t sums[16];
    record.d = quantize_block<256>(x, record.q, sums);
    for (int i = 0; i < 16; i++) record.start_32[i] = -32 * sums[i] * (i % 2 ? kOddFactor6Bits : 1);
    const auto sum32 = [&](int block) { return static_cast<uint32_t>(sums[2 * block] + sums[2 * block + 1]); };
    for (int i = 0; i < 8; i++) record.start_128[i] = -128 * static_cast<int32_t>(sum32(i));
    for (int i = 0; i < 4; i++) { // blocks (0,2), (1,3), (4,6), (5,7)
        const int low = i / 2 * 4 + i % 2;
        record.pair_sums[i] = static_cast<int32_t>((sum32(low) & 0xffff) | sum32(low + 2) << 16);
    }
    int zeros = 0;
    for (int i = 0; i < 256; i += 32) zeros += zero_bytes32(record.q + i);
    return zeros;
}

// Block `part` of a column. A block of nothing but zeros, or of what is no number, has no remainder.
TR_INLINE void quantize(const float *x, const RecordView<RecordQ256> &records, const Remainders &remainders, int64_t column, int64_t part) {
    RecordQ256 &record = *records.at(column, part);
    remainders.clear(column, part);
    const int zeros = quantize(x, record);
    if (zeros <= kMostZeros || zeros == 256) return;
    alignas(64) float remainder[256];
    for (int i = 0; i < 256; i += kLanes)
        store(remainder + i, fnma(to_float(widen_s8(record.q + i)), set(record.d), load(x + i)));
    quantize(remainder, *remainders.records.at(column, part));
    remainders.keep(column, part);
}

// The forms of up to 256 values of one column, from value 256*part on. x is zero beyond n.
TR_INLINE void prepare_part(const Activations &acts, uint32_t forms, int64_t columns, int64_t k, int64_t column, int64_t part,
                            const float *x, int64_t n) {
    if (forms & kActF32) {
        const auto view = view_f32(acts, columns, k);
        for (int64_t i = 0; i < n; i += 32) {
            float *to = view.at(column, part * 8 + i / 32)->x;
            for (int j = 0; j < 32; j += kLanes) store(to + j, load(x + i + j));
        }
    }
    if (forms & kActQ32) {
        const auto view = view_q32(acts, columns, k);
        for (int64_t i = 0; i < n; i += 64) quantize(x + i, *view.at(column, part * 4 + i / 64));
    }
    if (forms & kActQ256) quantize(x, view_q256(acts, columns, k), view_remainders(acts, columns, k), column, part);
}

// A whole part is read in place; the last one of a row whose length is no multiple of 256 is copied and padded.
TR_INLINE const float *padded_part(const float *x, int64_t n, float *copy) {
    if (n == 256) return x;
    for (int64_t i = 0; i < 256; i++) copy[i] = i < n ? x[i] : 0;
    return copy;
}

} // namespace

void prepare(Worker &worker, const float *x, int64_t n, int64_t k, uint32_t forms, Activations &acts) {
    constexpr int64_t kParts = Remainders::kBlocksPerMark; // per piece of work: a long row is shared among the workers
    const int64_t parts = (k + 255) / 256, pieces = (parts + kParts - 1) / kParts;
    alignas(64) float copy[256];
    for (int64_t i; (i = worker.next(n * pieces)) < n * pieces;) {
        const int64_t column = i / pieces;
        const float *row = x + column * k;
        for (int64_t part = i % pieces * kParts; part < parts && part < (i % pieces + 1) * kParts; part++) {
            const int64_t count = k - part * 256 < 256 ? k - part * 256 : 256;
            prepare_part(acts, forms, n, k, column, part, padded_part(row + part * 256, count, copy), count);
        }
    }
}

void rms_norm(Worker &worker, const float *x, int64_t n, int64_t k, const float *gain, float eps, float *y, uint32_t forms,
              Activations &acts) {
    alignas(64) float part[256], copy[256];
    for (int64_t column; (column = worker.next(n)) < n;) {
        const float *row = x + column * k;
        const float scale = norm_scale(row, k, eps);
        for (int64_t i = 0; i < k; i += 256) {
            const int64_t count = k - i < 256 ? k - i : 256;
            int64_t j = 0;
            for (; j + kLanes <= count; j += kLanes)
                store(part + j, mul(mul(load(row + i + j), set(scale)), load(gain + i + j)));
            for (; j < count; j++) part[j] = row[i + j] * scale * gain[i + j];
            if (y)
                for (j = 0; j < count; j++) y[column * k + i + j] = part[j];
            if (forms) prepare_part(acts, forms, n, k, column, i / 256, padded_part(part, count, copy), count);
        }
    }
}

void add_norm(Worker &worker, const float *y, int64_t n, int64_t k, const float *gain, float eps, float *x) {
    for (int64_t column; (column = worker.next(n)) < n;) {
        const float *from = y + column * k;
        float *to = x + column * k;
        const float scale = norm_scale(from, k, eps);
        int64_t i = 0;
        for (; i + kLanes <= k; i += kLanes) store(to + i, add(load(to + i), mul(mul(load(from + i), set(scale)), load(gain + i))));
        for (; i < k; i++) to[i] += from[i] * scale * gain[i];
    }
}

} // namespace tr::cpu::TR_ISA
