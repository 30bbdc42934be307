// A GPU as a device of the C ABI. Per step one description of the batch goes in, and what rows want comes out, both through pinned memory.
#include <algorithm>
#include <new>
#include <vector>

#include "api/host.h"
#include "base/error.h"
#include "cuda/kernels/answer.h"
#include "cuda/kernels/launch.h"
#include "cuda/operators.h"

namespace tr::cuda {

namespace {

using namespace api;

// Segments of KV whose partial results there is room for: that many (token, head) pairs times segments are shared out among blocks.
constexpr size_t kPartials = 8192;

// n values in pinned memory.
template <class T> class Pinned {
public:
    Pinned() = default;
    explicit Pinned(size_t n) : memory_(allocate_pinned(n * sizeof(T))) {}
    T *data() const { return reinterpret_cast<T *>(memory_.get()); }

private:
    cpu::Buffer memory_{nullptr, nullptr};
};

// What an arena needs on this kind of device.
struct Memory final : StepMemory {
    StepState state;
    // The batch as it goes in: ids, rows' columns, tokens, page tables.
    cpu::Buffer in{nullptr, nullptr}, in_device{nullptr, nullptr};
    size_t ids_at, rows_at, tokens_at, pages_at, bytes;
    // Rows on the device, and as they come out: of a block of them at a time, but row_x and hidden.
    Array<float> row_x, hidden, logits, top_logits;
    Array<sample::Wanted> wanted;
    Array<sample::Found> found;
    Array<int32_t> top_ids;
    Pinned<float> hidden_out, logits_out, top_logits_out;
    Pinned<sample::Wanted> wanted_in;
    Pinned<sample::Found> found_out;
    Pinned<int32_t> top_ids_out;
};

size_t aligned(size_t n) { return (n + 15) / 16 * 16; }

std::unique_ptr<Memory> make_memory(const tr_arena &a, const arch::Backend &backend) {
    const arch::Shape &s = a.model->shape;
    const auto tokens = static_cast<size_t>(a.max_tokens), rows = static_cast<size_t>(a.max_rows), block = std::min<size_t>(rows, kOutputColumns);
    auto m = std::make_unique<Memory>();
    m->ids_at = 0;
    m->rows_at = aligned(tokens * sizeof(int32_t));
    m->tokens_at = m->rows_at + aligned(rows * sizeof(int32_t));
    m->pages_at = m->tokens_at + aligned(tokens * sizeof(cpu::QueryToken));
    m->bytes = m->pages_at;
    const auto n_embd = static_cast<size_t>(s.n_embd), n_vocab = static_cast<size_t>(s.n_vocab);
    m->row_x = backend.array<float>(rows * n_embd, "the residual stream of rows");
    m->hidden = backend.array<float>(rows * n_embd, "the hidden states of rows");
    m->logits = backend.array<float>(block * n_vocab, "the logits of a block of rows");
    m->top_logits = backend.array<float>(block * TR_MAX_TOP, "the top logits of rows");
    m->top_ids = backend.array<int32_t>(block * TR_MAX_TOP, "the top ids of rows");
    m->wanted = backend.array<sample::Wanted>(block, "the wishes of rows");
    m->found = backend.array<sample::Found>(block, "the signals of rows");
    m->state.partial_floats = kPartials * static_cast<size_t>(s.head_dim + 2);
    try {
        m->state.partials = allocate_device(m->state.partial_floats * sizeof(float));
        m->hidden_out = Pinned<float>(block * n_embd);
        m->logits_out = Pinned<float>(block * n_vocab);
        m->top_logits_out = Pinned<float>(block * TR_MAX_TOP);
        m->top_ids_out = Pinned<int32_t>(block * TR_MAX_TOP);
        m->wanted_in = Pinned<sample::Wanted>(block);
        m->found_out = Pinned<sample::Found>(block);
    } catch (const std::bad_alloc &) {
        fail(TR_ERR_NO_MEMORY, "cannot allocate the GPU's working memory of an arena");
    }
    return m;
}

// One checked batch.
class Step {
public:
    Step(tr_arena &arena, const tr_batch &batch) : a_(arena), batch_(batch), m_(static_cast<Memory &>(*arena.memory)), running_(m_.state), arranged_(arrange(arena, batch)) {}

