#include "cuda/describe.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sample/mask.h"
#include "sample/philox.h"

namespace tr::cuda {

namespace {

class Describer {
public:
    Describer(tr_arena &arena, const tr_batch &batch, int32_t n_columns)
        : a_(arena), batch_(batch), m_(static_cast<Memory &>(*arena.memory)), in_(m_.in), n_columns_(n_columns), n_vocab_(arena.model->shape.n_vocab) {}

    void fill() {
        if (in_.begin(list_bytes())) m_.graphs.clear();
        std::copy_n(a_.ids.data(), n_columns_, in_.ids().host);
        std::copy_n(a_.row_column.data(), batch_.n_rows, in_.row_columns().host);
        auto *tokens = in_.tokens().host;
        for (int32_t i = 0; i < batch_.n_segments; i++) {
            const tr_segment &s = batch_.segments[i];
            const int32_t *pages = in_.append(s.pages, static_cast<size_t>(s.n_pages));
            for (int32_t j = 0; j < s.n_tokens; j++) *tokens++ = {s.position + j, pages};
        }
        for (int32_t i = 0; i < batch_.n_rows; i++) {
            const tr_row &r = batch_.rows[i];
            in_.wanted().host[i] = {r.n_valid > 0 ? r.n_valid : n_vocab_, r.n_top, mask(r.valid)};
            in_.drawings().host[i] = is_drawn(r) ? drawing(r, i) : Drawing{};
        }
    }

    // With columns that are nowhere, and rows that look at the first column.
    void fill_up(const GraphShape &shape) {
        const int32_t columns = shape.columns - n_columns_, rows = shape.rows - batch_.n_rows;
        std::fill_n(in_.ids().host + n_columns_, columns, 0);
        std::fill_n(in_.tokens().host + n_columns_, columns, cpu::QueryToken{kNowhere, nullptr});
        std::fill_n(in_.row_columns().host + batch_.n_rows, rows, 0);
        std::fill_n(in_.wanted().host + batch_.n_rows, rows, sample::Wanted{1, 0, nullptr});
        std::fill_n(in_.drawings().host + batch_.n_rows, rows, Drawing{});
    }

private:
    // Whether more is to be done for the row's token than to find the most likely one.
    bool is_drawn(const tr_row &r) const {
        if (!(r.want & TR_WANT_TOKEN) || !answered_on_device(r, n_vocab_)) return false;
        return !sample::is_greedy(*r.sampling) || sample::changes_order(*r.sampling);
    }
    static int32_t n_seen(const tr_sampling &s) { return sample::has_penalties(s) ? s.n_seen : 0; }
    size_t mask_words() const { return static_cast<size_t>(sample::Mask::words_for(n_vocab_)); }

    // At most.
    size_t list_bytes() const {
        const auto bytes = [](size_t n) { return Description::list_bytes<int32_t>(n); };
        size_t sum = 0;
        for (int32_t i = 0; i < batch_.n_segments; i++) sum += bytes(static_cast<size_t>(batch_.segments[i].n_pages));
        for (int32_t i = 0; i < batch_.n_rows; i++) {
            const tr_row &r = batch_.rows[i];
            if (r.valid) sum += bytes(mask_words());
            if (!is_drawn(r)) continue;
            const tr_sampling &s = *r.sampling;
            const auto biases = static_cast<size_t>(s.n_bias), seen = static_cast<size_t>(n_seen(s));
            sum += 2 * bytes(biases) + 2 * bytes(seen) + bytes(biases + seen) + (s.allowed ? bytes(mask_words()) : 0);
        }
        return sum;
    }

    // Rows often share a mask: it goes in once.
    const uint32_t *mask(const uint32_t *words) {
        if (!words) return nullptr;
        const auto at = std::find_if(masks_.begin(), masks_.end(), [=](const auto &sent) { return sent.first == words; });
        if (at != masks_.end()) return at->second;
        return masks_.emplace_back(words, in_.append(words, mask_words())).second;
    }

    Drawing drawing(const tr_row &r, int32_t row) {
        const tr_sampling &s = *r.sampling;
        const int32_t position = a_.tokens[static_cast<size_t>(a_.row_column[static_cast<size_t>(row)])].position + 1; // of the drawn token
        const auto biases = static_cast<size_t>(s.n_bias), seen = static_cast<size_t>(n_seen(s));
        Drawing d{};
        d.wanted = true;
        d.u = sample::uniform(s.seed, s.choice, static_cast<uint32_t>(position), s.stream);
        d.greedy = sample::is_greedy(s);
        d.inverse = d.greedy ? 0 : 1 / s.temperature;
        d.top_p = sample::cuts_mass(s) ? s.top_p : 0;
        d.min_p = s.min_p;
        d.top_k = s.top_k;
        d.repetition = s.repetition_penalty == 0 ? 1 : s.repetition_penalty;
        d.presence = s.presence_penalty;
        d.frequency = s.frequency_penalty;
        d.n_bias = s.n_bias;
        d.bias_ids = in_.append(s.bias_ids, biases);
        d.bias = in_.append(s.bias, biases);
        d.n_seen = n_seen(s);
        d.seen_ids = in_.append(s.seen_ids, seen);
        d.seen_counts = in_.append(s.seen_counts, seen);
        d.saved = in_.append_room<float>(biases + seen);
        d.allowed = mask(s.allowed);
        return d;
    }

    tr_arena &a_;
    const tr_batch &batch_;
    Memory &m_;
    Description &in_;
    const int32_t n_columns_, n_vocab_;
    std::vector<std::pair<const uint32_t *, const uint32_t *>> masks_; // the caller's, and on the device
};

} // namespace

bool answered_on_device(const tr_row &row, int32_t n_vocab) {
    if (row.want & TR_WANT_LOGITS) return false;
    return !(row.want & TR_WANT_TOKEN) || n_vocab <= kMostDrawnIds;
}

void describe(tr_arena &arena, const tr_batch &batch, int32_t n_columns, const GraphShape *shape) {
    Describer describer(arena, batch, n_columns);
    describer.fill();
    if (shape) describer.fill_up(*shape);
    const Memory &m = static_cast<const Memory &>(*arena.memory);
    m.in.send(m.state.stream);
}

} // namespace tr::cuda
