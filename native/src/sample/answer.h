// The answer to one row of a step: signals, top ids, the drawn token, in the order that tokenrouter.h states.
#pragma once
#include <cstdint>

#include "cpu/ops.h"
#include "sample/draw.h"
#include "sample/found.h"

namespace tr::sample {

// Where the lists of one row's answer live: both [TR_MAX_TOP].
struct TopStore {
    int32_t *ids;
    float *logits;
};

// Answers `row` from its raw logits [n_vocab], which are changed meanwhile and restored. `position` is that of the token to
// be drawn: one above the row's own. Depends on nothing but its arguments. If a logit in play is infinite or none
// is a number, no token is drawn, and log-sum-exp and entropy are NaN. Only activations that left float32's range do that
// (the loader refuses weights that are not finite); the other rows of the batch are answered as ever.
//
// If fewer ids are in play than wanted, top_ids is filled up with -1 and top_logits with minus infinity.
void answer(const cpu::Ops &ops, float *logits, int32_t n_vocab, int32_t position, tr_row &row, TopStore top, Scratch &scratch);

// Answers a row as answer() would, from what was found in its logits. The lists of `top` are filled already.
void answer_found(const Found &found, int32_t n_vocab, tr_row &row, TopStore top);

} // namespace tr::sample
