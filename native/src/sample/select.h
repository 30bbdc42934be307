// Choosing the largest of a row's logits. One total order everywhere: larger logit first, the lower id among equals.
#pragma once
#include <cstdint>

#include "sample/mask.h"

namespace tr::sample {

// The first id in that order, or -1 if none is in play (a NaN is never chosen).
int32_t argmax(const float *logits, const Mask &mask);

// The k first ids in that order and their logits, first to last; returns how many there are (fewer than k if fewer are in
// play). Takes O(k) per change of the list, so it is meant for small k.
int32_t select_top(const float *logits, const Mask &mask, int32_t k, int32_t *ids, float *values);

} // namespace tr::sample
