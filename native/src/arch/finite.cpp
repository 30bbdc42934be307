#include "arch/finite.h"

#include <cstring>

#include "quant/blocks.h"

namespace tr::arch {

namespace {

bool half_finite(uint16_t h) { return (h & 0x7c00) != 0x7c00; }

// The largest scale of MXFP4 whose product with the largest code, 12, is a float: 12 * 2^(e-128) < 2^128. 255 stands for NaN.
constexpr uint8_t kMaxExponent = 252;

// All n blocks of type Block at src, which need not be aligned.
template <class Block, class F> bool all_blocks(const void *src, size_t n, F &&good) {
    const auto *bytes = static_cast<const uint8_t *>(src);
    bool all = true;
    for (size_t i = 0; i < n; i++) {
        Block block;
        std::memcpy(&block, bytes + i * sizeof block, sizeof block);
        all &= good(block);
    }
    return all;
}

} // namespace

bool blocks_finite(quant::Type type, const void *src, size_t n) {
    using quant::Type;
    const auto scale = [](const auto &b) { return half_finite(b.d); };
    const auto scale_and_min = [](const auto &b) { return half_finite(b.d) && half_finite(b.m); };
    const auto scales = [](const auto &b) { return half_finite(b.d) && half_finite(b.dmin); };
    switch (type) {
    case Type::F32: return all_blocks<uint32_t>(src, n, [](uint32_t bits) { return (bits & 0x7f800000) != 0x7f800000; });
    case Type::F16: return all_blocks<uint16_t>(src, n, half_finite);
    case Type::BF16: return all_blocks<uint16_t>(src, n, [](uint16_t bits) { return (bits & 0x7f80) != 0x7f80; });
    case Type::Q4_0: return all_blocks<quant::BlockQ4_0>(src, n, scale);
    case Type::Q4_1: return all_blocks<quant::BlockQ4_1>(src, n, scale_and_min);
    case Type::Q5_0: return all_blocks<quant::BlockQ5_0>(src, n, scale);
    case Type::Q5_1: return all_blocks<quant::BlockQ5_1>(src, n, scale_and_min);
    case Type::Q8_0: return all_blocks<quant::BlockQ8_0>(src, n, scale);
    case Type::IQ4_NL: return all_blocks<quant::BlockIQ4_NL>(src, n, scale);
    case Type::MXFP4: return all_blocks<quant::BlockMXFP4>(src, n, [](const auto &b) { return b.e <= kMaxExponent; });
    case Type::Q2_K: return all_blocks<quant::BlockQ2_K>(src, n, scales);
    case Type::Q3_K: return all_blocks<quant::BlockQ3_K>(src, n, scale);
    case Type::Q4_K: return all_blocks<quant::BlockQ4_K>(src, n, scales);
    case Type::Q5_K: return all_blocks<quant::BlockQ5_K>(src, n, scales);
    case Type::Q6_K: return all_blocks<quant::BlockQ6_K>(src, n, scale);
    case Type::IQ4_XS: return all_blocks<quant::BlockIQ4_XS>(src, n, scale);
    }
    return false;
}

} // namespace tr::arch
