// Floats to blocks, by rounding to nearest: no search for better scales, no weighting.
#pragma once
#include <cstddef>
#include <string>

#include "quant/types.h"

namespace tr::quant {

// Whether quantize() writes a type.
bool can_quantize(Type type);
std::string quantizable_names(); // for messages: "F32, F16 and Q8_0"

// n finite floats (a multiple of the block) at src into blocks of a type that can_quantize(). A magnitude beyond what half
// floats scale gives an infinite scale.
void quantize(Type type, const float *src, void *dst, size_t n);

} // namespace tr::quant
