// The parts of blocks of 32 weights.
#include <bit>
#include <cstring>

#include "quant/blocks.h"

namespace tr::quant {

namespace {

void unpack_nibbles(const uint8_t qs[16], uint8_t code[32]) {
    for (int i = 0; i < 16; i++) {
        code[i] = qs[i] & 15;
        code[i + 16] = qs[i] >> 4;
    }
}

void unpack_five_bits(const uint8_t qh[4], const uint8_t qs[16], uint8_t code[32]) {
    uint32_t high;
    std::memcpy(&high, qh, sizeof high);
    // Four codes at a time, one per byte of a word. The product moves bits 0 to 3 to bits 4, 12, 20 and 28.
    const auto fifth_bits = [high](int first) { return (high >> first & 15) * 0x02040810u & 0x10101010u; };
    for (int i = 0; i < 16; i += 4) {
        uint32_t nibbles;
        std::memcpy(&nibbles, qs + i, sizeof nibbles);
        const uint32_t low = (nibbles & 0x0f0f0f0f) | fifth_bits(i), upper = (nibbles >> 4 & 0x0f0f0f0f) | fifth_bits(i + 16);
        std::memcpy(code + i, &low, sizeof low);
        std::memcpy(code + i + 16, &upper, sizeof upper);
    }
}

} // namespace

float e8m0_half(uint8_t e) {
    // Below the smallest normal float: 2^-128 and 2^-127.
    return std::bit_cast<float>(e < 2 ? 0x00200000u << e : static_cast<uint32_t>(e - 1) << 23);
}

void unpack_codes(const BlockQ4_0 &b, uint8_t code[32]) { unpack_nibbles(b.qs, code); }
void unpack_codes(const BlockQ4_1 &b, uint8_t code[32]) { unpack_nibbles(b.qs, code); }
void unpack_codes(const BlockIQ4_NL &b, uint8_t code[32]) { unpack_nibbles(b.qs, code); }
void unpack_codes(const BlockMXFP4 &b, uint8_t code[32]) { unpack_nibbles(b.qs, code); }
void unpack_codes(const BlockQ5_0 &b, uint8_t code[32]) { unpack_five_bits(b.qh, b.qs, code); }
void unpack_codes(const BlockQ5_1 &b, uint8_t code[32]) { unpack_five_bits(b.qh, b.qs, code); }

} // namespace tr::quant
