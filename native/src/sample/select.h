// Choosing the largest of a row's logits. One total order everywhere: larger logit first, the lower id among equals.
#pragma once
#include <cstdint>

#include "sample/mask.h"

namespace tr::sample {

struct Candidate {
    float logit;
    float weight;   // exp((logit - largest) / temperature)
    int32_t id;
};

inline bool before(const Candidate &a, const Candidate &b) { return a.logit != b.logit ? a.logit > b.logit : a.id < b.id; }

// The first id in that order, or -1 if none is in play (a NaN is never chosen).
int32_t argmax(const float *logits, const Mask &mask);

// The k first ids in that order and their logits, first to last; returns how many there are (fewer than k if fewer are in
// play). Takes O(k) per change of the list, so it is meant for small k.
int32_t select_top(const float *logits, const Mask &mask, int32_t k, int32_t *ids, float *values);

// Reorders c[0..n) so that the shortest prefix of the total order whose weights sum to at least `mass` comes first, in no
// particular order, and returns its length (n if the whole does not reach it). Expected time O(n).
int64_t split_by_mass(Candidate *c, int64_t n, double mass);

} // namespace tr::sample
