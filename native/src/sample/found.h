// What of a row's logits its answer is made from: small enough to be found where the logits are.
#pragma once
#include <cstdint>

namespace tr::sample {

// Of the ids [0, n_valid) that the mask lets pass, if there is one.
struct Wanted {
    int32_t n_valid, n_top; // n_top: largest logits asked for, 0 to TR_MAX_TOP
    const uint32_t *valid;  // a mask as in mask.h, or NULL
};
struct Found {
    double sum, dot;        // of exp(x - largest), and of that times (x - largest): cpu::Ops::softmax_stats
    float largest;
    int32_t first;          // the id that select.h's order begins with, or -1 if there is none but NaN
    int32_t drawn;          // the token, or -1
    float drawn_logit;      // its own, before biases and penalties
};

} // namespace tr::sample
