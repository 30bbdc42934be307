// Products. Per output element: blocks of k in order, integers exact within a block, floats in the order written here.
#include <algorithm>
#include <cstring>

#include "cpu/panels.h"
#include "cpu/reference/reference.h"
#include "quant/blocks.h"

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

// ---- blocks of 32

int32_t dot_of(const uint8_t *code, int offset, const int8_t *x, int n) {
    int32_t dot = 0;
    for (int i = 0; i < n; i++) dot += (code[i] - offset) * x[i];
    return dot;
}

int32_t dot_of(const uint8_t *code, const int8_t (&values)[16], const int8_t *x, int n) {
    int32_t dot = 0;
    for (int i = 0; i < n; i++) dot += values[code[i]] * x[i];
    return dot;
}

template <class Block> float offset_product(float sum, const Block &w, int offset, const int8_t *x, float dx) {
    uint8_t code[32];
    unpack_codes(w, code);
    return std::fma(static_cast<float>(dot_of(code, offset, x, 32)) * dx, quant::half_to_float(w.d), sum);
}
float block_product(float sum, const quant::BlockQ4_0 &w, const int8_t *x, float dx) { return offset_product(sum, w, 8, x, dx); }
float block_product(float sum, const quant::BlockQ5_0 &w, const int8_t *x, float dx) { return offset_product(sum, w, 16, x, dx); }

template <class Block> float min_product(float sum, const Block &w, const int8_t *x, float dx) {
    uint8_t code[32];
    unpack_codes(w, code);
    sum = std::fma(static_cast<float>(dot_of(code, 0, x, 32)) * dx, quant::half_to_float(w.d), sum);
    return std::fma(static_cast<float>(sum_of(x, 32)) * dx, quant::half_to_float(w.m), sum);
}
float block_product(float sum, const quant::BlockQ4_1 &w, const int8_t *x, float dx) { return min_product(sum, w, x, dx); }
float block_product(float sum, const quant::BlockQ5_1 &w, const int8_t *x, float dx) { return min_product(sum, w, x, dx); }

float block_product(float sum, const quant::BlockQ8_0 &w, const int8_t *x, float dx) {
    int32_t dot = 0;
    for (int i = 0; i < 32; i++) dot += w.qs[i] * x[i];
    return std::fma(static_cast<float>(dot) * dx, quant::half_to_float(w.d), sum);
}

template <class Block> float table_product(float sum, const Block &w, const int8_t (&values)[16], float d, const int8_t *x, float dx) {
    uint8_t code[32];
    unpack_codes(w, code);
    return std::fma(static_cast<float>(dot_of(code, values, x, 32)) * dx, d, sum);
}
float block_product(float sum, const quant::BlockIQ4_NL &w, const int8_t *x, float dx) {
    return table_product(sum, w, quant::kIQ4Values, quant::half_to_float(w.d), x, dx);
}
float block_product(float sum, const quant::BlockMXFP4 &w, const int8_t *x, float dx) {
    return table_product(sum, w, quant::kMXFP4Values, quant::e8m0_half(w.e), x, dx);
}

// ---- blocks of 256

// (scaled*d - dmin*mins) * dx, added to the sum
template <class Block> float add_block(float sum, float scaled, int32_t mins, const Block &w, float dx) {
    const float block = std::fma(-static_cast<float>(mins), quant::half_to_float(w.dmin), scaled * quant::half_to_float(w.d));
    return std::fma(block, dx, sum);
}

float block_product(float sum, const quant::BlockQ2_K &w, const RecordQ256 &x) {
    uint8_t code[256];
    unpack_codes(w, code);
    float scaled = 0;
    int32_t mins = 0;
    for (int j = 0; j < 16; j++) {
        const int32_t dot = dot_of(code + 16 * j, 0, x.q + 16 * j, 16);
        scaled = std::fma(static_cast<float>(dot), static_cast<float>(w.scales[j] & 15), scaled);
        mins += (w.scales[j] >> 4) * sum_of(x.q + 16 * j, 16);
    }
    return add_block(sum, scaled, mins, w, x.d);
}

template <class Block> float scales_mins_product(float sum, const Block &w, const RecordQ256 &x) {
    uint8_t scale[8], min[8], code[256];
    quant::unpack_scales(w.scales, scale, min);
    unpack_codes(w, code);
    float scaled = 0;
    int32_t mins = 0;
    for (int j = 0; j < 8; j++) {
        const int32_t dot = dot_of(code + 32 * j, 0, x.q + 32 * j, 32);
        scaled = std::fma(static_cast<float>(dot), static_cast<float>(scale[j]), scaled);
        mins += min[j] * sum_of(x.q + 32 * j, 32);
    }
    return add_block(sum, scaled, mins, w, x.d);
}
float block_product(float sum, const quant::BlockQ4_K &w, const RecordQ256 &x) { return scales_mins_product(sum, w, x); }
float block_product(float sum, const quant::BlockQ5_K &w, const RecordQ256 &x) { return scales_mins_product(sum, w, x); }

