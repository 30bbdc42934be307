#include <algorithm>
#include <cmath>
#include <cstring>

#include "api/guard.h"
#include "api/handles.h"

namespace tr::api {

int32_t arrange(tr_arena &a, const tr_batch &batch) {
    int32_t n_columns = 0;
    for (int32_t i = 0; i < batch.n_segments; i++) {
        const tr_segment &s = batch.segments[i];
        a.first_column[static_cast<size_t>(i)] = n_columns;
        for (int32_t j = 0; j < s.n_tokens; j++, n_columns++) {
            const auto c = static_cast<size_t>(n_columns);
            a.ids[c] = s.tokens[j];
            a.tokens[c] = {s.position + j, s.pages};
        }
    }
    for (int32_t i = 0; i < batch.n_rows; i++) {
        const tr_row &r = batch.rows[i];
        a.row_column[static_cast<size_t>(i)] = a.first_column[static_cast<size_t>(r.segment)] + r.offset;
        batch.rows[i].head_logit = 0;
    }
    return n_columns;
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

// A head's sums may be finite where the logits were not.
void set_score(tr_row &row, float score) { row.head_logit = std::isnan(row.logsumexp) ? NAN : score; }

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
        arena->steps++;
    });
}
