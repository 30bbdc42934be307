// What of a row's logits its answer is made from, if nothing is to be done to them before: small enough to be found where the logits are.
#pragma once
#include <cstdint>

namespace tr::sample {

// Of the ids [0, n_valid).
struct Wanted {
    int32_t n_valid, n_top; // n_top: largest logits asked for, 0 to TR_MAX_TOP
};
struct Found {
    double sum, dot;        // of exp(x - largest), and of that times (x - largest): cpu::Ops::softmax_stats
    float largest;
    int32_t first;          // the id that select.h's order begins with, or -1 if all are NaN
};

} // namespace tr::sample
