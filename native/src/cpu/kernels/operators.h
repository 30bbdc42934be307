// The operators of one instruction set, each defined in a file of its own (see Ops for what they do). Every *.cpp here is
// compiled once per instruction set, with TR_ISA, TR_VECTOR_BITS and TR_VNNI defined and that set's flags: native/CMakeLists.txt.
#pragma once
#include "cpu/ops.h"

namespace tr::cpu::TR_ISA {

void prepare(Worker &, const float *x, int64_t n, int64_t k, uint32_t forms, Activations &acts);
void rms_norm(Worker &, const float *x, int64_t n, int64_t k, const float *gain, float eps, float *y, uint32_t forms,
              Activations &acts);
void add_norm(Worker &, const float *y, int64_t n, int64_t k, const float *gain, float eps, float *x);
void matmul(Worker &, const Matrix &m, const Activations &acts, int64_t n, const float *bias, float *out, int64_t stride);
void matmul_add(Worker &, const Matrix &m, const Activations &acts, int64_t n, float *out, int64_t stride);
void matmul_gated(Worker &, const Matrix &gate, const Matrix &up, Gate kind, const Activations &acts, int64_t n, float *out,
                  int64_t stride);
void rope_store(Worker &, const AttentionShape &, const QueryToken *tokens, int64_t n, float *q, float *k, const float *v,
                const Rotation &rotation, KvLayer kv);
void attention(Worker &, const AttentionShape &, const QueryToken *tokens, int64_t n, const float *q, KvLayer kv,
               AttentionScratch &scratch, float *out);
void softmax_stats(const float *x, int64_t n, const uint32_t *valid, float *max, double *sum, double *dot);
void exp_shifted(const float *x, int64_t n, float shift, float inv_temperature, float *y);

} // namespace tr::cpu::TR_ISA
