#include "cuda/heads.h"

#include "cuda/kernels/heads.h"
#include "cuda/operators.h"

namespace tr::cuda {

namespace {

using heads::Inputs;

void dot_all(cpu::Worker &, const float *x, int64_t n, int64_t k, const float *weight, const float *bias, float *y) { dot(x, n, k, weight, bias, y, step_stream()); }

void layer_norm_all(cpu::Worker &, const float *x, int64_t n, int64_t k, const float *gain, const float *bias, float *y) {
    layer_norm(x, n, k, gain, bias, y, step_stream());
}

void relu_all(cpu::Worker &, int64_t n, float *x) { relu(n, x, step_stream()); }
void gelu_all(cpu::Worker &, int64_t n, float *x) { gelu(n, x, step_stream()); }
void add_all(cpu::Worker &, const float *y, int64_t n, float *x) { add(y, n, x, step_stream()); }
void take_all(cpu::Worker &, const Inputs &in, int64_t n, int64_t k, float *top, int32_t *ids) { take(in, n, k, top, ids, step_stream()); }
void join_all(cpu::Worker &, const Inputs &in, const float *embeddings, int64_t n, int64_t k, float *to) { join(in, embeddings, n, k, to, step_stream()); }

} // namespace

const heads::Operators kHeadOperators{dot_all, layer_norm_all, relu_all, gelu_all, add_all, take_all, join_all};

} // namespace tr::cuda
