#include "arch/finite.h"

#include <cstring>

namespace tr::arch {

namespace {

bool half_finite(uint16_t h) { return (h & 0x7c00) != 0x7c00; }

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
    switch (type) {
    case Type::F32: return all_blocks<uint32_t>(src, n, [](uint32_t bits) { return (bits & 0x7f800000) != 0x7f800000; });
    case Type::F16: return all_blocks<uint16_t>(src, n, half_finite);
    case Type::Q5_0: return all_blocks<quant::BlockQ5_0>(src, n, [](const auto &b) { return half_finite(b.d); });
    case Type::Q8_0: return all_blocks<quant::BlockQ8_0>(src, n, [](const auto &b) { return half_finite(b.d); });
    case Type::Q4_K: return all_blocks<quant::BlockQ4_K>(src, n, [](const auto &b) { return half_finite(b.d) && half_finite(b.dmin); });
    case Type::Q6_K: return all_blocks<quant::BlockQ6_K>(src, n, [](const auto &b) { return half_finite(b.d); });
    }
    return false;
}

} // namespace tr::arch
