// Where top-k and top-p cut a row whose weights are exp((logit - largest) / temperature), in time linear in its length:
// the ids are counted into bins by their distance from the largest, and only the bin with the cut in it is sorted.
#pragma once
#include <cstdint>

#include "base/memory.h"

namespace tr::sample {

// Ids are counted into bins of so many to a nat of distance from the largest logit.
constexpr float kBinsPerNat = 32;

struct Candidate {
    float logit, weight;
    int32_t id;
};

// Memory for it.
struct CutoffScratch {
    static constexpr int32_t kBins = 2048; // these reach weights of e^-64; what is below shares the last one
    explicit CutoffScratch(int32_t n_vocab)
        : bins(kBins, "the bins of a row"), candidates(static_cast<size_t>(n_vocab), "the candidates of a row") {}
    Array<double> bins;           // [kBins]
    Array<Candidate> candidates;  // [n_vocab]
};

// A row [n]; an id of weight 0 is not in it.
struct WeightedRow {
    const float *logits;
    float *weights;
    int64_t n;
    float largest, inverse; // the largest logit, 1/temperature
};

// Sets to 0 the weights of all ids but the k first in the order of select.h.
void keep_top_k(const WeightedRow &row, int64_t k, CutoffScratch &scratch);

// Sets to 0 the weights of all ids but the shortest prefix of that order whose weights sum to at least share * total, where
// total is the sum of the row's weights.
void keep_top_p(const WeightedRow &row, double share, double total, CutoffScratch &scratch);

} // namespace tr::sample
