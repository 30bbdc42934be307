#include "cuda/memory.h"

#include <algorithm>
#include <new>
#include <vector>

#include "base/error.h"

namespace tr::cuda {

namespace {

// Segments of KV whose partial results there is room for: that many (token, head) pairs times segments are shared out among blocks.
constexpr size_t kPartials = 8192;

} // namespace

void Description::set_sizes(size_t tokens, size_t rows) {
    rows_at_ = aligned(tokens * sizeof(int32_t));
    wanted_at_ = rows_at_ + aligned(rows * sizeof(int32_t));
    drawings_at_ = wanted_at_ + aligned(rows * sizeof(sample::Wanted));
    tokens_at_ = drawings_at_ + aligned(rows * sizeof(Drawing));
    lists_at_ = tokens_at_ + aligned(tokens * sizeof(cpu::QueryToken));
}

// Grows with what was asked for: page tables of a batch are not bounded by the arena's pages, since sequences may share them.
bool Description::begin(size_t list_bytes) {
    constexpr size_t kLeast = 64 << 10;
    used_ = lists_at_;
    if (lists_at_ + list_bytes <= bytes_) return false;
    bytes_ = lists_at_ + std::max(kLeast, 2 * list_bytes);
    host_ = allocate_pinned(bytes_);
    device_ = allocate_device(bytes_);
    return true;
}

void Description::send(cudaStream_t stream) const { to_device(device_.get(), host_.get(), used_, stream); }

Memory::Memory(const tr_arena &a, const arch::Backend &backend) {
    const arch::Shape &s = a.model->shape;
    const auto rows = static_cast<size_t>(a.max_rows), block = std::min<size_t>(rows, kOutputColumns);
    const auto n_embd = static_cast<size_t>(s.n_embd), n_vocab = static_cast<size_t>(s.n_vocab);
    in.set_sizes(static_cast<size_t>(a.max_tokens), rows);
    row_x = backend.array<float>(rows * n_embd, "the residual stream of rows");
    hidden = backend.array<float>(rows * n_embd, "the hidden states of rows");
    logits = backend.array<float>(block * n_vocab, "the logits of a block of rows");
    top_logits = backend.array<float>(block * TR_MAX_TOP, "the top logits of rows");
    top_ids = backend.array<int32_t>(block * TR_MAX_TOP, "the top ids of rows");
    found = backend.array<sample::Found>(block, "the signals of rows");
    tokens = backend.array<int32_t>(block, "the tokens of rows");
    scores = backend.array<float>(block * block, "the scores of rows");
    // Heads look at the logits of all rows, also of those that asked for none.
    const std::vector<float> zeros(top_logits.size());
    backend.put(top_logits.data(), zeros.data(), zeros.size() * sizeof(float));
    state.partial_floats = kPartials * static_cast<size_t>(s.head_dim + 2);
    try {
        state.partials = allocate_device(state.partial_floats * sizeof(float));
        hidden_out = Pinned<float>(block * n_embd);
        logits_out = Pinned<float>(block * n_vocab);
        top_logits_out = Pinned<float>(block * TR_MAX_TOP);
        top_ids_out = Pinned<int32_t>(block * TR_MAX_TOP);
        found_out = Pinned<sample::Found>(block);
        scores_out = Pinned<float>(block * block);
        tokens_in = Pinned<int32_t>(block);
    } catch (const std::bad_alloc &) {
        fail(TR_ERR_NO_MEMORY, "cannot allocate the GPU's working memory of an arena");
    }
}

} // namespace tr::cuda
