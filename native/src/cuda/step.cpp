#include "cuda/step.h"

#include <algorithm>
#include <optional>

#include "cuda/describe.h"
#include "cuda/kernels/launch.h"
#include "cuda/scoring.h"

namespace tr::cuda {

namespace {

using namespace api;

class Step {
public:
    Step(tr_arena &arena, const tr_batch &batch)
        : a_(arena), batch_(batch), m_(static_cast<Memory &>(*arena.memory)), stream_(m_.state.stream), running_(m_.state), n_columns_(arrange(arena, batch)),
          scoring_(arena, batch), shape_(find_shape()) {}

    void run() {
        describe(a_, batch_, n_columns_, shape_ ? &*shape_ : nullptr);
        if (shape_) {
            m_.graphs.run(*shape_, stream_, [this] {
                append(0, shape_->columns, shape_->rows, shape_->rows > 0);
                if (shape_->rows > 0) look(0, shape_->rows);
            });
            answer(0, batch_.n_rows);
        } else {
            m_.graphs.count_miss();
            run_in_chunks();
        }
        stream_.wait();
    }

private:
    int32_t longest() const {
        int32_t n = 0;
        for (int32_t i = 0; i < batch_.n_segments; i++) n = std::max(n, batch_.segments[i].position + batch_.segments[i].n_tokens);
        return n;
    }

    // That of a batch whose columns and rows are worked on at once.
    std::optional<GraphShape> find_shape() {
        const arch::Workspace &ws = *a_.workspace;
        m_.state.segments = (longest() - 1) / cpu::kKvSegment + 1;
        if (!m_.graphs.enabled || n_columns_ > ws.max_columns || batch_.n_rows > ws.max_output_columns) return std::nullopt;
        m_.state.segments = graph_size(static_cast<int32_t>(m_.state.segments)); // blocks beyond a token's last segment return
        scoring_.set_block(0, batch_.n_rows);
        return GraphShape{std::min(graph_size(n_columns_), ws.max_columns), std::min(graph_size(batch_.n_rows), ws.max_output_columns),
                          static_cast<int32_t>(m_.state.segments), scoring_.waits() ? std::vector<uint64_t>() : scoring_.ids()};
    }

    void run_in_chunks() {
        const arch::Workspace &ws = *a_.workspace;
        for (int32_t begin = 0; begin < n_columns_; begin += ws.max_columns) {
            const int32_t end = std::min(begin + ws.max_columns, n_columns_);
            append(begin, end - begin, batch_.n_rows, wanted(a_, batch_, begin, end));
        }
        for (int32_t begin = 0; begin < batch_.n_rows; begin += ws.max_output_columns) {
            const int32_t n = std::min(ws.max_output_columns, batch_.n_rows - begin);
            scoring_.set_block(begin, n);
            look(begin, n);
            answer(begin, n);
        }
    }

    // Appends n columns and keeps the residual streams that rows want of them. Nothing here or in look() may depend on the batch but by
    // its shape.
    void append(int32_t begin, int32_t n, int32_t n_rows, bool looked_at) {
        arch::Workspace &ws = *a_.workspace;
        cpu::Worker alone = cpu::Worker::alone();
        a_.model->forward(alone, ws, {m_.in.ids().device + begin, m_.in.tokens().device + begin, n, looked_at});
        // Rows are numbered over all columns: seen from the first one here, others are out of its range.
        if (looked_at) gather(ws.x.data(), begin, n, a_.model->shape.n_embd, m_.in.row_columns().device, n_rows, m_.row_x.data(), stream_);
    }

    // Finds what most rows want where the logits are, draws and scores there: for n rows, as many as logits are kept of.
    void look(int32_t begin, int32_t n) {
        const int64_t n_embd = a_.model->shape.n_embd;
        cpu::Worker alone = cpu::Worker::alone();
        a_.model->output(alone, *a_.workspace, m_.row_x.data() + begin * n_embd, n, m_.hidden.data() + begin * n_embd, m_.logits.data());
        const LogitRows rows{m_.logits.data(), n, a_.model->shape.n_vocab, m_.in.wanted().device + begin};
        find_in_rows(rows, m_.found.data(), m_.top_ids.data(), m_.top_logits.data(), stream_);
        draw_rows(rows, m_.logits.data(), m_.in.drawings().device + begin, m_.found.data(), stream_);
        if (!scoring_.waits()) scoring_.queue(n);
    }

