#include "cpu/quantize.h"

#include <algorithm>
#include <bit>

#include "cpu/reference/reference.h"

namespace tr::cpu::reference {

// Codes of n values; returns the scale.
float quantize_block(const float *x, int n, int8_t *q) {
    uint32_t largest = 0;
    for (int i = 0; i < n; i++) largest = std::max(largest, std::bit_cast<uint32_t>(x[i]) & 0x7fffffff);
    for (int i = 0; i < n; i++) q[i] = 0;
    if (largest >= kInfinityBits) return __builtin_nanf("");
    const float magnitude = std::bit_cast<float>(largest);
    if (magnitude < kQuantizeTiny) return 0;
    const float factor = 127.0f / magnitude;
    for (int i = 0; i < n; i++) q[i] = static_cast<int8_t>(std::nearbyint(x[i] * factor));
    return magnitude / 127.0f;
}

namespace {

// Values [first, first+count) of one column, in all forms. `first` is a multiple of 256; count is 256 or goes to the end.
void prepare_values(const float *x, int64_t first, int64_t count, int64_t n, int64_t k, uint32_t forms, int64_t column,
                    Activations &acts) {
    float padded[256] = {};
    for (int64_t i = 0; i < count; i++) padded[i] = x[i];
    if (forms & kActF32)
        for (int64_t i = 0; i < count; i += 32)
            std::copy_n(padded + i, 32, view_f32(acts, n, k).at(column, (first + i) / 32)->x);
    if (forms & kActQ32)
        for (int64_t i = 0; i < count; i += 64) {
            RecordQ32 &record = *view_q32(acts, n, k).at(column, (first + i) / 64);
            for (int u = 0; u < 2; u++) record.d[u] = quantize_block(padded + i + 32 * u, 32, record.q + 32 * u);
        }
    if (forms & kActQ256) {
        RecordQ256 &record = *view_q256(acts, n, k).at(column, first / 256);
        record.d = quantize_block(padded, 256, record.q);
        const Remainders remainders = view_remainders(acts, n, k);
        const int64_t block = first / 256;
        remainders.clear(column, block);
        const auto zeros = std::count(record.q, record.q + 256, 0);
        if (zeros > kMostZeros && zeros < 256) {
            remainders.keep(column, block);
            for (int i = 0; i < 256; i++) padded[i] = std::fma(-static_cast<float>(record.q[i]), record.d, padded[i]);
            RecordQ256 &remainder = *remainders.records.at(column, block);
            remainder.d = quantize_block(padded, 256, remainder.q);
        }
    }
}

} // namespace

void prepare(Worker &worker, const float *x, int64_t n, int64_t k, uint32_t forms, Activations &acts) {
    for (int64_t c; (c = worker.next(n)) < n;)
        for (int64_t i = 0; i < k; i += 256)
            prepare_values(x + c * k + i, i, std::min<int64_t>(256, k - i), n, k, forms, c, acts);
}

float norm_scale(const float *x, int64_t k, float eps) {
    float lane[16] = {};
    for (int64_t i = 0; i < k; i++) lane[i % 16] = std::fma(x[i], x[i], lane[i % 16]);
    const float mean = sum_tree16(lane) / static_cast<float>(k);
    return 1.0f / std::sqrt(mean + eps);
}

void add_norm(Worker &worker, const float *y, int64_t n, int64_t k, const float *gain, float eps, float *x) {
    for (int64_t c; (c = worker.next(n)) < n;) {
        const float scale = norm_scale(y + c * k, k, eps);
        for (int64_t i = 0; i < k; i++) x[c * k + i] += y[c * k + i] * scale * gain[i];
    }
}

void rms_norm(Worker &worker, const float *x, int64_t n, int64_t k, const float *gain, float eps, float *y, uint32_t forms,
              Activations &acts) {
    for (int64_t c; (c = worker.next(n)) < n;) {
        const float *row = x + c * k;
        const float scale = norm_scale(row, k, eps);
        for (int64_t i = 0; i < k; i += 256) {
            float part[256];
            const int64_t count = std::min<int64_t>(256, k - i);
            for (int64_t j = 0; j < count; j++) part[j] = row[i + j] * scale * gain[i + j];
            if (y) std::copy_n(part, count, y + c * k + i);
            prepare_values(part, i, count, n, k, forms, c, acts);
        }
    }
}

} // namespace tr::cpu::reference
