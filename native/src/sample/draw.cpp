#include "sample/draw.h"

#include <algorithm>

#include "sample/select.h"

namespace tr::sample {

namespace {

constexpr int64_t kLanes = kSumLanes, kBlock = kSumBlock;

// The sum in double of n weights: eight running sums, added up in order.
double sum_weights(const float *weights, int64_t n) {
    double lanes[kLanes] = {};
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        for (int64_t j = 0; j < kLanes; j++) lanes[j] += weights[i + j];
    }
    for (; i < n; i++) lanes[i % kLanes] += weights[i];
    double sum = 0;
    for (const double lane : lanes) sum += lane;
    return sum;
}

double sum_in_blocks(const float *weights, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i += kBlock) sum += sum_weights(weights + i, std::min(kBlock, n - i));
    return sum;
}

// The first id at which the running sum exceeds `target`, which is below the total. Should rounding keep the sum from
// getting there, the last id that has any weight.
int32_t walk(const float *weights, int64_t n, double target) {
    double sum = 0;
    for (int64_t i = 0; i < n; i += kBlock) {
        const int64_t end = std::min(i + kBlock, n);
        const double block = sum_weights(weights + i, end - i);
        if (block > 0 && sum + block > target) {
            double running = sum;
            int64_t last = i;
            for (int64_t j = i; j < end && !(running > target); j++) {
                if (!(weights[j] > 0)) continue;
                running += weights[j];
                last = j;
            }
            return static_cast<int32_t>(last);
        }
        sum += block;
    }
    int64_t last = n - 1;
    while (last > 0 && !(weights[last] > 0)) last--;
    return static_cast<int32_t>(last);
}

// Draws among the k first ids, k <= kShortTop.
int32_t draw_short(const cpu::Ops &ops, const float *logits, const Mask &mask, const tr_sampling &sampling, double u) {
    int32_t ids[kShortTop];
    float weights[kShortTop];
    int32_t n = select_top(logits, mask, sampling.top_k, ids, weights);
    ops.exp_shifted(weights, n, weights[0], 1 / sampling.temperature, weights);
    if (cuts_mass(sampling)) {
        double missing = double{sampling.top_p} * sum_weights(weights, n);
        int32_t kept = 0;
        while (kept < n && missing > 0) missing -= weights[kept++];
        n = kept;
    }
    while (n > 1 && weights[n - 1] < sampling.min_p) n--;
    // By ascending id. The list is short, and nearly any order.
    for (int32_t i = 1; i < n; i++) {
        const int32_t id = ids[i];
        const float weight = weights[i];
        int32_t at = i;
        for (; at > 0 && ids[at - 1] > id; at--) {
            ids[at] = ids[at - 1];
            weights[at] = weights[at - 1];
        }
        ids[at] = id;
        weights[at] = weight;
    }
    return ids[walk(weights, n, u * sum_in_blocks(weights, n))];
}

// Fills the weights of all ids, 0 for those that are masked.
void weigh(const cpu::Ops &ops, const WeightedRow &row, const Mask &mask) {
    ops.exp_shifted(row.logits, row.n, row.largest, row.inverse, row.weights);
    if (!mask.words) return;
    for (int32_t base = 0, i = 0; base < mask.n; base += Mask::kBits, i++) {
        const uint32_t out = ~mask.words[i];
        const int32_t count = std::min(Mask::kBits, mask.n - base);
        for (int32_t j = 0; out && j < count; j++) {
            if (out >> j & 1) row.weights[base + j] = 0;
        }
    }
}

int32_t draw_long(const cpu::Ops &ops, const WeightedRow &row, const Mask &mask, const tr_sampling &sampling, double u, CutoffScratch &s) {
    weigh(ops, row, mask);
    if (sampling.top_k > 0 && sampling.top_k < mask.n) keep_top_k(row, sampling.top_k, s);
    if (cuts_mass(sampling)) keep_top_p(row, double{sampling.top_p}, sum_in_blocks(row.weights, row.n), s);
    if (sampling.min_p > 0) { // the largest weight is 1
        for (int64_t i = 0; i < row.n; i++) row.weights[i] = row.weights[i] >= sampling.min_p ? row.weights[i] : 0;
    }
    return walk(row.weights, row.n, u * sum_in_blocks(row.weights, row.n));
}

} // namespace

bool has_penalties(const tr_sampling &s) {
    return (s.repetition_penalty != 0 && s.repetition_penalty != 1) || s.presence_penalty != 0 || s.frequency_penalty != 0;
}

bool changes_order(const tr_sampling &s) { return s.n_bias > 0 || s.allowed || (s.n_seen > 0 && has_penalties(s)); }

Scratch::Scratch(int32_t n_vocab)
    : weights(static_cast<size_t>(n_vocab), "the weights of a row"),
      cutoff(n_vocab),
      words(static_cast<size_t>(Mask::words_for(n_vocab)), "the mask of a row"),
      saved(2 * static_cast<size_t>(n_vocab), "the changed logits of a row") {}

void adjust(float *logits, const tr_sampling &s, Scratch &scratch) {
    float *saved = scratch.saved.data();
    for (int32_t i = 0; i < s.n_bias; i++) {
        float &logit = logits[s.bias_ids[i]];
        *saved++ = logit;
        logit += s.bias[i];
    }
    if (!has_penalties(s)) return;
    const float repetition = s.repetition_penalty == 0 ? 1 : s.repetition_penalty;
    for (int32_t i = 0; i < s.n_seen; i++) {
        float &logit = logits[s.seen_ids[i]];
        *saved++ = logit;
        logit = logit > 0 ? logit / repetition : logit * repetition;
        logit -= s.presence_penalty + s.frequency_penalty * static_cast<float>(s.seen_counts[i]);
    }
}

void restore(float *logits, const tr_sampling &s, const Scratch &scratch) {
    const float *saved = scratch.saved.data();
    if (has_penalties(s)) { // first what was changed last: an id may be in both lists
        for (int32_t i = 0; i < s.n_seen; i++) logits[s.seen_ids[i]] = saved[s.n_bias + i];
    }
    for (int32_t i = 0; i < s.n_bias; i++) logits[s.bias_ids[i]] = saved[i];
}

int32_t draw(const cpu::Ops &ops, const float *logits, const Mask &mask, const tr_sampling &sampling, double u, Scratch &s) {
    const int32_t first = argmax(logits, mask);
    if (first < 0 || is_greedy(sampling)) return first;
    if (has_short_top(sampling, mask.n)) return draw_short(ops, logits, mask, sampling, u);
    const WeightedRow row{logits, s.weights.data(), mask.n, logits[first], 1 / sampling.temperature};
    return draw_long(ops, row, mask, sampling, u, s.cutoff);
}

} // namespace tr::sample
