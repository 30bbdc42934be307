#include "arch/workspace.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "base/error.h"

namespace tr::arch {

namespace {

// cos and sin of position * base^(-2i/head_dim) for i < head_dim/2 (Su et al., "RoFormer", section 3.2.2). Computed in
// double: a float32 angle is off by 1e-3 at position 32768.
void fill_rope(cpu::Worker &worker, const Shape &shape, Workspace &ws) {
    const int32_t half = shape.head_dim / 2;
    for (int64_t i; (i = worker.next(half)) < half;) {
        const double frequency = std::pow(double{shape.rope_base}, -2.0 * static_cast<double>(i) / shape.head_dim);
        for (int32_t position = 0; position < ws.n_positions; position++) {
            const auto at = static_cast<size_t>(int64_t{position} * half + i);
            ws.cos[at] = static_cast<float>(std::cos(position * frequency));
            ws.sin[at] = static_cast<float>(std::sin(position * frequency));
        }
    }
}

size_t product(int64_t a, int64_t b) { return static_cast<size_t>(a) * static_cast<size_t>(b); }

} // namespace

void Inputs::reserve(int64_t max_columns, int64_t k, uint32_t forms, int n_workers) {
    try {
        shared_.reserve(max_columns, k, forms);
        own_.resize(static_cast<size_t>(n_workers));
        for (cpu::Activations &own : own_) own.reserve(std::min(max_columns, kOwnColumns), k, forms);
    } catch (const std::bad_alloc &) {
        fail(TR_ERR_NO_MEMORY, "cannot allocate the prepared activations of %lld tokens", static_cast<long long>(max_columns));
    }
}

std::unique_ptr<Workspace> make_workspace(const Model &model, const WorkspaceSize &size, cpu::Pool &pool) {
    const Shape &s = model.shape;
    auto ws = std::make_unique<Workspace>();
    ws->n_pages = size.n_pages;
    ws->max_columns = size.max_columns;
    ws->max_output_columns = size.max_output_columns;
    ws->n_positions = static_cast<int32_t>(std::min<int64_t>(s.n_ctx_train, int64_t{size.n_pages} * TR_PAGE_TOKENS));

    const size_t page_count = product(s.n_layer, size.n_pages);
    ws->keys = Array<uint16_t>(page_count * static_cast<size_t>(s.page_values()), "the keys of the KV cache");
    ws->values = Array<uint16_t>(page_count * static_cast<size_t>(s.page_values()), "the values of the KV cache");

    const int64_t n = size.max_columns;
    ws->x = Array<float>(product(n, s.n_embd), "the residual stream of a step");
    ws->q = Array<float>(product(n, s.q_dim()), "the queries of a step");
    ws->k = Array<float>(product(n, s.kv_dim()), "the keys of a step");
    ws->v = Array<float>(product(n, s.kv_dim()), "the values of a step");
    ws->attention = Array<float>(product(n, s.q_dim()), "the attention output of a step");
    ws->ffn = Array<float>(product(n, s.n_ff), "the feed-forward values of a step");
    const Model::Forms forms = model.forms();
    ws->normed.reserve(n, s.n_embd, forms.normed, pool.size());
    ws->attended.reserve(n, s.q_dim(), forms.attended, pool.size());
    ws->gated.reserve(n, s.n_ff, forms.gated, pool.size());
    ws->outputs.reserve(size.max_output_columns, s.n_embd, forms.outputs, pool.size());
    try {
        ws->scratch.reserve(s.head_dim);
    } catch (const std::bad_alloc &) {
        fail(TR_ERR_NO_MEMORY, "cannot allocate the working memory of attention");
    }

    const size_t angles = product(ws->n_positions, s.head_dim / 2);
    ws->cos = Array<float>(angles, "the rotary embedding's table");
    ws->sin = Array<float>(angles, "the rotary embedding's table");
    pool.run([&](cpu::Worker &worker) { fill_rope(worker, s, *ws); });
    return ws;
}

} // namespace tr::arch
