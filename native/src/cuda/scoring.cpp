#include "cuda/scoring.h"

#include <algorithm>

#include "cuda/describe.h"
#include "cuda/kernels/heads.h"

namespace tr::cuda {

namespace {

static_assert(kOutputColumns <= heads::kMaxRows, "a block of rows is scored at once");

bool before(const tr_head *a, const tr_head *b) { return a->id < b->id; }

// The heads that rows [begin, begin + n) name, by id.
std::vector<const tr_head *> named(const tr_batch &batch, int32_t begin, int32_t n) {
    std::vector<const tr_head *> heads;
    for (int32_t i = begin; i < begin + n; i++)
        if (batch.rows[i].head) heads.push_back(batch.rows[i].head);
    std::sort(heads.begin(), heads.end(), before);
    heads.erase(std::unique(heads.begin(), heads.end()), heads.end());
    return heads;
}

} // namespace

Scoring::Scoring(tr_arena &arena, const tr_batch &batch) : a_(arena), batch_(batch), m_(static_cast<Memory &>(*arena.memory)) {
    for (const tr_head *head : named(batch, 0, batch.n_rows)) held_.emplace_back(head->busy); // all steps in this order: none waits for another in a circle
}

void Scoring::set_block(int32_t begin, int32_t n) {
    begin_ = begin;
    n_ = n;
    heads_ = named(batch_, begin, n);
    waits_ = std::any_of(batch_.rows + begin, batch_.rows + begin + n,
                         [this](const tr_row &r) { return r.head && r.head->head->needs_token && !answered_on_device(r, a_.model->shape.n_vocab); });
}

std::vector<uint64_t> Scoring::ids() const {
    std::vector<uint64_t> ids;
    for (const tr_head *head : heads_) ids.push_back(head->id);
    return ids;
}

void Scoring::queue(int32_t rows) const {
    if (std::any_of(heads_.begin(), heads_.end(), [](const tr_head *h) { return h->head->needs_token; })) take_tokens(m_.found.data(), rows, m_.tokens.data(), m_.state.stream);
    queue_heads(rows);
}

void Scoring::queue_drawn() const {
    for (int32_t i = 0; i < n_; i++) m_.tokens_in.data()[i] = batch_.rows[begin_ + i].token;
    to_device(m_.tokens.data(), m_.tokens_in.data(), static_cast<size_t>(n_) * sizeof(int32_t), m_.state.stream);
    queue_heads(n_);
}

void Scoring::queue_heads(int32_t rows) const {
    cpu::Worker alone = cpu::Worker::alone();
    const heads::Inputs in{hidden(), m_.top_logits.data(), m_.tokens.data()};
    for (size_t i = 0; i < heads_.size(); i++) heads_[i]->head->score(alone, in, rows, m_.scores.data() + static_cast<int64_t>(i) * stride());
}

void Scoring::queue_out() const {
    for (size_t i = 0; i < heads_.size(); i++) {
        const int64_t at = static_cast<int64_t>(i) * stride();
        to_host(m_.scores_out.data() + at, m_.scores.data() + at, static_cast<size_t>(n_) * sizeof(float), m_.state.stream);
    }
}

void Scoring::answer() const {
    for (int32_t i = 0; i < n_; i++) {
        tr_row &r = batch_.rows[begin_ + i];
        if (!r.head) continue;
        const auto head = std::lower_bound(heads_.begin(), heads_.end(), r.head, before) - heads_.begin();
        api::set_score(r, m_.scores_out.data()[head * stride() + i]);
    }
}

int32_t Scoring::stride() const { return a_.workspace->max_output_columns; }
const float *Scoring::hidden() const { return m_.hidden.data() + int64_t{begin_} * a_.model->shape.n_embd; }

} // namespace tr::cuda
