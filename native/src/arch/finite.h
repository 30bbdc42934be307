#pragma once
#include <cstddef>

#include "quant/types.h"

namespace tr::arch {

// Whether all weights of n blocks at src are finite numbers: floats as they are, coded blocks if their scales are.
bool blocks_finite(quant::Type type, const void *src, size_t n);

} // namespace tr::arch
