// The operations of a warp. Which lane holds which element of a matrix product is in the PTX ISA, "Matrix multiply-accumulate
// operation using mma instruction", for .m16n8k16 and .m16n8k32 on 8-bit integers, and .m16n8k16 on .f16 and .bf16.
#include <bit>

#include "emulation/report.h"
#include "emulation/tracking.h"
#include "emulation/warp.h"
#include "quant/types.h"

namespace tr::emulation {

namespace {

constexpr uint32_t kAll = 0xffffffff;

template <class F> void for_each_lane(uint32_t mask, F &&f) {
    for (; mask; mask &= mask - 1) f(std::countr_zero(mask));
}

// A is 16 x kDepth, row by row; B kDepth x 8, column by column. Lane 4g+t holds bytes 4t..4t+3 (and, 16 further on, as many more)
// of rows g and g+8 of A and of column g of B, and the elements (g, 2t), (g, 2t+1), (g+8, 2t), (g+8, 2t+1) of D.
template <int kDepth> void product(void *const *lanes, uint32_t mask) {
    if (mask != kAll) fail("a matrix product needs all 32 lanes; its mask is %08x", mask);
    int8_t a[16][kDepth], b[8][kDepth];
    const auto part = [&](int lane) { return *static_cast<const MatrixProduct *>(lanes[lane]); };
    for (int lane = 0; lane < 32; lane++) {
        const int g = lane / 4, t = lane % 4;
        for (int half = 0; half < kDepth / 16; half++) {
            std::memcpy(&a[g][4 * t + 16 * half], &part(lane).a[2 * half], 4);
            std::memcpy(&a[g + 8][4 * t + 16 * half], &part(lane).a[2 * half + 1], 4);
            std::memcpy(&b[g][4 * t + 16 * half], &part(lane).b[half], 4);
        }
    }
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < 4; i++) {
            const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
            int32_t sum = 0;
            for (int k = 0; k < kDepth; k++) sum += a[row][k] * b[column][k];
            part(lane).d[i] += sum;
        }
    }
}

// A is 16 x 16, B 16 x 8, in numbers of 16 bits: lane 4g+t holds numbers 2t, 2t+1 (and, 8 further on, as many more) where `product` has four
// bytes; of D the same elements.
template <class Number> void float_product(void *const *lanes, uint32_t mask, Number number) {
    if (mask != kAll) fail("a matrix product needs all 32 lanes; its mask is %08x", mask);
    double a[16][16], b[8][16];
    const auto part = [&](int lane) { return *static_cast<const FloatProduct *>(lanes[lane]); };
    for (int lane = 0; lane < 32; lane++) {
        const int g = lane / 4, t = lane % 4;
        for (int i = 0; i < 4; i++) { // number i % 2 of word i / 2
            const int k = 2 * t + i % 2 + i / 2 * 8, shift = i % 2 * 16;
            a[g][k] = number(static_cast<uint16_t>(part(lane).a[i / 2 * 2] >> shift));
            a[g + 8][k] = number(static_cast<uint16_t>(part(lane).a[i / 2 * 2 + 1] >> shift));
            b[g][k] = number(static_cast<uint16_t>(part(lane).b[i / 2] >> shift));
        }
    }
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < 4; i++) {
            const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
            double sum = part(lane).d[i];
            for (int k = 0; k < 16; k++) sum += a[row][k] * b[column][k];
            part(lane).d[i] = static_cast<float>(sum);
        }
    }
}

} // namespace

void nothing(void *const *, uint32_t) {}

void shuffle(void *const *lanes, uint32_t mask) {
    for_each_lane(mask, [&](int lane) {
        Shuffle &s = *static_cast<Shuffle *>(lanes[lane]);
        if (!(mask >> s.source & 1)) fail("a shuffle: lane %d asks lane %d, which is not in mask %08x", lane, s.source, mask);
        s.result = static_cast<const Shuffle *>(lanes[s.source])->value;
    });
}

void ballot(void *const *lanes, uint32_t mask) {
    uint32_t result = 0;
    for_each_lane(mask, [&](int lane) { result |= static_cast<const Ballot *>(lanes[lane])->bit << lane; });
    for_each_lane(mask, [&](int lane) { static_cast<Ballot *>(lanes[lane])->result = result; });
}

void product_16x8x32(void *const *lanes, uint32_t mask) { product<32>(lanes, mask); }
void product_16x8x16(void *const *lanes, uint32_t mask) { product<16>(lanes, mask); }
void product_half(void *const *lanes, uint32_t mask) { float_product(lanes, mask, quant::half_to_float); }
void product_brain(void *const *lanes, uint32_t mask) {
    float_product(lanes, mask, [](uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); });
}

} // namespace tr::emulation

double atomicAdd(double *to, double value) {
    if (tr::emulation::tracking()) tr::emulation::track_atomic(to, sizeof *to, __builtin_return_address(0));
    const double before = *to;
    *to = before + value;
    return before;
}
