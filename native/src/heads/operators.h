// What heads are computed with, besides the operators of models. A head's code is the same on every device, as a model's is (arch/backend.h):
// pointers are to the device's memory.
#pragma once
#include <cstdint>

#include "cpu/pool.h"

namespace tr::heads {

// What heads look at: rows side by side.
struct Inputs {
    const float *hidden;      // [n][n_embd] after the final norm
    const float *top_logits;  // [n][TR_MAX_TOP] raw, largest first; as many as the row asked for, anything behind them
    const int32_t *tokens;    // [n] the drawn ones; -1: none could be drawn
};

// All are called by all workers of a pool run with the same arguments, and join at their end.
struct Operators {
    // y[i] := the product of row i of x, of k values, and weight; plus *bias unless it is NULL.
    void (*dot)(cpu::Worker &, const float *x, int64_t n, int64_t k, const float *weight, const float *bias, float *y);
    // y := (x - mean) / sqrt(variance + 1e-5) * gain + bias, by rows of k values.
    void (*layer_norm)(cpu::Worker &, const float *x, int64_t n, int64_t k, const float *gain, const float *bias, float *y);
    // Of n values each: x := max(x, 0); x := x/2 (1 + erf(x/sqrt 2)); x += y.
    void (*relu)(cpu::Worker &, int64_t n, float *x);
    void (*gelu)(cpu::Worker &, int64_t n, float *x);
    void (*add)(cpu::Worker &, const float *y, int64_t n, float *x);
    // top[i] := the first k top logits of row i; ids[i] := its token, or 0 if it has none.
    void (*take)(cpu::Worker &, const Inputs &in, int64_t n, int64_t k, float *top, int32_t *ids);
    // to[i] := row i's hidden state and its embedding, of k values each, the latter zeros if it has no token. Rows of `to` are 3k apart.
    void (*join)(cpu::Worker &, const Inputs &in, const float *embeddings, int64_t n, int64_t k, float *to);
};

// The processor's.
extern const Operators kOperators;

} // namespace tr::heads
