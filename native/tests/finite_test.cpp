// Damaged weights of every format are found: each scale of a block that is no finite number, whatever its codes.
#include "arch/finite.h"
#include "cpu/fixtures.h"

using namespace tr;
using quant::Type;

namespace {

// Offsets of a block's half floats.
std::vector<size_t> scales(Type type) {
    switch (type) {
    case Type::F32:
    case Type::BF16:
    case Type::MXFP4: return {};
    case Type::Q4_1:
    case Type::Q5_1:
    case Type::Q4_K:
    case Type::Q5_K: return {0, 2};
    case Type::Q2_K: return {offsetof(quant::BlockQ2_K, d), offsetof(quant::BlockQ2_K, dmin)};
    case Type::Q3_K: return {offsetof(quant::BlockQ3_K, d)};
    case Type::Q6_K: return {offsetof(quant::BlockQ6_K, d)};
    default: return {0};
    }
}

void halves(Type type) {
    test::Random random(3);
    const test::FileWeights good = test::random_weights(random, type, 3, test::info_of(type).block);
    CHECK_CASE(arch::blocks_finite(type, good.bytes.data(), 3), test::info_of(type).name);
    for (size_t at : scales(type))
        for (uint16_t bits : {0x7c00, 0xfc00, 0x7e00, 0xfdff}) { // infinities, and what is not a number
            std::vector<uint8_t> bytes = good.bytes;
            std::memcpy(bytes.data() + good.row_bytes() + at, &bits, sizeof bits);
            CHECK_CASE(!arch::blocks_finite(type, bytes.data(), 3), test::info_of(type).name);
            CHECK(arch::blocks_finite(type, bytes.data(), 1));
        }
}

void exponents() {
    quant::BlockMXFP4 b{};
    for (int e = 0; e < 256; e++) {
        b.e = static_cast<uint8_t>(e);
        std::memset(b.qs, 0x77, sizeof b.qs); // the largest code
        float y[32];
        quant::dequantize(Type::MXFP4, &b, y, 32);
        CHECK_EQUAL(std::isfinite(y[0]) && e != 255, arch::blocks_finite(Type::MXFP4, &b, 1));
    }
}

void floats() {
    const float infinite = INFINITY, large = 3e38f;
    CHECK(!arch::blocks_finite(Type::F32, &infinite, 1));
    CHECK(arch::blocks_finite(Type::F32, &large, 1));
    for (uint16_t bits : {0x7f80, 0xff80, 0x7fc0, 0x7f81}) CHECK(!arch::blocks_finite(Type::BF16, &bits, 1));
    for (uint16_t bits : {0x7f7f, 0xff00, 0x0000}) CHECK(arch::blocks_finite(Type::BF16, &bits, 1));
}

} // namespace

int main() {
    for (Type type : test::all_types()) halves(type);
    exponents();
    floats();
    return test::report();
}
