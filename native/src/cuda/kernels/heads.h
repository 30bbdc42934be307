// Parts of router heads, which give the bits of the processor's (heads/operators.h has what they compute).
#pragma once
#include "cuda/kernels/launch.h"
#include "heads/operators.h"
#include "sample/found.h"

namespace tr::cuda {

void dot(const float *x, int64_t n, int64_t k, const float *weight, const float *bias, float *y, cudaStream_t stream);
void layer_norm(const float *x, int64_t n, int64_t k, const float *gain, const float *bias, float *y, cudaStream_t stream);
void relu(int64_t n, float *x, cudaStream_t stream);
void gelu(int64_t n, float *x, cudaStream_t stream);
void add(const float *y, int64_t n, float *x, cudaStream_t stream);
void take(const heads::Inputs &in, int64_t n, int64_t k, float *top, int32_t *ids, cudaStream_t stream);
void join(const heads::Inputs &in, const float *embeddings, int64_t n, int64_t k, float *to, cudaStream_t stream);

// tokens[i] := the drawn one of row i.
void take_tokens(const sample::Found *found, int64_t n, int32_t *tokens, cudaStream_t stream);

} // namespace tr::cuda
