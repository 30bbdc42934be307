// The kernels, as functions that queue them on a stream. All memory is the device's. docs/cuda.md has what they compute; each gives the
// bits of the CPU operator of its name, but for products of half and brain floats, which are close.
#pragma once
#include "cuda/kernels/layout.h"

#if defined(TR_EMULATION)
#include "emulation/cuda.h"
#else
#include <cuda_runtime_api.h>
#endif

namespace tr::cuda {

// to := x [n][k] in all forms wanted; with `gain` the RMS norm of x, which is also stored in y unless NULL.
void prepare(const float *x, int64_t n, int64_t k, const Forms &to, cudaStream_t stream);
void rms_norm(const float *x, int64_t n, int64_t k, const float *gain, float eps, float *y, const Forms &to, cudaStream_t stream);
void add_norm(const float *y, int64_t n, int64_t k, const float *gain, float eps, float *x, cudaStream_t stream);

// Products of a matrix of integers, and of one of floats of any width, with columns in the form that its type asks for.
void multiply_quantized(const Product &p, const QuantizedView &x, cudaStream_t stream);
void multiply_floats(const Product &p, const float *x, cudaStream_t stream);

// x[i] := row ids[i] of m, times scale.
void embed(const MatrixView &m, const int32_t *ids, int64_t n, float scale, float *x, cudaStream_t stream);
// to[i] := row rows[i] - first of from [n_from][k], for those that it has.
void gather(const float *from, int64_t first, int64_t n_from, int64_t k, const int32_t *rows, int64_t n, float *to, cudaStream_t stream);

void rope_store(const cpu::AttentionShape &shape, const Tokens &tokens, float *q, float *k, const float *v, const cpu::Rotation &rotation,
                const cpu::KvLayer &kv, cudaStream_t stream);
void attend(const Attention &a, cudaStream_t stream);

} // namespace tr::cuda
