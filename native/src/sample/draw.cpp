#include "sample/draw.h"

#include <algorithm>

namespace tr::sample {

namespace {

// Longest list that select_top builds; longer ones are cheaper by selection over all ids.
constexpr int32_t kShortTop = 256;
// Weights are summed in blocks, so that a draw over all ids finds its block first.
constexpr int64_t kBlock = 1024;

bool filters(const tr_sampling &s) { return (s.top_p > 0 && s.top_p < 1) || s.min_p > 0; }

bool has_penalties(const tr_sampling &s) {
    return (s.repetition_penalty != 0 && s.repetition_penalty != 1) || s.presence_penalty != 0 || s.frequency_penalty != 0;
}

// The sum in double of n weights: eight running sums, added up in order.
double sum_weights(const float *weights, int64_t n) {
    constexpr int64_t kLanes = 8;
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
int32_t walk_all(const float *weights, int64_t n, double target) {
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

// The k first ids as candidates, their logits filled in.
int64_t take_top_k(const float *logits, const Mask &mask, int32_t k, Scratch &s) {
    Candidate *c = s.candidates.data();
    if (k <= kShortTop) {
        int32_t ids[kShortTop];
        float values[kShortTop];
        const int32_t n = select_top(logits, mask, k, ids, values);
        for (int32_t i = 0; i < n; i++) c[i] = {values[i], 0, ids[i]};
        return n;
    }
    int64_t n = 0;
    for_each_group(mask, [&](int32_t base, uint32_t bits) {
        for_each_id(base, bits, [&](int32_t id) { c[n++] = {logits[id], 0, id}; });
    });
    if (n <= k) return n;
    std::nth_element(c, c + k, c + n, before);
    return k;
}

// Fills the candidates' weights and returns their sum.
double weigh_candidates(const cpu::Ops &ops, Candidate *c, int64_t n, float largest, float inverse, Scratch &s) {
    float *w = s.weights.data();
    for (int64_t i = 0; i < n; i++) w[i] = c[i].logit;
    ops.exp_shifted(w, n, largest, inverse, w);
    for (int64_t i = 0; i < n; i++) c[i].weight = w[i];
    return sum_weights(w, n);
}

// Fills the weights of all ids, those that are masked with 0, and returns their sum.
double weigh_all(const cpu::Ops &ops, const float *logits, const Mask &mask, float largest, float inverse, Scratch &s) {
    float *w = s.weights.data();
    ops.exp_shifted(logits, mask.n, largest, inverse, w);
    if (mask.words) {
        const auto n_words = static_cast<int32_t>(Mask::words_for(mask.n));
        for (int32_t i = 0; i < n_words; i++) {
            const int32_t base = i * Mask::kBits, count = std::min(Mask::kBits, mask.n - base);
            const uint32_t out = ~mask.words[i];
            for (int32_t j = 0; out && j < count; j++) {
                if (out >> j & 1) w[base + j] = 0;
            }
        }
    }
    return sum_in_blocks(w, mask.n);
}

// The ids that top-p and min-p could keep. Those left out have together less than half of what top-p may drop.
int64_t take_likely(const float *logits, int64_t n, const tr_sampling &sampling, double total, Scratch &s) {
    double least = sampling.min_p; // the largest weight is 1
    if (sampling.top_p > 0 && sampling.top_p < 1) {
        least = std::max(least, (1 - double{sampling.top_p}) * total / (2 * static_cast<double>(n)));
    }
    const auto bound = static_cast<float>(std::min(least, 1.0));
    const float *w = s.weights.data();
    Candidate *c = s.candidates.data();
    int64_t count = 0;
    for (int64_t base = 0; base < n; base += Mask::kBits) {
        const int64_t end = std::min<int64_t>(base + Mask::kBits, n);
        int any = 0;
        for (int64_t i = base; i < end; i++) any |= w[i] >= bound;
        for (int64_t i = base; any && i < end; i++) {
            if (w[i] >= bound) c[count++] = {logits[i], w[i], static_cast<int32_t>(i)};
        }
    }
    return count;
}

int32_t draw_candidates(Candidate *c, int64_t n, const tr_sampling &sampling, double total, double u) {
    if (sampling.top_p > 0 && sampling.top_p < 1) n = split_by_mass(c, n, double{sampling.top_p} * total);
    if (sampling.min_p > 0) {
        n = std::partition(c, c + n, [&](const Candidate &x) { return x.weight >= sampling.min_p; }) - c;
    }
    std::sort(c, c + n, [](const Candidate &a, const Candidate &b) { return a.id < b.id; });
    double kept = 0, running = 0;
    for (int64_t i = 0; i < n; i++) kept += c[i].weight;
    for (int64_t i = 0; i < n; i++) {
        if ((running += c[i].weight) > u * kept) return c[i].id;
    }
    return c[n - 1].id;
}

} // namespace

Scratch::Scratch(int32_t n_vocab)
    : weights(static_cast<size_t>(n_vocab), "the weights of a row"),
      candidates(static_cast<size_t>(n_vocab), "the candidates of a row"),
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
    if (first < 0 || sampling.temperature < kLeastTemperature) return first;
    const float largest = logits[first], inverse = 1 / sampling.temperature;
    if (sampling.top_k > 0 && sampling.top_k < mask.n) {
        const int64_t n = take_top_k(logits, mask, sampling.top_k, s);
        const double total = weigh_candidates(ops, s.candidates.data(), n, largest, inverse, s);
        return draw_candidates(s.candidates.data(), n, sampling, total, u);
    }
    const double total = weigh_all(ops, logits, mask, largest, inverse, s);
    if (!filters(sampling)) return walk_all(s.weights.data(), mask.n, u * total);
    const int64_t n = take_likely(logits, mask.n, sampling, total, s);
    return draw_candidates(s.candidates.data(), n, sampling, total, u);
}

} // namespace tr::sample
