// IEEE 754 binary16 in integer arithmetic: the same bits as the F16C instructions, on any machine.
#include <bit>
#include <cstdint>

#include "quant/types.h"

namespace tr::quant {

float half_to_float(uint16_t h) {
    const uint32_t sign = static_cast<uint32_t>(h & 0x8000) << 16;
    const uint32_t exponent = (h >> 10) & 0x1f;
    const uint32_t mantissa = h & 0x3ff;
    if (exponent == 0x1f) {
        const uint32_t quiet = mantissa ? 0x400000u : 0; // a signalling NaN becomes quiet
        return std::bit_cast<float>(sign | 0x7f800000u | quiet | mantissa << 13);
    }
    if (exponent == 0) { // zero or subnormal: mantissa * 2^-24, exact in float
        const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
        return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
    }
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

uint16_t float_to_half(float f) {
    const uint32_t bits = std::bit_cast<uint32_t>(f);
    const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
    const uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return sign | 0x7e00 | static_cast<uint16_t>(magnitude >> 13 & 0x3ff);
    // 65520 is halfway between the largest half and 2^16; ties go to even, which is infinity.
    if (magnitude >= 0x477ff000) return sign | 0x7c00;
    if (magnitude < 0x38800000) { // below 2^-14: in units of 2^-24
        // Adding 0.5 puts the unit of 2^-24 at the last mantissa bit, so the adder itself rounds to nearest even.
        const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
        return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(shifted) - 0x3f000000);
    }
    const uint32_t odd = magnitude >> 13 & 1;
    const uint32_t rounded = magnitude + 0xfff + odd;
    return sign | static_cast<uint16_t>((rounded >> 13) - (112 << 10));
}

} // namespace tr::quant
