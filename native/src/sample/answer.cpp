#include "sample/answer.h"

#include <cmath>
#include <limits>

#include "sample/philox.h"
#include "sample/select.h"

namespace tr::sample {

namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// Log-sum-exp and entropy of the ids in play, in nats: with m the largest logit, s = sum exp(x-m) and
// d = sum exp(x-m)(x-m), they are m + ln s and ln s - d/s.
double set_signals(float largest, double sum, double dot, tr_row &row) {
    const double logsumexp = largest + std::log(sum);
    row.logsumexp = static_cast<float>(logsumexp);
    row.entropy = static_cast<float>(std::max(0.0, std::log(sum) - dot / sum));
    if (!std::isfinite(logsumexp)) row.logsumexp = row.entropy = std::numeric_limits<float>::quiet_NaN();
    return logsumexp;
}

double take_signals(const cpu::Ops &ops, const float *logits, const Mask &mask, tr_row &row) {
    float largest = 0;
    double sum = 0, dot = 0;
    ops.softmax_stats(logits, mask.n, mask.words, &largest, &sum, &dot);
    return set_signals(largest, sum, dot, row);
}

// Where the lists of the answer are.
void show_top(tr_row &row, TopStore top) {
    row.top_ids = row.n_top > 0 ? top.ids : nullptr;
    row.top_logits = row.n_top > 0 ? top.logits : nullptr;
}

void take_top(const float *logits, const Mask &mask, tr_row &row, TopStore top) {
    int32_t n = select_top(logits, mask, row.n_top, top.ids, top.logits);
    for (; n < row.n_top; n++) {
        top.ids[n] = -1;
        top.logits[n] = kMinusInfinity;
    }
    show_top(row, top);
}

// The ids that may be drawn: those in play that the caller allows.
Mask allow(const Mask &in_play, const uint32_t *allowed, Scratch &scratch) {
    if (!allowed) return in_play;
    if (!in_play.words) return {in_play.n, allowed};
    const int64_t n_words = Mask::words_for(in_play.n);
    for (int64_t i = 0; i < n_words; i++) scratch.words[static_cast<size_t>(i)] = in_play.words[i] & allowed[i];
    return {in_play.n, scratch.words.data()};
}

Mask mask_of(const tr_row &row, int32_t n_vocab) { return {row.n_valid > 0 ? row.n_valid : n_vocab, row.valid}; }

// Whether the mask leaves nothing; the row's signals are set then.
bool none_in_play(const Mask &mask, tr_row &row) {
    if (!mask.words) return false;
    bool any = false;
    for_each_group(mask, [&](int32_t, uint32_t) { any = true; });
    if (any) return false;
    row.logsumexp = kMinusInfinity;
    row.entropy = 0;
    return true;
}

} // namespace

void answer(const cpu::Ops &ops, float *logits, int32_t n_vocab, int32_t position, tr_row &row, TopStore top, Scratch &scratch) {
    const Mask in_play = mask_of(row, n_vocab);
    row.token = -1;
    row.logprob = 0;
    take_top(logits, in_play, row, top);
    if (none_in_play(in_play, row)) return;
    const double logsumexp = take_signals(ops, logits, in_play, row);
    if (!std::isfinite(logsumexp) || !(row.want & TR_WANT_TOKEN)) return;

    const tr_sampling &sampling = *row.sampling;
    const double u = uniform(sampling.seed, sampling.choice, static_cast<uint32_t>(position), sampling.stream);
    const Mask allowed = allow(in_play, sampling.allowed, scratch);
    adjust(logits, sampling, scratch);
    row.token = draw(ops, logits, allowed, sampling, u, scratch);
    restore(logits, sampling, scratch); // the log-probability is that of the raw logit
    if (row.token >= 0) row.logprob = static_cast<float>(logits[row.token] - logsumexp);
}

void answer_found(const Found &found, int32_t n_vocab, tr_row &row, TopStore top) {
    row.token = -1;
    row.logprob = 0;
    show_top(row, top);
    if (none_in_play(mask_of(row, n_vocab), row)) return;
    const double logsumexp = set_signals(found.largest, found.sum, found.dot, row);
    if (!std::isfinite(logsumexp) || !(row.want & TR_WANT_TOKEN)) return;
    row.token = found.drawn;
    if (row.token >= 0) row.logprob = static_cast<float>(found.drawn_logit - logsumexp);
}

} // namespace tr::sample