    // The rows that look() looked at. The logits of those that the processor answers come out.
    void answer(int32_t begin, int32_t n) {
        if (n == 0) return;
        const int64_t n_embd = a_.model->shape.n_embd, n_vocab = a_.model->shape.n_vocab;
        copy(m_.found_out.data(), m_.found.data(), n);
        for (int32_t i = 0; i < n; i++) {
            const tr_row &r = batch_.rows[begin + i];
            if (wants_hidden(r)) copy(m_.hidden_out.data() + i * n_embd, m_.hidden.data() + (begin + i) * n_embd, n_embd);
            if (!on_device(r)) {
                copy(m_.logits_out.data() + i * n_vocab, m_.logits.data() + i * n_vocab, n_vocab);
            } else if (r.n_top > 0) {
                copy(m_.top_ids_out.data() + i * TR_MAX_TOP, m_.top_ids.data() + i * TR_MAX_TOP, r.n_top);
                copy(m_.top_logits_out.data() + i * TR_MAX_TOP, m_.top_logits.data() + i * TR_MAX_TOP, r.n_top);
            }
        }
        if (!scoring_.waits()) scoring_.queue_out();
        stream_.wait();
        a_.device->pool->run([&](cpu::Worker &worker) {
            sample::Scratch &scratch = a_.scratch[static_cast<size_t>(worker.index())];
            for (int64_t i; (i = worker.next(n)) < n;) answer_one(begin, static_cast<int32_t>(i), scratch);
        });
        if (scoring_.waits()) {
            scoring_.queue_drawn();
            scoring_.queue_out();
            stream_.wait();
        }
        scoring_.answer();
    }

    // Row `i` of the block that begins at `begin`.
    void answer_one(int32_t begin, int32_t i, sample::Scratch &scratch) {
        tr_row &r = batch_.rows[begin + i];
        const int64_t n_embd = a_.model->shape.n_embd, row = begin + i;
        if (wants_hidden(r)) std::copy_n(m_.hidden_out.data() + i * n_embd, n_embd, a_.hidden.data() + row * n_embd);
        if (!on_device(r)) return answer_row(a_, batch_, begin + i, m_.logits_out.data() + int64_t{i} * a_.model->shape.n_vocab, scratch);
        const sample::TopStore top{a_.top_ids.data() + row * TR_MAX_TOP, a_.top_logits.data() + row * TR_MAX_TOP};
        std::copy_n(m_.top_ids_out.data() + int64_t{i} * TR_MAX_TOP, r.n_top, top.ids);
        std::copy_n(m_.top_logits_out.data() + int64_t{i} * TR_MAX_TOP, r.n_top, top.logits);
        r.hidden = r.want & TR_WANT_HIDDEN ? a_.hidden.data() + row * n_embd : nullptr;
        r.logits = nullptr;
        sample::answer_found(m_.found_out.data()[i], a_.model->shape.n_vocab, r, top);
    }

    bool on_device(const tr_row &r) const { return answered_on_device(r, a_.model->shape.n_vocab); }
    static bool wants_hidden(const tr_row &r) { return r.want & TR_WANT_HIDDEN; }
    // n values, out of the device.
    template <class T> void copy(T *to, const T *from, int64_t n) const { to_host(to, from, static_cast<size_t>(n) * sizeof(T), stream_); }

    tr_arena &a_;
    const tr_batch &batch_;
    Memory &m_;
    const Stream &stream_;
    const Running running_;
    const int32_t n_columns_;
    Scoring scoring_;
    const std::optional<GraphShape> shape_;
};

} // namespace

void run_step(tr_arena &arena, const tr_batch &batch) {
    Step step(arena, batch);
    try {
        step.run();
    } catch (...) { // what is queued still reads what the next step writes
        cudaStreamSynchronize(static_cast<Memory &>(*arena.memory).state.stream);
        throw;
    }
}

} // namespace tr::cuda