    void run() {
        send();
        append();
        for (int32_t begin = 0; begin < batch_.n_rows; begin += a_.workspace->max_output_columns) answer(begin);
        m_.state.stream.wait();
        if (arranged_.n_scored == 0) return;
        a_.device->pool->run([&](cpu::Worker &worker) { score_rows(a_, batch_, arranged_.n_scored, worker); });
    }

private:
    template <class T> T *in(size_t at) const { return reinterpret_cast<T *>(m_.in.get() + at); }
    template <class T> T *in_device(size_t at) const { return reinterpret_cast<T *>(m_.in_device.get() + at); }

    // Grows with the longest page tables seen: what a batch's segments may name is not bounded by the arena's pages, since they may share.
    void reserve_pages() {
        size_t n_pages = 0;
        for (int32_t i = 0; i < batch_.n_segments; i++) n_pages += static_cast<size_t>(batch_.segments[i].n_pages);
        const size_t bytes = m_.pages_at + aligned(n_pages * sizeof(int32_t));
        if (m_.in && bytes <= m_.bytes) return;
        m_.bytes = 2 * bytes;
        m_.in = allocate_pinned(m_.bytes);
        m_.in_device = allocate_device(m_.bytes);
    }

    void send() {
        reserve_pages();
        std::copy_n(a_.ids.data(), arranged_.n_columns, in<int32_t>(m_.ids_at));
        auto *pages = in<int32_t>(m_.pages_at);
        const int32_t *placed = in_device<int32_t>(m_.pages_at);
        auto *tokens = in<cpu::QueryToken>(m_.tokens_at);
        int32_t longest = 0;
        for (int32_t i = 0; i < batch_.n_segments; i++) {
            const tr_segment &s = batch_.segments[i];
            std::copy_n(s.pages, s.n_pages, pages);
            for (int32_t j = 0; j < s.n_tokens; j++) *tokens++ = {s.position + j, placed};
            pages += s.n_pages;
            placed += s.n_pages;
            longest = std::max(longest, s.position + s.n_tokens);
        }
        m_.state.segments = (longest - 1) / cpu::kKvSegment + 1;
        const auto used = static_cast<size_t>(reinterpret_cast<uint8_t *>(pages) - m_.in.get());
        std::copy_n(a_.row_column.data(), batch_.n_rows, in<int32_t>(m_.rows_at));
        to_device(m_.in_device.get(), m_.in.get(), used, m_.state.stream);
    }

    // Appends all columns in chunks and keeps the residual streams that rows want.
    void append() {
        arch::Workspace &ws = *a_.workspace;
        const int64_t n_embd = a_.model->shape.n_embd;
        cpu::Worker alone = cpu::Worker::alone();
        for (int32_t begin = 0; begin < arranged_.n_columns; begin += ws.max_columns) {
            const int32_t end = std::min(begin + ws.max_columns, arranged_.n_columns);
            const bool looked_at = wanted(a_, batch_, begin, end);
            a_.model->forward(alone, ws, {in_device<int32_t>(m_.ids_at) + begin, in_device<cpu::QueryToken>(m_.tokens_at) + begin, end - begin, looked_at});
            // Rows are numbered over all columns: seen from the first one of this chunk, others are out of its range.
            if (looked_at) gather(ws.x.data(), begin, end - begin, n_embd, in_device<int32_t>(m_.rows_at), batch_.n_rows, m_.row_x.data(), m_.state.stream);
        }
    }

    // Rows from `begin` on, as many as logits are kept of. What most rows want is found where the logits are; those of the others, which
    // mask or change logits, draw, or ask for them, come out.
    void answer(int32_t begin) {
        const arch::Shape &s = a_.model->shape;
        const int32_t n = std::min(a_.workspace->max_output_columns, batch_.n_rows - begin);
        const int64_t n_embd = s.n_embd, n_vocab = s.n_vocab;
        const Stream &stream = m_.state.stream;
        for (int32_t i = 0; i < n; i++) {
            const tr_row &r = batch_.rows[begin + i];
            m_.wanted_in.data()[i] = {r.n_valid > 0 ? r.n_valid : s.n_vocab, r.n_top};
        }
        copy(m_.wanted.data(), m_.wanted_in.data(), n, stream, to_device);
        cpu::Worker alone = cpu::Worker::alone();
        float *hidden = m_.hidden.data() + begin * n_embd;
        a_.model->output(alone, *a_.workspace, m_.row_x.data() + begin * n_embd, n, hidden, m_.logits.data());
        find_in_rows({m_.logits.data(), n, n_vocab, m_.wanted.data()}, m_.found.data(), m_.top_ids.data(), m_.top_logits.data(), stream);
        copy(m_.found_out.data(), m_.found.data(), n, stream, to_host);
        for (int32_t i = 0; i < n; i++) {
            const tr_row &r = batch_.rows[begin + i];
            if (r.head || (r.want & TR_WANT_HIDDEN)) copy(m_.hidden_out.data() + i * n_embd, hidden + i * n_embd, n_embd, stream, to_host);
            if (!sample::follows(r)) {
                copy(m_.logits_out.data() + i * n_vocab, m_.logits.data() + i * n_vocab, n_vocab, stream, to_host);
            } else if (r.n_top > 0) {
                copy(m_.top_ids_out.data() + i * TR_MAX_TOP, m_.top_ids.data() + i * TR_MAX_TOP, r.n_top, stream, to_host);
                copy(m_.top_logits_out.data() + i * TR_MAX_TOP, m_.top_logits.data() + i * TR_MAX_TOP, r.n_top, stream, to_host);
            }
        }
        stream.wait();
        a_.device->pool->run([&](cpu::Worker &worker) {
            sample::Scratch &scratch = a_.scratch[static_cast<size_t>(worker.index())];
            for (int64_t i; (i = worker.next(n)) < n;) answer_one(begin, static_cast<int32_t>(i), scratch);
        });
    }

