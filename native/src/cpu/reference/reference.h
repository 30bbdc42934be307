// The reference table: plain loops that define what every operator computes, down to the order of each floating-point
// operation. The other tables must give the same bits. It is compiled for the baseline processor, so std::fma may be a
// call into the C library: it exists for tests, not for speed.
#pragma once
#include <cmath>

#include "cpu/activations.h"
#include "cpu/exp.h"
#include "cpu/ops.h"

namespace tr::cpu::reference {

void prepare(Worker &, const float *x, int64_t n, int64_t k, uint32_t forms, Activations &acts);
void rms_norm(Worker &, const float *x, int64_t n, int64_t k, const float *gain, float eps, float *y, uint32_t forms,
              Activations &acts);
void add_norm(Worker &, const float *y, int64_t n, int64_t k, const float *gain, float eps, float *x);
void matmul(Worker &, const Matrix &m, const Activations &acts, int64_t n, const float *bias, float *out, int64_t stride);
void matmul_add(Worker &, const Matrix &m, const Activations &acts, int64_t n, float *out, int64_t stride);
void matmul_gated(Worker &, const Matrix &gate, const Matrix &up, Gate kind, const Activations &acts, int64_t n, float *out, int64_t stride);
void rope_store(Worker &, const AttentionShape &, const QueryToken *tokens, int64_t n, float *q, float *k, const float *v,
                const Rotation &rotation, KvLayer kv);
void attention(Worker &, const AttentionShape &, const QueryToken *tokens, int64_t n, const float *q, KvLayer kv,
               AttentionScratch &scratch, float *out);
void softmax_stats(const float *x, int64_t n, const uint32_t *valid, float *max, double *sum, double *dot);
void exp_shifted(const float *x, int64_t n, float shift, float inv_temperature, float *y);

// 1/sqrt(mean(x^2) + eps): what a norm multiplies k values with.
float norm_scale(const float *x, int64_t k, float eps);

// e^value as exp.h says; 0 below kExpLow, at most e^kExpHigh.
float exp(float value);

// Codes of n values; returns the scale.
float quantize_block(const float *x, int n, int8_t *q);

// Sums over the 16 lanes of a reduction: lane i takes in lane i+8, then i+4, i+2, i+1.
template <class T> T sum_tree16(T (&lane)[16]) {
    for (int width = 8; width > 0; width /= 2)
        for (int i = 0; i < width; i++) lane[i] = lane[i] + lane[i + width];
    return lane[0];
}

} // namespace tr::cpu::reference
