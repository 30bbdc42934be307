// Every rule that tokenrouter.h states for a batch, before anything is written.
#include <cmath>

#include "api/guard.h"
#include "api/handles.h"

namespace tr::api {

namespace {

int32_t pages_for(int64_t tokens) { return static_cast<int32_t>((tokens + TR_PAGE_TOKENS - 1) / TR_PAGE_TOKENS); }

void check_segment(const tr_arena &arena, const tr_segment &s, int32_t index) {
    if (s.size != sizeof s) {
        fail(TR_ERR_ARGUMENT, "segment %d: size is %u; this library (ABI version %d) expects %zu", index, s.size, TR_ABI_VERSION, sizeof s);
    }
    const int32_t n_vocab = arena.model->shape.n_vocab, n_ctx = arena.model->shape.n_ctx_train;
    if (s.n_tokens < 1) fail(TR_ERR_ARGUMENT, "segment %d: n_tokens is %d; expected at least 1", index, s.n_tokens);
    if (!s.tokens) fail(TR_ERR_ARGUMENT, "segment %d: tokens is NULL", index);
    if (!s.pages) fail(TR_ERR_ARGUMENT, "segment %d: pages is NULL", index);
    if (s.position < 0) fail(TR_ERR_ARGUMENT, "segment %d: position is %d; expected at least 0", index, s.position);
    const int64_t end = int64_t{s.position} + s.n_tokens;
    if (end > n_ctx) {
        fail(TR_ERR_ARGUMENT, "segment %d: %d tokens at position %d would pass the model's context length of %d", index, s.n_tokens,
             s.position, n_ctx);
    }
    if (s.n_pages < pages_for(end)) {
        fail(TR_ERR_ARGUMENT, "segment %d: its page table has %d pages; %d are needed for %lld tokens", index, s.n_pages, pages_for(end),
             static_cast<long long>(end));
    }
    if (end > arena.workspace->n_positions) {
        fail(TR_ERR_ARGUMENT, "segment %d: %lld tokens are more than the arena's %d pages hold", index, static_cast<long long>(end),
             arena.n_pages);
    }
    for (int32_t i = 0; i < s.n_tokens; i++) {
        if (s.tokens[i] < 0 || s.tokens[i] >= n_vocab) {
            fail(TR_ERR_ARGUMENT, "segment %d: token %d is %d; the model has ids 0 to %d", index, i, s.tokens[i], n_vocab - 1);
        }
    }
    for (int32_t i = 0; i < s.n_pages; i++) {
        if (s.pages[i] < 0 || s.pages[i] >= arena.n_pages) {
            fail(TR_ERR_ARGUMENT, "segment %d: page %d is %d; the arena has pages 0 to %d", index, i, s.pages[i], arena.n_pages - 1);
        }
    }
}

// f(i) for every index of the page table that a segment writes.
template <class F> void for_each_written(const tr_segment &s, F &&f) {
    const int32_t last = pages_for(int64_t{s.position} + s.n_tokens);
    for (int32_t i = s.position / TR_PAGE_TOKENS; i < last; i++) f(i);
}

// No page is written twice, and none is read as context by a segment while another writes it: the answer would depend on
// who comes first. page_writer is -1 everywhere before and after.
class PageMarks {
public:
    PageMarks(tr_arena &arena, const tr_batch &batch) : arena_(arena), batch_(batch) {}
    ~PageMarks() {
        for (int32_t i = 0; i < batch_.n_segments; i++) {
            for_each_written(batch_.segments[i], [&](int32_t p) { writer(i, p) = -1; });
        }
    }
    void check() {
        for (int32_t i = 0; i < batch_.n_segments; i++) {
            for_each_written(batch_.segments[i], [&](int32_t p) {
                int32_t &w = writer(i, p);
                if (w >= 0) {
                    fail(TR_ERR_ARGUMENT, "segment %d writes page %d, which segment %d writes too", i, batch_.segments[i].pages[p], w);
                }
                w = i;
            });
        }
        for (int32_t i = 0; i < batch_.n_segments; i++) {
            const tr_segment &s = batch_.segments[i];
            for (int32_t p = 0; p < s.position / TR_PAGE_TOKENS; p++) {
                if (const int32_t w = writer(i, p); w >= 0) {
                    fail(TR_ERR_ARGUMENT, "segment %d reads page %d, which segment %d writes in the same step", i, s.pages[p], w);
                }
            }
        }
    }

private:
    int32_t &writer(int32_t segment, int32_t page) { return arena_.page_writer[static_cast<size_t>(batch_.segments[segment].pages[page])]; }
    tr_arena &arena_;
    const tr_batch &batch_;
};

// ids[0..n): in range, each once. id_seen is zero before and after.
void check_ids(tr_arena &arena, const int32_t *ids, int32_t n, int32_t row, const char *name) {
    const int32_t n_vocab = arena.model->shape.n_vocab;
    if (n < 0) fail(TR_ERR_ARGUMENT, "row %d: the number of %s is %d", row, name, n);
    if (n > 0 && !ids) fail(TR_ERR_ARGUMENT, "row %d: %s is NULL, but there should be %d", row, name, n);
    uint32_t *seen = arena.id_seen.data();
    int32_t good = 0;
    for (; good < n; good++) {
        const int32_t id = ids[good];
        if (id < 0 || id >= n_vocab || (seen[id / 32] >> (id % 32) & 1)) break;
        seen[id / 32] |= 1u << (id % 32);
    }
    for (int32_t i = 0; i < good; i++) seen[ids[i] / 32] = 0;
    if (good == n) return;
    if (ids[good] < 0 || ids[good] >= n_vocab) {
        fail(TR_ERR_ARGUMENT, "row %d: %s[%d] is %d; the model has ids 0 to %d", row, name, good, ids[good], n_vocab - 1);
    }
    fail(TR_ERR_ARGUMENT, "row %d: %s[%d] is %d, which is in the list already", row, name, good, ids[good]);
}

// A number within [low, high]; a NaN is not.
void check_number(float value, float low, float high, int32_t row, const char *name) {
    if (!(value >= low && value <= high)) {
        fail(TR_ERR_ARGUMENT, "row %d: %s is %g; expected %g to %g", row, name, static_cast<double>(value),
             static_cast<double>(low), static_cast<double>(high));
    }
}

void check_sampling(tr_arena &arena, const tr_sampling *s, int32_t row) {
    if (!s) fail(TR_ERR_ARGUMENT, "row %d: sampling is NULL, but a token is wanted", row);
    if (s->size != sizeof *s) {
        fail(TR_ERR_ARGUMENT, "row %d: sampling.size is %u; this library (ABI version %d) expects %zu", row, s->size, TR_ABI_VERSION,
             sizeof *s);
    }
    constexpr float kMost = 1e6f; // far beyond any use, near enough that logits stay finite
    check_number(s->temperature, 0, kMost, row, "temperature");
    check_number(s->top_p, 0, kMost, row, "top_p");
    check_number(s->min_p, 0, 1, row, "min_p");
    check_number(s->repetition_penalty, 0, kMost, row, "repetition_penalty");
    check_number(s->presence_penalty, -kMost, kMost, row, "presence_penalty");
    check_number(s->frequency_penalty, -kMost, kMost, row, "frequency_penalty");
    if (s->top_k < 0) fail(TR_ERR_ARGUMENT, "row %d: top_k is %d; expected 0 (off) or more", row, s->top_k);
    check_ids(arena, s->bias_ids, s->n_bias, row, "bias_ids");
    check_ids(arena, s->seen_ids, s->n_seen, row, "seen_ids");
    if (s->n_bias > 0) check_pointer(s->bias, "sampling.bias");
    if (s->n_seen > 0) check_pointer(s->seen_counts, "sampling.seen_counts");
    for (int32_t i = 0; i < s->n_bias; i++) check_number(s->bias[i], -kMost, kMost, row, "a bias");
    for (int32_t i = 0; i < s->n_seen; i++) {
        if (s->seen_counts[i] < 1) fail(TR_ERR_ARGUMENT, "row %d: seen_counts[%d] is %d; expected at least 1", row, i, s->seen_counts[i]);
    }
}

void check_head(const tr_arena &arena, const tr_row &r, int32_t row) {
    if (r.head->model != arena.model) fail(TR_ERR_ARGUMENT, "row %d: its head was loaded for another model than the arena's", row);
    const heads::Head &h = *r.head->head;
    if (r.n_top < h.n_top) fail(TR_ERR_ARGUMENT, "row %d: n_top is %d; its head looks at the %d largest logits", row, r.n_top, h.n_top);
    if (h.needs_token && !(r.want & TR_WANT_TOKEN)) fail(TR_ERR_ARGUMENT, "row %d: its head looks at the drawn token, but none is wanted", row);
}

void check_row(tr_arena &arena, const tr_batch &batch, int32_t index) {
    const tr_row &r = batch.rows[index];
    if (r.size != sizeof r) {
        fail(TR_ERR_ARGUMENT, "row %d: size is %u; this library (ABI version %d) expects %zu", index, r.size, TR_ABI_VERSION, sizeof r);
    }
    constexpr uint32_t kKnown = TR_WANT_TOKEN | TR_WANT_HIDDEN | TR_WANT_LOGITS;
    if (r.want & ~kKnown) fail(TR_ERR_ARGUMENT, "row %d: want is 0x%x; this library knows the bits 0x%x", index, r.want, kKnown);
    if (r.segment < 0 || r.segment >= batch.n_segments) {
        fail(TR_ERR_ARGUMENT, "row %d: segment is %d; the batch has segments 0 to %d", index, r.segment, batch.n_segments - 1);
    }
    const int32_t n_tokens = batch.segments[r.segment].n_tokens;
    if (r.offset < 0 || r.offset >= n_tokens) {
        fail(TR_ERR_ARGUMENT, "row %d: offset is %d; segment %d has tokens 0 to %d", index, r.offset, r.segment, n_tokens - 1);
    }
    if (r.n_top < 0 || r.n_top > TR_MAX_TOP) fail(TR_ERR_ARGUMENT, "row %d: n_top is %d; expected 0 to %d", index, r.n_top, TR_MAX_TOP);
    const int32_t n_vocab = arena.model->shape.n_vocab;
    if (r.n_valid < 0 || r.n_valid > n_vocab)
        fail(TR_ERR_ARGUMENT, "row %d: n_valid is %d; expected 0 (all) to %d", index, r.n_valid, n_vocab);
    if (r.want & TR_WANT_TOKEN) check_sampling(arena, r.sampling, index);
    if (r.head) check_head(arena, r, index);
}

} // namespace

void check_batch(tr_arena &arena, const tr_batch &batch) {
    if (batch.n_segments < 1) fail(TR_ERR_ARGUMENT, "tr_batch.n_segments is %d; expected at least 1", batch.n_segments);
    if (batch.reserved != 0) fail(TR_ERR_ARGUMENT, "tr_batch.reserved is %d; expected 0", batch.reserved);
    if (batch.n_rows < 0 || batch.n_rows > arena.max_rows) {
        fail(TR_ERR_ARGUMENT, "tr_batch.n_rows is %d; the arena was made for 0 to %d", batch.n_rows, arena.max_rows);
    }
    check_pointer(batch.segments, "tr_batch.segments");
    if (batch.n_rows > 0) check_pointer(batch.rows, "tr_batch.rows");
    int64_t n_tokens = 0;
    for (int32_t i = 0; i < batch.n_segments; i++) {
        check_segment(arena, batch.segments[i], i);
        n_tokens += batch.segments[i].n_tokens;
        if (n_tokens > arena.max_tokens) {
            fail(TR_ERR_ARGUMENT, "segments 0 to %d append %lld tokens; the arena was made for steps of at most %d", i,
                 static_cast<long long>(n_tokens), arena.max_tokens);
        }
    }
    PageMarks(arena, batch).check();
    for (int32_t i = 0; i < batch.n_rows; i++) check_row(arena, batch, i);
}

} // namespace tr::api
