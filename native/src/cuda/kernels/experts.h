// The choice of experts, and their columns.
#pragma once
#include "cuda/kernels/layout.h"
#include "cuda/kernels/launch.h"

namespace tr::cuda {

// As arch::ExpertWorkspace has them, in device memory. A pair is a column and one of its experts; pairs lie sorted by expert.
struct Choice {
    int32_t *chosen;    // [n][n_used], rising
    float *weight;      // [n][n_used]
    int32_t *pair_at;   // [n][n_used]
    int32_t *begin;     // [n_expert + 1]
    int32_t *column;    // [n * n_used]
    int64_t n;
    int32_t n_expert, n_used;
};

// chosen and weight := what arch::choose_experts makes of scores [n][n_expert].
void choose_experts(const Choice &c, const float *scores, cudaStream_t stream);
// begin, column and pair_at := the pairs sorted by expert, those of an expert by column.
void arrange_pairs(const Choice &c, cudaStream_t stream);
// x[i] += the weighted values of its pairs, in the order of their experts; k values each.
void add_pairs(const Choice &c, const float *values, int64_t k, float *x, cudaStream_t stream);

} // namespace tr::cuda
