#include "arch/workspace.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "base/error.h"

namespace tr::arch {

namespace {

// Angles are computed in double: a float32 angle is off by 1e-3 at position 32768.
void fill_rotary(cpu::Worker &worker, const Rotary &rotary, int32_t n_positions, RotaryTable &table) {
    const auto half = static_cast<int64_t>(rotary.frequency.size());
    for (int64_t i; (i = worker.next(half)) < half;) {
        const double frequency = rotary.frequency[static_cast<size_t>(i)];
        for (int32_t position = 0; position < n_positions; position++) {
            const auto at = static_cast<size_t>(int64_t{position} * half + i);
            table.cos[at] = static_cast<float>(rotary.magnitude * std::cos(position * frequency));
            table.sin[at] = static_cast<float>(rotary.magnitude * std::sin(position * frequency));
        }
    }
}

size_t product(int64_t a, int64_t b) { return static_cast<size_t>(a) * static_cast<size_t>(b); }

void reserve_experts(const Backend &backend, ExpertWorkspace &e, const Shape &s, const Model::Forms &forms, int64_t n) {
    const int64_t pairs = n * s.n_expert_used;
    e.normed = backend.array<float>(product(n, s.n_embd), "the inputs of experts");
    e.scores = backend.array<float>(product(n, s.n_expert), "the scores of experts");
    e.chosen = backend.array<int32_t>(static_cast<size_t>(pairs), "the chosen experts");
    e.weight = backend.array<float>(static_cast<size_t>(pairs), "the weights of experts");
    e.pair_at = backend.array<int32_t>(static_cast<size_t>(pairs), "the chosen experts");
    e.column = backend.array<int32_t>(static_cast<size_t>(pairs), "the chosen experts");
    e.begin = backend.array<int32_t>(static_cast<size_t>(s.n_expert) + 1, "the chosen experts");
    e.gathered = backend.array<float>(product(pairs, s.n_embd), "the inputs of experts");
    e.hidden = backend.array<float>(product(pairs, s.n_ff_expert), "the values of experts");
    try {
        backend.reserve(e.inputs, pairs, s.n_embd, forms.expert_inputs);
        backend.reserve(e.gated, pairs, s.n_ff_expert, forms.expert_gated);
    } catch (const std::bad_alloc &) {
        fail(TR_ERR_NO_MEMORY, "cannot allocate the prepared activations of experts");
    }
}

} // namespace

void Inputs::reserve(const Backend &backend, int64_t max_columns, int64_t k, uint32_t forms, int n_workers) {
    try {
        backend.reserve(shared_, max_columns, k, forms);
        own_.resize(static_cast<size_t>(n_workers));
        for (cpu::Activations &own : own_) backend.reserve(own, std::min(max_columns, kOwnColumns), k, forms);
    } catch (const std::bad_alloc &) {
        fail(TR_ERR_NO_MEMORY, "cannot allocate the prepared activations of %lld tokens", static_cast<long long>(max_columns));
    }
}

std::unique_ptr<Workspace> make_workspace(const Model &model, const WorkspaceSize &size, const Backend &backend, cpu::Pool &pool) {
    const Shape &s = model.shape;
    auto ws = std::make_unique<Workspace>();
    ws->n_pages = size.n_pages;
    ws->max_columns = size.max_columns;
    ws->max_output_columns = size.max_output_columns;
    ws->n_positions = static_cast<int32_t>(std::min<int64_t>(s.n_ctx_train, int64_t{size.n_pages} * TR_PAGE_TOKENS));

    const size_t page_count = product(s.n_layer, size.n_pages);
    const auto page_bytes = static_cast<size_t>(s.page_bytes(size.kv_type));
    ws->kv_type = size.kv_type;
    ws->keys = backend.array<uint8_t>(page_count * page_bytes, "the keys of the KV cache");
    ws->values = backend.array<uint8_t>(page_count * page_bytes, "the values of the KV cache");

    const int64_t n = size.max_columns;
    ws->x = backend.array<float>(product(n, s.n_embd), "the residual stream of a step");
    ws->q = backend.array<float>(product(n, s.q_dim()), "the queries of a step");
    ws->k = backend.array<float>(product(n, s.kv_dim()), "the keys of a step");
    ws->v = backend.array<float>(product(n, s.kv_dim()), "the values of a step");
    ws->attention = backend.array<float>(product(n, s.q_dim()), "the attention output of a step");
    ws->ffn = backend.array<float>(product(n, s.n_ff), "the feed-forward values of a step");
    ws->branch = backend.array<float>(product(n, s.n_embd), "the branch of a step");
    const Model::Forms forms = model.forms();
    const int n_workers = backend.host ? pool.size() : 1;
    ws->normed.reserve(backend, n, s.n_embd, forms.normed, n_workers);
    ws->attended.reserve(backend, n, s.q_dim(), forms.attended, n_workers);
    ws->gated.reserve(backend, n, s.n_ff, forms.gated, n_workers);
    ws->outputs.reserve(backend, size.max_output_columns, s.n_embd, forms.outputs, n_workers);
    try {
        if (backend.host) ws->scratch.reserve(s.head_dim);
    } catch (const std::bad_alloc &) {
        fail(TR_ERR_NO_MEMORY, "cannot allocate the working memory of attention");
    }

    if (s.n_expert > 0) reserve_experts(backend, ws->experts, s, forms, n);

    const size_t angles = product(ws->n_positions, s.head_dim / 2);
    for (const Rotary &rotary : model.rotaries) {
        RotaryTable &table = ws->rotary.emplace_back();
        table.cos = Array<float>(angles, "the rotary embedding's table");
        table.sin = Array<float>(angles, "the rotary embedding's table");
        pool.run([&](cpu::Worker &worker) { fill_rotary(worker, rotary, ws->n_positions, table); });
        table.cos = backend.place(std::move(table.cos), "the rotary embedding's table");
        table.sin = backend.place(std::move(table.sin), "the rotary embedding's table");
    }
    return ws;
}

} // namespace tr::arch
