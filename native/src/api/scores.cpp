#include "api/scores.h"

#include <algorithm>
#include <utility>

namespace tr::api {

Scores::Scores(const tr_arena &a)
    : rows_(static_cast<size_t>(a.max_rows), "the rows of heads"), hidden_(static_cast<size_t>(heads::kMaxRows) * static_cast<size_t>(a.model->shape.n_embd), "the inputs of heads"),
      top_logits_(static_cast<size_t>(heads::kMaxRows) * TR_MAX_TOP, "the inputs of heads"), tokens_(heads::kMaxRows, "the inputs of heads"),
      scores_(heads::kMaxRows, "the scores of heads") {}

void Scores::begin(const tr_batch &batch) {
    n_ = 0;
    for (int32_t i = 0; i < batch.n_rows; i++)
        if (batch.rows[i].head) rows_[static_cast<size_t>(n_++)] = i;
    const auto order = [&](int32_t row) { return std::pair(batch.rows[row].head->id, row); };
    std::sort(rows_.data(), rows_.data() + n_, [&](int32_t x, int32_t y) { return order(x) < order(y); });
}

void Scores::run(const tr_arena &a, const tr_batch &batch, cpu::Worker &worker) {
    const int32_t *rows = rows_.data();
    for (int32_t begin = 0, end; begin < n_; begin = end) {
        const tr_head *head = batch.rows[rows[begin]].head;
        end = begin + 1;
        while (end < n_ && end - begin < heads::kMaxRows && batch.rows[rows[end]].head == head) end++;
        score(a, batch, rows + begin, end - begin, worker);
    }
}

// The rows of one head.
void Scores::score(const tr_arena &a, const tr_batch &batch, const int32_t *rows, int32_t n, cpu::Worker &worker) {
    heads::Head &head = *batch.rows[rows[0]].head->head;
    const int64_t n_embd = a.model->shape.n_embd;
    for (int64_t i; (i = worker.next(n)) < n;) {
        const tr_row &r = batch.rows[rows[i]];
        std::copy_n(a.hidden.data() + rows[i] * n_embd, n_embd, hidden_.data() + i * n_embd);
        std::copy_n(r.top_logits, head.n_top, top_logits_.data() + i * TR_MAX_TOP);
        tokens_.data()[i] = r.token;
    }
    worker.join();
    head.score(worker, {hidden_.data(), top_logits_.data(), tokens_.data()}, n, scores_.data());
    for (int64_t i; (i = worker.next(n)) < n;) set_score(batch.rows[rows[i]], scores_.data()[i]);
    worker.join();
}

} // namespace tr::api
