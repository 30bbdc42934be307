// The ways to multiply with a quantized matrix, and those with a matrix of half or brain floats. They give the same bits; which is taken is a
// matter of speed alone.
#pragma once
#include "cuda/kernels/launch.h"

namespace tr::cuda {

constexpr int64_t kMostByRows = 4; // columns

// For at most kMostByRows columns: rows are read by whole warps, and dp4a multiplies.
void multiply_by_rows(const Product &p, const QuantizedView &x, cudaStream_t stream);
// For any number: tiles of 16 rows on the tensor cores.
void multiply_by_tiles(const Product &p, const QuantizedView &x, cudaStream_t stream);

constexpr int64_t kMostBySegments = 32; // columns: more would read the weights more than once

// Of half or brain floats, on the tensor cores: for few columns, warps read segments of rows.
void multiply_by_segments(const Product &p, const float *x, cudaStream_t stream);
// For many: a block of 128 rows and 64 columns.
void multiply_by_panels(const Product &p, const float *x, cudaStream_t stream);

} // namespace tr::cuda