    // Row `i` of the block that begins at `begin`.
    void answer_one(int32_t begin, int32_t i, sample::Scratch &scratch) {
        tr_row &r = batch_.rows[begin + i];
        const int64_t n_embd = a_.model->shape.n_embd, row = begin + i;
        if (r.head || (r.want & TR_WANT_HIDDEN)) std::copy_n(m_.hidden_out.data() + i * n_embd, n_embd, a_.hidden.data() + row * n_embd);
        if (!sample::follows(r)) return answer_row(a_, batch_, begin + i, m_.logits_out.data() + int64_t{i} * a_.model->shape.n_vocab, scratch);
        const sample::TopStore top{a_.top_ids.data() + row * TR_MAX_TOP, a_.top_logits.data() + row * TR_MAX_TOP};
        std::copy_n(m_.top_ids_out.data() + int64_t{i} * TR_MAX_TOP, r.n_top, top.ids);
        std::copy_n(m_.top_logits_out.data() + int64_t{i} * TR_MAX_TOP, r.n_top, top.logits);
        r.hidden = r.want & TR_WANT_HIDDEN ? a_.hidden.data() + row * n_embd : nullptr;
        r.logits = nullptr;
        sample::answer_found(m_.found_out.data()[i], r, top);
    }

    // n values, by to_device or to_host.
    template <class T, class F> static void copy(T *to, const T *from, int64_t n, const Stream &stream, F &&by) {
        by(to, from, static_cast<size_t>(n) * sizeof(T), stream);
    }

    tr_arena &a_;
    const tr_batch &batch_;
    Memory &m_;
    const Running running_;
    const Arranged arranged_;
};

class Gpu final : public Device {
public:
    Gpu(const Host &host, int32_t number) : Device(host.pool, host.ops, cuda::backend()), number_(number) {}
    void enter() const override { choose_device(number_); }
    const char *kind() const override { return "cuda"; }
    const char *isa() const override { return ops->isa; }
    std::unique_ptr<api::StepMemory> allocate(const tr_arena &arena) const override { return make_memory(arena, backend); }
    void run(tr_arena &arena, const tr_batch &batch) const override {
        try {
            Step(arena, batch).run();
        } catch (...) { // what is queued still reads what the next step writes
            cudaStreamSynchronize(static_cast<Memory &>(*arena.memory).state.stream);
            throw;
        }
    }

    void copy_page(tr_arena &arena, int32_t from, int32_t to) const override {
        const arch::Shape &s = arena.model->shape;
        const int64_t n = s.page_bytes(arena.workspace->kv_type);
        const Stream &stream = static_cast<Memory &>(*arena.memory).state.stream;
        for (int32_t i = 0; i < s.n_layer; i++) {
            const cpu::KvLayer kv = arena.workspace->layer(s, i);
            within_device(kv.k + to * n, kv.k + from * n, static_cast<size_t>(n), stream);
            within_device(kv.v + to * n, kv.v + from * n, static_cast<size_t>(n), stream);
        }
        stream.wait();
    }

private:
    const int32_t number_;
};

std::shared_ptr<const Device> open(const tr_device_params &params, int32_t number) {
    choose_device(number);
    return std::make_shared<Gpu>(open_host(params), number);
}

[[maybe_unused]] const bool registered = register_kind({"cuda", open});

} // namespace

} // namespace tr::cuda
