// What is asked of most rows of logits: their statistics and their largest ones.
#pragma once
#include "cuda/kernels/launch.h"
#include "sample/found.h"

namespace tr::cuda {

// The rows of a block of logits [n][n_vocab].
struct LogitRows {
    const float *logits;
    int64_t n, n_vocab;
    const sample::Wanted *wanted; // [n]
};

// found[i] := what sample::find makes of row i, top_ids and top_logits [i][TR_MAX_TOP] too.
void find_in_rows(const LogitRows &rows, sample::Found *found, int32_t *top_ids, float *top_logits, cudaStream_t stream);

} // namespace tr::cuda
