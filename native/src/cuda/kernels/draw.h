// Tokens drawn from rows of logits, as sample/draw.h says.
#pragma once
#include "cuda/kernels/answer.h"

namespace tr::cuda {

// Rows longer than this are drawn from by the processor.
constexpr int64_t kMostDrawnIds = 512 << 10;

// How a row's token is drawn. Pointers are to device memory.
struct Drawing {
    double u;                       // uniform in [0, 1)
    bool wanted;                    // or nothing of this is looked at
    bool greedy;                    // the first id in play after all changes
    float inverse;                  // 1 / temperature
    float top_p, min_p;             // 0: off
    int32_t top_k;                  // 0: off
    float repetition, presence, frequency; // if n_seen
    int32_t n_bias, n_seen;         // n_seen: 0 without penalties
    const int32_t *bias_ids, *seen_ids, *seen_counts;
    const float *bias;
    float *saved;                   // [n_bias + n_seen] room for the logits that are changed
    const uint32_t *allowed;        // NULL, or a mask of the ids that may be drawn
};

// found[i].drawn and drawn_logit := the token of row i, if it is wanted, and its logit before all changes; -1 and 0 if there is none. Logits are
// as before afterwards.
void draw_rows(const LogitRows &rows, float *logits, const Drawing *drawings, sample::Found *found, cudaStream_t stream);

} // namespace tr::cuda