template <class Block> float scales_product(float sum, const Block &w, const int8_t scale[16], int offset, const RecordQ256 &x) {
    uint8_t code[256];
    unpack_codes(w, code);
    float scaled = 0;
    for (int j = 0; j < 16; j++) {
        const int32_t dot = dot_of(code + 16 * j, offset, x.q + 16 * j, 16);
        scaled = std::fma(static_cast<float>(dot), static_cast<float>(scale[j]), scaled);
    }
    return std::fma(scaled * quant::half_to_float(w.d), x.d, sum);
}
float block_product(float sum, const quant::BlockQ6_K &w, const RecordQ256 &x) { return scales_product(sum, w, w.scales, 32, x); }
float block_product(float sum, const quant::BlockQ3_K &w, const RecordQ256 &x) {
    int8_t scale[16];
    unpack_scales(w, scale);
    return scales_product(sum, w, scale, 4, x);
}

float block_product(float sum, const quant::BlockIQ4_XS &w, const RecordQ256 &x) {
    int8_t scale[8];
    uint8_t code[256];
    unpack_scales(w, scale);
    unpack_codes(w, code);
    float scaled = 0;
    for (int j = 0; j < 8; j++) {
        const int32_t dot = dot_of(code + 32 * j, quant::kIQ4Values, x.q + 32 * j, 32);
        scaled = std::fma(static_cast<float>(dot), static_cast<float>(scale[j]), scaled);
    }
    return std::fma(scaled * quant::half_to_float(w.d), x.d, sum);
}

template <class Block> float row_product_256(const uint8_t *row, const Activations &acts, int64_t n, int64_t k, int64_t column) {
    const auto x = view_q256(acts, n, k);
    float sum = 0;
    for (int64_t b = 0; b < x.blocks; b++) sum = block_product(sum, block_at<Block>(row, b), *x.at(column, b));
    const Remainders remainders = view_remainders(acts, n, k);
    for (int64_t b = 0; b < x.blocks; b++)
        if (remainders.has(column, b))
            sum = block_product(sum, block_at<Block>(row, b), *remainders.records.at(column, b));
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
    case quant::Type::Q4_0: return row_product_32<quant::BlockQ4_0>(w, acts, n, m.cols, column);
    case quant::Type::Q4_1: return row_product_32<quant::BlockQ4_1>(w, acts, n, m.cols, column);
    case quant::Type::Q5_0: return row_product_32<quant::BlockQ5_0>(w, acts, n, m.cols, column);
    case quant::Type::Q5_1: return row_product_32<quant::BlockQ5_1>(w, acts, n, m.cols, column);
    case quant::Type::Q8_0: return row_product_32<quant::BlockQ8_0>(w, acts, n, m.cols, column);
    case quant::Type::IQ4_NL: return row_product_32<quant::BlockIQ4_NL>(w, acts, n, m.cols, column);
    case quant::Type::MXFP4: return row_product_32<quant::BlockMXFP4>(w, acts, n, m.cols, column);
    case quant::Type::Q2_K: return row_product_256<quant::BlockQ2_K>(w, acts, n, m.cols, column);
    case quant::Type::Q3_K: return row_product_256<quant::BlockQ3_K>(w, acts, n, m.cols, column);
    case quant::Type::Q4_K: return row_product_256<quant::BlockQ4_K>(w, acts, n, m.cols, column);
    case quant::Type::Q5_K: return row_product_256<quant::BlockQ5_K>(w, acts, n, m.cols, column);
    case quant::Type::Q6_K: return row_product_256<quant::BlockQ6_K>(w, acts, n, m.cols, column);
    case quant::Type::IQ4_XS: return row_product_256<quant::BlockIQ4_XS>(w, acts, n, m.cols, column);
    case quant::Type::F32:
    case quant::Type::F16:
    case quant::Type::BF16: break;
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

void matmul_gated(Worker &worker, const Matrix &gate, const Matrix &up, Gate kind, const Activations &acts, int64_t n, float *out, int64_t stride) {
    const auto argument = [kind](float g) { return kind == Gate::kGelu ? g * std::fma(g * g, kGeluCubic, kGeluLinear) : g; };
    for_each_row(worker, gate.rows, [&](int64_t r) {
        for (int64_t c = 0; c < n; c++) {
            const float g = row_product(gate, r, acts, n, c), u = row_product(up, r, acts, n, c);
            out[c * stride + r] = g / (1.0f + exp(0.0f - argument(g))) * u;
        }
    });
}

} // namespace tr::cpu::reference
