// Rules of activation quantization that all tables share.
//
// A block's scale is its largest magnitude / 127, a code is x * (127 / largest) rounded to nearest even: -127..127.
#pragma once
#include <cstdint>

namespace tr::cpu {

// Largest magnitudes below this become zeros: 127 / largest must not overflow. Far below what any sum can notice.
constexpr float kQuantizeTiny = 1e-30f;

// The largest magnitude of a block is found in the integer order of the floats' bits, in which infinity and NaN are
// largest. A block that has one gets codes of zero and a scale that is not a number, which the products hand on.
constexpr uint32_t kInfinityBits = 0x7f800000;

} // namespace tr::cpu
