#include "cuda/pack.h"

#include <cstddef>
#include <cstring>

#include "quant/blocks.h"

namespace tr::cuda {

namespace {

// Where a block's codes and parameters are in the file: one stretch each, and one more of parameters.
struct Parts {
    int64_t codes_at, codes, params_at, params, more_at, more;
};

Parts parts_of(quant::Type type) {
    using quant::Type;
    switch (type) {
    case Type::Q4_0: return {offsetof(quant::BlockQ4_0, qs), 16, 0, 2, 0, 0};
    case Type::Q4_1: return {offsetof(quant::BlockQ4_1, qs), 16, 0, 4, 0, 0};
    case Type::Q5_0: return {offsetof(quant::BlockQ5_0, qh), 20, 0, 2, 0, 0};
    case Type::Q5_1: return {offsetof(quant::BlockQ5_1, qh), 20, 0, 4, 0, 0};
    case Type::Q8_0: return {offsetof(quant::BlockQ8_0, qs), 32, 0, 2, 0, 0};
    case Type::IQ4_NL: return {offsetof(quant::BlockIQ4_NL, qs), 16, 0, 2, 0, 0};
    case Type::MXFP4: return {offsetof(quant::BlockMXFP4, qs), 16, 0, 1, 0, 0};
    case Type::Q2_K: return {offsetof(quant::BlockQ2_K, qs), 64, offsetof(quant::BlockQ2_K, scales), 16, offsetof(quant::BlockQ2_K, d), 4};
    case Type::Q3_K: return {offsetof(quant::BlockQ3_K, hmask), 96, offsetof(quant::BlockQ3_K, scales), 14, 0, 0};
    case Type::Q4_K: return {offsetof(quant::BlockQ4_K, qs), 128, 0, 16, 0, 0};
    case Type::Q5_K: return {offsetof(quant::BlockQ5_K, qh), 160, 0, 16, 0, 0};
    case Type::Q6_K: return {offsetof(quant::BlockQ6_K, ql), 192, offsetof(quant::BlockQ6_K, scales), 18, 0, 0};
    case Type::IQ4_XS: return {offsetof(quant::BlockIQ4_XS, qs), 128, 0, 8, 0, 0};
    case Type::F32: return {0, 4, 0, 0, 0, 0};
    case Type::F16:
    case Type::BF16: return {0, 2, 0, 0, 0, 0};
    }
    return {};
}

const quant::TypeInfo &info_of(quant::Type type) { return *quant::type_info(static_cast<uint32_t>(type)); }
quant::Type stored_type(const cpu::Matrix &m) { return m.exact_float ? quant::Type::F32 : m.type; }

} // namespace

MatrixView view(const cpu::Matrix &m) {
    const quant::Type type = stored_type(m);
    const Parts parts = parts_of(type);
    const int64_t units = m.cols / info_of(type).block, codes = in_planes(units * parts.codes);
    return {m.data.get(), type, m.rows, m.cols, codes + in_planes(units * (parts.params + parts.more)), codes};
}

int64_t packed_bytes(const cpu::Matrix &m) { return m.rows * view(m).row_bytes; }

void pack(const cpu::Matrix &m, const uint8_t *src, uint8_t *out) {
    const quant::TypeInfo &info = info_of(m.type);
    const Parts parts = parts_of(m.type);
    const MatrixView to = view(m);
    const int64_t units = m.cols / info.block;
    for (int64_t r = 0; r < m.rows; r++, src += units * info.bytes, out += to.row_bytes) {
        std::memset(out, 0, static_cast<size_t>(to.row_bytes));
        if (m.exact_float) {
            quant::dequantize(m.type, src, reinterpret_cast<float *>(out), static_cast<size_t>(m.cols));
            continue;
        }
        for (int64_t u = 0; u < units; u++) {
            const uint8_t *block = src + u * info.bytes;
            uint8_t *params = out + to.params_at + u * (parts.params + parts.more);
            std::memcpy(out + u * parts.codes, block + parts.codes_at, static_cast<size_t>(parts.codes));
            std::memcpy(params, block + parts.params_at, static_cast<size_t>(parts.params));
            std::memcpy(params + parts.params, block + parts.more_at, static_cast<size_t>(parts.more));
        }
    }
}

} // namespace tr::cuda
