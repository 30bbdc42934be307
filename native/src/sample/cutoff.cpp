#include "sample/cutoff.h"

#include <algorithm>
#include <limits>

namespace tr::sample {

namespace {

constexpr float kBinsPerNat = 32; // 2048 bins reach weights of e^-64; what is below shares the last one

// Monotone in the logit, so that bins never contradict the order of logits.
int32_t bin_of(const WeightedRow &row, int64_t i) {
    const float distance = (row.largest - row.logits[i]) * row.inverse * kBinsPerNat;
    return distance < CutoffScratch::kBins - 1 ? static_cast<int32_t>(distance) : CutoffScratch::kBins - 1;
}

// f(i) for the ids of a weight of at least `bound`, which is above 0. Most groups of a peaked row have none.
template <class F> void for_each_above(const WeightedRow &row, float bound, F &&f) {
    constexpr int64_t kGroup = 32;
    for (int64_t base = 0; base < row.n; base += kGroup) {
        const int64_t end = std::min(base + kGroup, row.n);
        int any = 0;
        for (int64_t i = base; i < end; i++) any |= row.weights[i] >= bound;
        for (int64_t i = base; any && i < end; i++) {
            if (row.weights[i] >= bound) f(i);
        }
    }
}

// The last id that is kept.
struct Cutoff {
    float logit;
    int64_t id;
};

// Keeps the shortest prefix that measures at least `amount`; ids of a weight below `bound` are known to lie behind it.
template <class Measure>
void keep(const WeightedRow &row, double amount, float bound, CutoffScratch &s, Measure measure) {
    double *bins = s.bins.data();
    std::fill_n(bins, CutoffScratch::kBins, 0.0);
    for_each_above(row, bound, [&](int64_t i) { bins[bin_of(row, i)] += measure(row.weights[i]); });
    int32_t bin = 0;
    while (bin < CutoffScratch::kBins && bins[bin] < amount) amount -= bins[bin++];
    if (bin == CutoffScratch::kBins) return; // all of it is not more than asked for

    Candidate *c = s.candidates.data();
    int64_t count = 0;
    for_each_above(row, bound, [&](int64_t i) {
        if (bin_of(row, i) == bin) c[count++] = {row.logits[i], row.weights[i], static_cast<int32_t>(i)};
    });
    std::sort(c, c + count, [](const Candidate &a, const Candidate &b) { return a.logit != b.logit ? a.logit > b.logit : a.id < b.id; });
    int64_t last = 0;
    for (; last + 1 < count; last++) {
        if ((amount -= measure(c[last].weight)) <= 0) break;
    }
    const Cutoff cutoff{c[last].logit, c[last].id};
    for (int64_t i = 0; i <= cutoff.id; i++) row.weights[i] = row.logits[i] >= cutoff.logit ? row.weights[i] : 0;
    for (int64_t i = cutoff.id + 1; i < row.n; i++) row.weights[i] = row.logits[i] > cutoff.logit ? row.weights[i] : 0;
}

} // namespace

void keep_top_k(const WeightedRow &row, int64_t k, CutoffScratch &scratch) {
    keep(row, static_cast<double>(k), std::numeric_limits<float>::denorm_min(), scratch, [](float) { return 1.0; });
}

void keep_top_p(const WeightedRow &row, double share, double total, CutoffScratch &scratch) {
    // All weights below this together are less than half of what may be dropped.
    const double bound = (1 - share) * total / (2 * static_cast<double>(row.n));
    keep(row, share * total, std::max(static_cast<float>(bound), std::numeric_limits<float>::denorm_min()), scratch,
         [](float weight) { return static_cast<double>(weight); });
}

} // namespace tr::sample
