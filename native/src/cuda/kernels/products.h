// The two ways to multiply with a quantized matrix. They give the same bits; which is taken is a matter of speed alone.
#pragma once
#include "cuda/kernels/launch.h"

namespace tr::cuda {

constexpr int64_t kMostByRows = 4; // columns

// For at most kMostByRows columns: rows are read by whole warps, and dp4a multiplies.
void multiply_by_rows(const Product &p, const QuantizedView &x, cudaStream_t stream);
// For any number: tiles of 16 rows on the tensor cores.
void multiply_by_tiles(const Product &p, const QuantizedView &x, cudaStream_t stream);

} // namespace tr::cuda
