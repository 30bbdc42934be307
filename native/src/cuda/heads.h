// What heads are computed with on a GPU, behind the processor's table: same arguments, pointers to device memory, same bits.
#pragma once
#include "heads/operators.h"

namespace tr::cuda {

extern const heads::Operators kHeadOperators;

} // namespace tr::cuda
