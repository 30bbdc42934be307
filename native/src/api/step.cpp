#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "api/guard.h"
#include "api/handles.h"

namespace tr::api {

namespace {

// One checked batch on its way through the model. All workers execute run().
class Step {
public:
    Step(tr_arena &arena, const tr_batch &batch);
    void run(cpu::Worker &worker);

private:
    void append(cpu::Worker &worker);
    void answer(cpu::Worker &worker);
    void score(cpu::Worker &worker);
    void answer_row(int32_t row, float *logits, sample::Scratch &scratch);
    bool wants(int32_t begin, int32_t end) const;

    float *embedding(const Array<float> &rows, int32_t row) const { return rows.data() + int64_t{row} * n_embd_; }

    tr_arena &a_;
    const tr_batch &batch_;
    const arch::Model &model_;
    const int64_t n_embd_, n_vocab_;
    int32_t n_columns_ = 0;
    int32_t n_scored_ = 0; // rows in a_.head_rows
};

Step::Step(tr_arena &arena, const tr_batch &batch)
    : a_(arena), batch_(batch), model_(*arena.model), n_embd_(model_.shape.n_embd), n_vocab_(model_.shape.n_vocab) {
    for (int32_t i = 0; i < batch.n_segments; i++) {
        const tr_segment &s = batch.segments[i];
        a_.first_column[static_cast<size_t>(i)] = n_columns_;
        for (int32_t j = 0; j < s.n_tokens; j++, n_columns_++) {
            const auto c = static_cast<size_t>(n_columns_);
            a_.ids[c] = s.tokens[j];
            a_.tokens[c] = {s.position + j, s.pages};
        }
    }
    for (int32_t i = 0; i < batch.n_rows; i++) {
        const tr_row &r = batch.rows[i];
        a_.row_column[static_cast<size_t>(i)] = a_.first_column[static_cast<size_t>(r.segment)] + r.offset;
        batch.rows[i].head_logit = 0;
        if (r.head) a_.head_rows[static_cast<size_t>(n_scored_++)] = i;
    }
    std::sort(a_.head_rows.data(), a_.head_rows.data() + n_scored_, [&](int32_t a, int32_t b) {
        const tr_head *x = batch.rows[a].head, *y = batch.rows[b].head;
        return x == y ? a < b : std::less<>()(x, y);
    });
}

// Rows that a head cannot score have NaN already; their logits are looked at by nobody.
void score_rows(cpu::Worker &worker, heads::Head &head, const tr_batch &batch, const int32_t *rows, int32_t n, const Array<float> &hidden, int64_t n_embd) {
    heads::Row in[heads::kMaxRows];
    for (int32_t i = 0; i < n; i++) {
        tr_row &r = batch.rows[rows[i]];
        in[i] = {hidden.data() + rows[i] * n_embd, r.token, r.top_logits, &r.head_logit};
    }
    head.score(worker, in, n);
}

bool Step::wants(int32_t begin, int32_t end) const {
    return std::any_of(a_.row_column.data(), a_.row_column.data() + batch_.n_rows, [=](int32_t c) { return c >= begin && c < end; });
}

// Appends all columns in chunks and keeps the residual streams that rows want.
void Step::append(cpu::Worker &worker) {
    arch::Workspace &ws = *a_.workspace;
    for (int32_t begin = 0; begin < n_columns_; begin += ws.max_columns) {
        const int32_t end = std::min(begin + ws.max_columns, n_columns_);
        const arch::Columns columns{a_.ids.data() + begin, a_.tokens.data() + begin, end - begin, wants(begin, end)};
        model_.forward(worker, ws, columns);
        for (int64_t i; (i = worker.next(batch_.n_rows)) < batch_.n_rows;) {
            const int32_t column = a_.row_column[static_cast<size_t>(i)];
            if (column < begin || column >= end) continue;
            std::memcpy(embedding(a_.row_x, static_cast<int32_t>(i)), ws.x.data() + (column - begin) * n_embd_,
                        static_cast<size_t>(n_embd_) * sizeof(float));
        }
        worker.join();
    }
}

void Step::answer_row(int32_t row, float *logits, sample::Scratch &scratch) {
    tr_row &r = batch_.rows[row];
    const auto i = static_cast<size_t>(row);
    r.hidden = r.want & TR_WANT_HIDDEN ? embedding(a_.hidden, row) : nullptr;
    r.logits = nullptr;
    if (r.want & TR_WANT_LOGITS) {
        float *kept = a_.kept_logits.data() + row * n_vocab_;
        std::memcpy(kept, logits, static_cast<size_t>(n_vocab_) * sizeof(float));
        r.logits = kept;
    }
    const int32_t drawn_position = a_.tokens[static_cast<size_t>(a_.row_column[i])].position + 1;
    const sample::TopStore top{a_.top_ids.data() + i * TR_MAX_TOP, a_.top_logits.data() + i * TR_MAX_TOP};
    sample::answer(*a_.device->ops, logits, static_cast<int32_t>(n_vocab_), drawn_position, r, top, scratch);
}

void Step::answer(cpu::Worker &worker) {
    arch::Workspace &ws = *a_.workspace;
    for (int32_t begin = 0; begin < batch_.n_rows; begin += ws.max_output_columns) {
        const int32_t n = std::min(ws.max_output_columns, batch_.n_rows - begin);
        model_.output(worker, ws, embedding(a_.row_x, begin), n, embedding(a_.hidden, begin), a_.logits.data());
        sample::Scratch &scratch = a_.scratch[static_cast<size_t>(worker.index())];
        for (int64_t i; (i = worker.next(n)) < n;) answer_row(begin + static_cast<int32_t>(i), a_.logits.data() + i * n_vocab_, scratch);
        worker.join();
    }
}

// Scores all rows that name a head, those of one head together.
void Step::score(cpu::Worker &worker) {
    const int32_t *rows = a_.head_rows.data();
    for (int32_t begin = 0, end; begin < n_scored_; begin = end) {
        const tr_head *head = batch_.rows[rows[begin]].head;
        end = begin + 1;
        while (end < n_scored_ && end - begin < heads::kMaxRows && batch_.rows[rows[end]].head == head) end++;
        score_rows(worker, *head->head, batch_, rows + begin, end - begin, a_.hidden, n_embd_);
    }
    // A head's sums may be finite where the logits were not.
    for (int64_t i; (i = worker.next(n_scored_)) < n_scored_;) {
        tr_row &r = batch_.rows[rows[i]];
        if (std::isnan(r.logsumexp)) r.head_logit = NAN;
    }
}

void Step::run(cpu::Worker &worker) {
    append(worker);
    answer(worker);
    score(worker);
}

} // namespace

void run_batch(tr_arena &arena, const tr_batch &batch) {
    Step step(arena, batch);
    arena.device->pool->run([&](cpu::Worker &worker) { step.run(worker); });
}

} // namespace tr::api

using namespace tr::api;

tr_status tr_step(tr_arena *arena, const tr_batch *batch, char *err, size_t err_len) {
    return guarded(err, err_len, [&] {
        check_pointer(arena, "arena");
        check_struct(batch, "tr_batch");
        const std::lock_guard lock(arena->busy);
        check_batch(*arena, *batch);
        run_batch(*arena, *batch);
    });
}
