// The parts of blocks of 256 weights.
#include "quant/blocks.h"

namespace tr::quant {

namespace {

// Q2_K and Q3_K: each half of 128 codes lies in 32 bytes, 2 bits of each for 32 codes.
void unpack_two_bits(const uint8_t qs[64], uint8_t code[256]) {
    for (int half = 0; half < 2; half++)
        for (int j = 0; j < 4; j++)
            for (int i = 0; i < 32; i++) code[128 * half + 32 * j + i] = qs[32 * half + i] >> 2 * j & 3;
}

// Q4_K and Q5_K: each pair of sub-blocks of 32 lies in 32 bytes, the first in the low nibbles.
void unpack_nibbles(const uint8_t qs[128], uint8_t code[256]) {
    for (int pair = 0; pair < 4; pair++)
        for (int i = 0; i < 32; i++) {
            code[64 * pair + i] = qs[32 * pair + i] & 15;
            code[64 * pair + 32 + i] = qs[32 * pair + i] >> 4;
        }
}

} // namespace

void unpack_codes(const BlockQ2_K &b, uint8_t code[256]) { unpack_two_bits(b.qs, code); }

void unpack_codes(const BlockQ3_K &b, uint8_t code[256]) {
    unpack_two_bits(b.qs, code);
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < 32; i++) code[32 * j + i] |= static_cast<uint8_t>((b.hmask[i] >> j & 1) << 2);
}

void unpack_codes(const BlockQ4_K &b, uint8_t code[256]) { unpack_nibbles(b.qs, code); }

void unpack_codes(const BlockQ5_K &b, uint8_t code[256]) {
    unpack_nibbles(b.qs, code);
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < 32; i++) code[32 * j + i] |= static_cast<uint8_t>((b.qh[i] >> j & 1) << 4);
}

void unpack_codes(const BlockQ6_K &b, uint8_t code[256]) {
    for (int half = 0; half < 2; half++) {
        const uint8_t *low = b.ql + 64 * half, *high = b.qh + 32 * half;
        uint8_t *out = code + 128 * half;
        for (int i = 0; i < 32; i++) {
            out[i] = static_cast<uint8_t>((low[i] & 15) | (high[i] & 3) << 4);
            out[i + 32] = static_cast<uint8_t>((low[i + 32] & 15) | (high[i] >> 2 & 3) << 4);
            out[i + 64] = static_cast<uint8_t>(low[i] >> 4 | (high[i] >> 4 & 3) << 4);
            out[i + 96] = static_cast<uint8_t>(low[i + 32] >> 4 | (high[i] >> 6) << 4);
        }
    }
}

void unpack_codes(const BlockIQ4_XS &b, uint8_t code[256]) {
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < 16; i++) {
            code[32 * j + i] = b.qs[16 * j + i] & 15;
            code[32 * j + 16 + i] = b.qs[16 * j + i] >> 4;
        }
}

void unpack_scales(const uint8_t packed[12], uint8_t scale[8], uint8_t min[8]) {
    const uint8_t *s = packed;
    for (int j = 0; j < 4; j++) {
        scale[j] = s[j] & 63;
        min[j] = s[j + 4] & 63;
        scale[j + 4] = static_cast<uint8_t>((s[j + 8] & 15) | (s[j] >> 6) << 4);
        min[j + 4] = static_cast<uint8_t>((s[j + 8] >> 4) | (s[j + 4] >> 6) << 4);
    }
}

void pack_scales(const uint8_t scale[8], const uint8_t min[8], uint8_t packed[12]) {
    for (int j = 0; j < 4; j++) {
        packed[j] = static_cast<uint8_t>(scale[j] | (scale[j + 4] >> 4) << 6);
        packed[j + 4] = static_cast<uint8_t>(min[j] | (min[j + 4] >> 4) << 6);
        packed[j + 8] = static_cast<uint8_t>((scale[j + 4] & 15) | (min[j + 4] & 15) << 4);
    }
}

void unpack_scales(const BlockQ3_K &b, int8_t scale[16]) {
    for (int j = 0; j < 16; j++) {
        const int low = j < 8 ? b.scales[j] & 15 : b.scales[j - 8] >> 4, high = b.scales[8 + j % 4] >> 2 * (j / 4) & 3;
        scale[j] = static_cast<int8_t>((low | high << 4) - 32);
    }
}

void unpack_scales(const BlockIQ4_XS &b, int8_t scale[8]) {
    for (int j = 0; j < 8; j++) {
        const int low = b.scales_l[j / 2] >> 4 * (j % 2) & 15, high = b.scales_h >> 2 * j & 3;
        scale[j] = static_cast<int8_t>((low | high << 4) - 32);
    }
}

} // namespace tr::quant
