// Drawing a token from a row of logits.
#pragma once
#include <cstdint>

#include "base/memory.h"
#include "cpu/ops.h"
#include "sample/cutoff.h"
#include "sample/mask.h"
#include "tokenrouter.h"

namespace tr::sample {

// Memory for one row at a time; one per worker, allocated with the arena.
struct Scratch {
    explicit Scratch(int32_t n_vocab);
    Array<float> weights;         // [n_vocab]
    CutoffScratch cutoff;
    Array<uint32_t> words;        // [(n_vocab+31)/32]
    Array<float> saved;           // [2*n_vocab], the logits that adjust() changed
};

// A temperature below this is greedy: logits divided by it would leave float32's range.
constexpr float kLeastTemperature = 1e-5f;
// Up to here a top-k list is built one by one; longer ones are cut out of the whole row.
constexpr int32_t kShortTop = 256;
// Weights are summed in blocks, so that a draw over all ids finds its block first; those of a block in so many running sums.
constexpr int64_t kSumBlock = 1024, kSumLanes = 8;

// Whether the token is the first id in play after all changes, and whether anything changes the order of ids.
inline bool is_greedy(const tr_sampling &s) { return s.temperature < kLeastTemperature; }
bool changes_order(const tr_sampling &s);
// Whether top-p has an effect.
inline bool cuts_mass(const tr_sampling &s) { return s.top_p > 0 && s.top_p < 1; }
// Whether top-k is a list of at most kShortTop of n ids.
inline bool has_short_top(const tr_sampling &s, int64_t n) { return s.top_k > 0 && s.top_k <= kShortTop && s.top_k < n; }

// Whether any penalty of the list changes a logit.
bool has_penalties(const tr_sampling &sampling);

// Adds the biases, then applies the penalties, in place, and remembers what was there. The ids of each list are in range
// and distinct (checked with the batch).
void adjust(float *logits, const tr_sampling &sampling, Scratch &scratch);
// Undoes it, bit for bit.
void restore(float *logits, const tr_sampling &sampling, const Scratch &scratch);

// Draws an id among those of the mask, or returns -1 if there is none. `u` is uniform in [0, 1).
//
// Temperature 0: the first id in the order of select.h. Else weights are exp((logit - largest) / temperature) and
//   top-k keeps the k first ids in that order,
//   top-p keeps the shortest prefix of what is left whose weight is at least top_p times the weight of what is left,
//   min-p keeps the ids whose weight is at least min_p times the largest,
// and the draw walks what is kept in ascending order of ids: the first id at which the running sum of weights exceeds
// u times their total.
int32_t draw(const cpu::Ops &ops, const float *logits, const Mask &mask, const tr_sampling &sampling, double u, Scratch &scratch);

} // namespace tr::sample
