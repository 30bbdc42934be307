// Products. Per output element: blocks of k in order, integers exact within a block, floats in the order written here.
#include <algorithm>
#include <cstring>

#include "cpu/panels.h"
#include "cpu/reference/reference.h"

namespace tr::cpu::reference {

namespace {

template <class Block> Block block_at(const uint8_t *row, int64_t i) {
    Block b;
    std::memcpy(&b, row + static_cast<size_t>(i) * sizeof b, sizeof b);
    return b;
}

int32_t sum_of(const int8_t *x, int n) {
    int32_t sum = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    return sum;
}

float block_product(float sum, const quant::BlockQ4_K &w, const RecordQ256 &x) {
    uint8_t scale[8], min[8];
    unpack_scales(w, scale, min);
    float scaled = 0;
    int32_t mins = 0;
    for (int j = 0; j < 8; j++) {
        int32_t dot = 0;
        for (int i = 0; i < 32; i++) {
            const uint8_t byte = w.qs[j / 2 * 32 + i];
            dot += (j % 2 ? byte >> 4 : byte & 15) * x.q[32 * j + i];
        }
        scaled = std::fma(static_cast<float>(dot), static_cast<float>(scale[j]), scaled);
        mins += min[j] * sum_of(x.q + 32 * j, 32);
    }
    const float block = std::fma(-static_cast<float>(mins), quant::half_to_float(w.dmin), scaled * quant::half_to_float(w.d));
    return std::fma(block, x.d, sum);
}

float block_product(float sum, const quant::BlockQ6_K &w, const RecordQ256 &x) {
    uint8_t code[256];
    unpack_codes(w, code);
    float scaled = 0;
    for (int j = 0; j < 16; j++) {
        int32_t dot = 0;
        for (int i = 0; i < 16; i++) dot += (code[16 * j + i] - 32) * x.q[16 * j + i];
        scaled = std::fma(static_cast<float>(dot), static_cast<float>(w.scales[j]), scaled);
    }
    return std::fma(scaled * quant::half_to_float(w.d), x.d, sum);
}

float block_product(float sum, const quant::BlockQ5_0 &w, const int8_t *x, float dx) {
    uint8_t code[32];
    unpack_codes(w, code);
    int32_t dot = 0;
    for (int i = 0; i < 32; i++) dot += (code[i] - 16) * x[i];
    return std::fma(static_cast<float>(dot) * dx, quant::half_to_float(w.d), sum);
}

float block_product(float sum, const quant::BlockQ8_0 &w, const int8_t *x, float dx) {
    int32_t dot = 0;
    for (int i = 0; i < 32; i++) dot += w.qs[i] * x[i];
    return std::fma(static_cast<float>(dot) * dx, quant::half_to_float(w.d), sum);
}

template <class Block> float row_product_256(const uint8_t *row, const Activations &acts, int64_t n, int64_t k, int64_t column) {
    const auto x = view_q256(acts, n, k);
    float sum = 0;
    for (int64_t b = 0; b < x.blocks; b++) sum = block_product(sum, block_at<Block>(row, b), *x.at(column, b));
    return sum;
}

// Blocks go in pairs: an odd number of them is followed by one of zeros (which can turn a sum of -0 into +0).
template <class Block> float row_product_32(const uint8_t *row, const Activations &acts, int64_t n, int64_t k, int64_t column) {
    const auto x = view_q32(acts, n, k);
    float sum = 0;
    for (int64_t b = 0; b < 2 * x.blocks; b++) {
        const Block w = 32 * b < k ? block_at<Block>(row, b) : Block{};
        const RecordQ32 &record = *x.at(column, b / 2);
        sum = block_product(sum, w, record.q + b % 2 * 32, record.d[b % 2]);
    }
    return sum;
}

// Weights of any type as floats: chains of 32 fused multiply-adds from zero, added up in order.
float row_product_float(quant::Type type, const uint8_t *row, const Activations &acts, int64_t n, int64_t k, int64_t column) {
    const quant::TypeInfo &info = *quant::type_info(static_cast<uint32_t>(type));
    const auto x = view_f32(acts, n, k);
    float sum = 0;
    for (int64_t k0 = 0; k0 < k; k0 += 256) {
        float w[256] = {};
        const int64_t count = std::min<int64_t>(256, k - k0);
        quant::dequantize(type, row + static_cast<size_t>(k0) / info.block * info.bytes, w, static_cast<size_t>(count));
        for (int64_t i = 0; i < count; i += 32) {
            const RecordF32 &record = *x.at(column, (k0 + i) / 32);
            float chain = 0;
            for (int j = 0; j < 32; j++) chain = std::fma(w[i + j], record.x[j], chain);
            sum += chain;
        }
    }
    return sum;
}

float row_product(const Matrix &m, int64_t row, const Activations &acts, int64_t n, int64_t column) {
    const uint8_t *w = m.data.get() + static_cast<size_t>(row) * file_row_bytes(m);
    if (m.exact_float) return row_product_float(m.type, w, acts, n, m.cols, column);
    switch (m.type) {
    case quant::Type::Q4_K: return row_product_256<quant::BlockQ4_K>(w, acts, n, m.cols, column);
    case quant::Type::Q6_K: return row_product_256<quant::BlockQ6_K>(w, acts, n, m.cols, column);
    case quant::Type::Q5_0: return row_product_32<quant::BlockQ5_0>(w, acts, n, m.cols, column);
    case quant::Type::Q8_0: return row_product_32<quant::BlockQ8_0>(w, acts, n, m.cols, column);
    case quant::Type::F32:
    case quant::Type::F16: break;
    }
    return row_product_float(m.type, w, acts, n, m.cols, column);
}

template <class Body> void for_each_row(Worker &worker, int64_t rows, Body body) {
    for (int64_t row; (row = worker.next(rows)) < rows;) body(row);
}

} // namespace

void matmul(Worker &worker, const Matrix &m, const Activations &acts, int64_t n, const float *bias, float *out, int64_t stride) {
    for_each_row(worker, m.rows, [&](int64_t r) {
        for (int64_t c = 0; c < n; c++) {
            const float product = row_product(m, r, acts, n, c);
            out[c * stride + r] = bias ? product + bias[r] : product;
        }
    });
}

void matmul_add(Worker &worker, const Matrix &m, const Activations &acts, int64_t n, float *out, int64_t stride) {
    for_each_row(worker, m.rows, [&](int64_t r) {
        for (int64_t c = 0; c < n; c++) out[c * stride + r] += row_product(m, r, acts, n, c);
    });
}

void matmul_silu(Worker &worker, const Matrix &gate, const Matrix &up, const Activations &acts, int64_t n, float *out, int64_t stride) {
    for_each_row(worker, gate.rows, [&](int64_t r) {
        for (int64_t c = 0; c < n; c++) {
            const float g = row_product(gate, r, acts, n, c), u = row_product(up, r, acts, n, c);
            out[c * stride + r] = g / (1.0f + exp(0.0f - g)) * u;
        }
    });
}

} // namespace tr::cpu::reference
