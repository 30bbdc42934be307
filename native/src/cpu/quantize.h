// Rules of activation quantization that all tables share.
//
// A block's scale is its largest magnitude / 127, a code is x * (127 / largest) rounded to nearest even: -127..127.
#pragma once
#include <cstdint>

namespace tr::cpu {

// A block of 256 that has more zeros among its codes than this keeps its remainder. A few values are then hundreds of times the
// others, as some models' activations are at the first token of a text (Sun et al., "Massive Activations in Large Language
// Models"), and a scale for the large ones leaves nothing of the rest: what the codes do not hold, x - code * scale, is quantized
// again, as a block of its own that is multiplied with the same weights after all others.
constexpr int kMostZeros = 128;

// Largest magnitudes below this become zeros: 127 / largest must not overflow. Far below what any sum can notice.
constexpr float kQuantizeTiny = 1e-30f;

// The largest magnitude of a block is found in the integer order of the floats' bits, in which infinity and NaN are
// largest. A block that has one gets codes of zero and a scale that is not a number, which the products hand on.
constexpr uint32_t kInfinityBits = 0x7f800000;

} // namespace tr::cpu
