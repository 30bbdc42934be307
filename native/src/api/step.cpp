#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "api/guard.h"
#include "api/handles.h"

namespace tr::api {

namespace {

// The rows of one head. Those that it cannot score have NaN already; their logits are looked at by nobody.
void score_head(tr_arena &a, const tr_batch &batch, const int32_t *rows, int32_t n, heads::Head &head, cpu::Worker &worker) {
    heads::Row in[heads::kMaxRows];
    for (int32_t i = 0; i < n; i++) {
        tr_row &r = batch.rows[rows[i]];
        in[i] = {a.hidden.data() + int64_t{rows[i]} * a.model->shape.n_embd, r.token, r.top_logits, &r.head_logit};
    }
    head.score(worker, in, n);
}

} // namespace

Arranged arrange(tr_arena &a, const tr_batch &batch) {
    Arranged done{};
    for (int32_t i = 0; i < batch.n_segments; i++) {
        const tr_segment &s = batch.segments[i];
        a.first_column[static_cast<size_t>(i)] = done.n_columns;
        for (int32_t j = 0; j < s.n_tokens; j++, done.n_columns++) {
            const auto c = static_cast<size_t>(done.n_columns);
            a.ids[c] = s.tokens[j];
            a.tokens[c] = {s.position + j, s.pages};
        }
    }
    for (int32_t i = 0; i < batch.n_rows; i++) {
        const tr_row &r = batch.rows[i];
        a.row_column[static_cast<size_t>(i)] = a.first_column[static_cast<size_t>(r.segment)] + r.offset;
        batch.rows[i].head_logit = 0;
        if (r.head) a.head_rows[static_cast<size_t>(done.n_scored++)] = i;
    }
    std::sort(a.head_rows.data(), a.head_rows.data() + done.n_scored, [&](int32_t x, int32_t y) {
        const tr_head *of_x = batch.rows[x].head, *of_y = batch.rows[y].head;
        return of_x == of_y ? x < y : std::less<>()(of_x, of_y);
    });
    return done;
}

bool wanted(const tr_arena &a, const tr_batch &batch, int32_t begin, int32_t end) {
    return std::any_of(a.row_column.data(), a.row_column.data() + batch.n_rows, [=](int32_t c) { return c >= begin && c < end; });
}

void answer_row(tr_arena &a, const tr_batch &batch, int32_t row, float *logits, sample::Scratch &scratch) {
    tr_row &r = batch.rows[row];
    const auto i = static_cast<size_t>(row);
    const int64_t n_embd = a.model->shape.n_embd, n_vocab = a.model->shape.n_vocab;
    r.hidden = r.want & TR_WANT_HIDDEN ? a.hidden.data() + row * n_embd : nullptr;
    r.logits = nullptr;
    if (r.want & TR_WANT_LOGITS) {
        float *kept = a.kept_logits.data() + row * n_vocab;
        std::memcpy(kept, logits, static_cast<size_t>(n_vocab) * sizeof(float));
        r.logits = kept;
    }
    const int32_t drawn_position = a.tokens[static_cast<size_t>(a.row_column[i])].position + 1;
    const sample::TopStore top{a.top_ids.data() + i * TR_MAX_TOP, a.top_logits.data() + i * TR_MAX_TOP};
    sample::answer(*a.device->ops, logits, static_cast<int32_t>(n_vocab), drawn_position, r, top, scratch);
}

void score_rows(tr_arena &a, const tr_batch &batch, int32_t n_scored, cpu::Worker &worker) {
    const int32_t *rows = a.head_rows.data();
    for (int32_t begin = 0, end; begin < n_scored; begin = end) {
        const tr_head *head = batch.rows[rows[begin]].head;
        end = begin + 1;
        while (end < n_scored && end - begin < heads::kMaxRows && batch.rows[rows[end]].head == head) end++;
        score_head(a, batch, rows + begin, end - begin, *head->head, worker);
    }
    // A head's sums may be finite where the logits were not.
    for (int64_t i; (i = worker.next(n_scored)) < n_scored;) {
        tr_row &r = batch.rows[rows[i]];
        if (std::isnan(r.logsumexp)) r.head_logit = NAN;
    }
}

} // namespace tr::api

using namespace tr::api;

tr_status tr_step(tr_arena *arena, const tr_batch *batch, char *err, size_t err_len) {
    return guarded(err, err_len, [&] {
        check_pointer(arena, "arena");
        check_struct(batch, "tr_batch");
        const std::lock_guard lock(arena->busy);
        check_batch(*arena, *batch);
        arena->device->enter();
        arena->device->run(*arena, *batch);
    });
}
