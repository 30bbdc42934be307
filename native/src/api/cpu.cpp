// Steps on the processor: one run of the pool each.
#include <algorithm>
#include <cstring>

#include "api/host.h"
#include "api/scores.h"

namespace tr::api {

namespace {

// One checked batch on its way through the model. All workers execute run().
class Step {
public:
    Step(tr_arena &arena, const tr_batch &batch)
        : a_(arena), batch_(batch), model_(*arena.model), n_embd_(model_.shape.n_embd), n_columns_(arrange(arena, batch)), scores_(static_cast<Scores &>(*arena.memory)) {
        scores_.begin(batch);
    }
    void run(cpu::Worker &worker) {
        append(worker);
        answer(worker);
        scores_.run(a_, batch_, worker);
    }

private:
    float *embedding(const Array<float> &rows, int64_t row) const { return rows.data() + row * n_embd_; }

    // Appends all columns in chunks and keeps the residual streams that rows want.
    void append(cpu::Worker &worker) {
        arch::Workspace &ws = *a_.workspace;
        for (int32_t begin = 0; begin < n_columns_; begin += ws.max_columns) {
            const int32_t end = std::min(begin + ws.max_columns, n_columns_);
            model_.forward(worker, ws, {a_.ids.data() + begin, a_.tokens.data() + begin, end - begin, wanted(a_, batch_, begin, end)});
            for (int64_t i; (i = worker.next(batch_.n_rows)) < batch_.n_rows;) {
                const int32_t column = a_.row_column[static_cast<size_t>(i)];
                if (column < begin || column >= end) continue;
                std::memcpy(embedding(a_.row_x, i), ws.x.data() + (column - begin) * n_embd_, static_cast<size_t>(n_embd_) * sizeof(float));
            }
            worker.join();
        }
    }

    void answer(cpu::Worker &worker) {
        arch::Workspace &ws = *a_.workspace;
        for (int32_t begin = 0; begin < batch_.n_rows; begin += ws.max_output_columns) {
            const int32_t n = std::min(ws.max_output_columns, batch_.n_rows - begin);
            model_.output(worker, ws, embedding(a_.row_x, begin), n, embedding(a_.hidden, begin), a_.logits.data());
            sample::Scratch &scratch = a_.scratch[static_cast<size_t>(worker.index())];
            for (int64_t i; (i = worker.next(n)) < n;) {
                answer_row(a_, batch_, begin + static_cast<int32_t>(i), a_.logits.data() + i * model_.shape.n_vocab, scratch);
            }
            worker.join();
        }
    }

    tr_arena &a_;
    const tr_batch &batch_;
    const arch::Model &model_;
    const int64_t n_embd_;
    const int32_t n_columns_;
    Scores &scores_;
};

class Cpu final : public Device {
public:
    explicit Cpu(const Host &host) : Device(host.pool, host.ops, arch::host_backend(host.ops), heads::kOperators) {}
    const char *kind() const override { return "cpu"; }
    const char *isa() const override { return ops->isa; }
    std::unique_ptr<StepMemory> allocate(const tr_arena &arena) const override { return std::make_unique<Scores>(arena); }
    void run(tr_arena &arena, const tr_batch &batch) const override {
        Step step(arena, batch);
        pool->run([&](cpu::Worker &worker) { step.run(worker); });
    }
    void copy_page(tr_arena &arena, int32_t from, int32_t to) const override {
        const arch::Shape &s = arena.model->shape;
        const int64_t n = s.page_bytes(arena.workspace->kv_type);
        for (int32_t i = 0; i < s.n_layer; i++) {
            const cpu::KvLayer kv = arena.workspace->layer(s, i);
            std::memcpy(kv.k + to * n, kv.k + from * n, static_cast<size_t>(n));
            std::memcpy(kv.v + to * n, kv.v + from * n, static_cast<size_t>(n));
        }
    }
};

} // namespace

std::shared_ptr<const Device> open_cpu(const tr_device_params &params) { return std::make_shared<Cpu>(open_host(params)); }

} // namespace tr::api
