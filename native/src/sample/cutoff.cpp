#include "sample/cutoff.h"

#include <algorithm>
#include <limits>

namespace tr::sample {

namespace {

constexpr int64_t kGroup = 32;

// The bins of n <= kGroup ids from `base` on. Monotone in the logit, so that bins never contradict the order of logits.
// (Plain loops over a group become vector code; a branch per id would be mispredicted half of the time.)
void bins_of(const WeightedRow &row, int64_t base, int64_t n, int32_t *bins) {
    constexpr float kLast = CutoffScratch::kBins - 1;
    for (int64_t i = 0; i < n; i++) {
        const float distance = (row.largest - row.logits[base + i]) * row.inverse * kBinsPerNat;
        const float at_least_0 = distance > 0 ? distance : 0; // a masked id may be above the largest of the row
        bins[i] = static_cast<int32_t>(at_least_0 < kLast ? at_least_0 : kLast);
    }
}

// f(base, n) for every group of ids with a weight of at least `bound`. Most groups of a peaked row have none.
template <class F> void for_each_group_above(const WeightedRow &row, float bound, F &&f) {
    for (int64_t base = 0; base < row.n; base += kGroup) {
        const int64_t n = std::min(kGroup, row.n - base);
        int any = 0;
        for (int64_t i = 0; i < n; i++) any |= row.weights[base + i] >= bound;
        if (any) f(base, n);
    }
}

// The last id that is kept.
struct Cutoff {
    float logit;
    int64_t id;
};

// Keeps the shortest prefix that measures at least `amount`. Its last id is known to have a weight of at least `bound`, which
// is above 0.
template <class Measure>
void keep(const WeightedRow &row, double amount, float bound, CutoffScratch &s, Measure measure) {
    double *bins = s.bins.data();
    std::fill_n(bins, CutoffScratch::kBins, 0.0);
    int32_t in_group[kGroup];
    for_each_group_above(row, bound, [&](int64_t base, int64_t n) {
        bins_of(row, base, n, in_group);
        for (int64_t i = 0; i < n; i++) bins[in_group[i]] += measure(row.weights[base + i]);
    });
    int32_t bin = 0;
    while (bin < CutoffScratch::kBins && bins[bin] < amount) amount -= bins[bin++];
    if (bin == CutoffScratch::kBins) return; // all of it is not more than asked for

    Candidate *c = s.candidates.data();
    int64_t count = 0;
    for_each_group_above(row, bound, [&](int64_t base, int64_t n) {
        bins_of(row, base, n, in_group);
        int any = 0;
        for (int64_t i = 0; i < n; i++) any |= in_group[i] == bin;
        for (int64_t i = 0; any && i < n; i++) {
            if (in_group[i] != bin || !(row.weights[base + i] > 0)) continue;
            c[count++] = {row.logits[base + i], row.weights[base + i], static_cast<int32_t>(base + i)};
        }
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
    keep(row, static_cast<double>(k), std::numeric_limits<float>::denorm_min(), scratch,
         [](float weight) { return weight > 0 ? 1.0 : 0.0; });
}

void keep_top_p(const WeightedRow &row, double share, double total, CutoffScratch &scratch) {
    // All weights below this together are less than half of what may be dropped.
    const double bound = (1 - share) * total / (2 * static_cast<double>(row.n));
    keep(row, share * total, std::max(static_cast<float>(bound), std::numeric_limits<float>::denorm_min()), scratch,
         [](float weight) { return static_cast<double>(weight); });
}

} // namespace tr::sample
