// Layouts of blocks in the file, and their packed parts taken apart. Numbers are little-endian; blocks need not be aligned.
//
// Codes come out as they are stored, without the format's offset (Q4_0: 0..15, weight = d*(code-8)).
#pragma once
#include <cstdint>

#include "quant/types.h"

namespace tr::quant {

// ---- 32 weights. Nibble i of qs: low of byte i for i < 16, high of byte i-16 otherwise.
struct BlockQ4_0 { uint16_t d; uint8_t qs[16]; };                     // d * (code - 8)
struct BlockQ4_1 { uint16_t d, m; uint8_t qs[16]; };                  // d * code + m
struct BlockQ5_0 { uint16_t d; uint8_t qh[4], qs[16]; };              // d * (code - 16); bit i of qh is code i's fifth bit
struct BlockQ5_1 { uint16_t d, m; uint8_t qh[4], qs[16]; };           // d * code + m
struct BlockQ8_0 { uint16_t d; int8_t qs[32]; };                      // d * code
struct BlockIQ4_NL { uint16_t d; uint8_t qs[16]; };                   // d * kIQ4Values[code]
struct BlockMXFP4 { uint8_t e, qs[16]; };                             // e8m0_half(e) * kMXFP4Values[code]

// ---- 256 weights in sub-blocks of 16 or 32, each with a scale (and a minimum) of a few bits.
struct BlockQ2_K { uint8_t scales[16], qs[64]; uint16_t d, dmin; };             // d*scale * code - dmin*min, of 16
struct BlockQ3_K { uint8_t hmask[32], qs[64], scales[12]; uint16_t d; };        // d*scale * (code - 4), of 16
struct BlockQ4_K { uint16_t d, dmin; uint8_t scales[12], qs[128]; };            // d*scale * code - dmin*min, of 32
struct BlockQ5_K { uint16_t d, dmin; uint8_t scales[12], qh[32], qs[128]; };    // as Q4_K
struct BlockQ6_K { uint8_t ql[128], qh[64]; int8_t scales[16]; uint16_t d; };   // d*scale * (code - 32), of 16
struct BlockIQ4_XS { uint16_t d, scales_h; uint8_t scales_l[4], qs[128]; };     // d*scale * kIQ4Values[code], of 32

static_assert(sizeof(BlockQ4_0) == 18 && sizeof(BlockQ4_1) == 20 && sizeof(BlockQ5_0) == 22 && sizeof(BlockQ5_1) == 24);
static_assert(sizeof(BlockQ8_0) == 34 && sizeof(BlockIQ4_NL) == 18 && sizeof(BlockMXFP4) == 17);
static_assert(sizeof(BlockQ2_K) == 84 && sizeof(BlockQ3_K) == 110 && sizeof(BlockQ4_K) == 144 && sizeof(BlockQ5_K) == 176);
static_assert(sizeof(BlockQ6_K) == 210 && sizeof(BlockIQ4_XS) == 136);

// What the codes of the formats with a table stand for. MXFP4's are the E2M1 floats of the OCP Microscaling specification
// (0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives) times 2, so that they are integers.
constexpr int8_t kIQ4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
constexpr int8_t kMXFP4Values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
// Half of 2^(e-127), the scale that an E8M0 byte stands for.
float e8m0_half(uint8_t e);

void unpack_codes(const BlockQ4_0 &b, uint8_t code[32]);
void unpack_codes(const BlockQ4_1 &b, uint8_t code[32]);
void unpack_codes(const BlockQ5_0 &b, uint8_t code[32]);
void unpack_codes(const BlockQ5_1 &b, uint8_t code[32]);
void unpack_codes(const BlockIQ4_NL &b, uint8_t code[32]);
void unpack_codes(const BlockMXFP4 &b, uint8_t code[32]);
void unpack_codes(const BlockQ2_K &b, uint8_t code[256]);
void unpack_codes(const BlockQ3_K &b, uint8_t code[256]);
void unpack_codes(const BlockQ4_K &b, uint8_t code[256]);
void unpack_codes(const BlockQ5_K &b, uint8_t code[256]);
void unpack_codes(const BlockQ6_K &b, uint8_t code[256]);
void unpack_codes(const BlockIQ4_XS &b, uint8_t code[256]);

// Of Q4_K and Q5_K: scales and minimums of 0..63.
void unpack_scales(const uint8_t packed[12], uint8_t scale[8], uint8_t min[8]);
void pack_scales(const uint8_t scale[8], const uint8_t min[8], uint8_t packed[12]);
void unpack_scales(const BlockQ3_K &b, int8_t scale[16]);  // -32..31
void unpack_scales(const BlockIQ4_XS &b, int8_t scale[8]); // -32..31

} // namespace tr::quant
