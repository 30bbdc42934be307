#include <algorithm>

#include "api/guard.h"
#include "api/handles.h"
#include "arch/workspace.h"

using namespace tr::api;

namespace {

constexpr int32_t kDefaultTokens = 512, kDefaultRows = 64;
constexpr int32_t kMostPages = INT32_MAX / TR_PAGE_TOKENS; // positions stay within 31 bits
constexpr int32_t kMostTokens = 1 << 20;

int32_t in_range(int32_t value, int32_t fallback, int32_t most, const char *name) {
    if (value < 0 || value > most)
        tr::fail(TR_ERR_ARGUMENT, "tr_arena_params.%s is %d; expected 0 (%d) to %d", name, value, fallback, most);
    return value == 0 ? fallback : value;
}

tr::cpu::KvType kv_type_of(int32_t value, const tr::arch::Shape &shape) {
    if (value == TR_KV_F16) return tr::cpu::KvType::kF16;
    if (value != TR_KV_Q8_0) tr::fail(TR_ERR_ARGUMENT, "tr_arena_params.kv_type is %d; expected TR_KV_F16 (0) or TR_KV_Q8_0 (1)", value);
    if (shape.head_dim % tr::cpu::kKvBlock) {
        tr::fail(TR_ERR_UNSUPPORTED, "a KV cache in Q8_0 needs heads of a multiple of %d dimensions; this model's have %d: use F16",
                 tr::cpu::kKvBlock, shape.head_dim);
    }
    return tr::cpu::KvType::kQ8_0;
}

void allocate_step_memory(tr_arena &a) {
    const tr::arch::Shape &s = a.model->shape;
    const auto tokens = static_cast<size_t>(a.max_tokens), rows = static_cast<size_t>(a.max_rows);
    const auto n_embd = static_cast<size_t>(s.n_embd), n_vocab = static_cast<size_t>(s.n_vocab);
    a.ids = tr::Array<int32_t>(tokens, "the token ids of a step");
    a.tokens = tr::Array<tr::cpu::QueryToken>(tokens, "the positions of a step");
    a.first_column = tr::Array<int32_t>(tokens, "the segments of a step");
    a.row_column = tr::Array<int32_t>(rows, "the rows of a step");
    a.row_x = tr::Array<float>(rows * n_embd, "the residual stream of rows");
    a.hidden = tr::Array<float>(rows * n_embd, "the hidden states of rows");
    a.logits = tr::Array<float>(std::min<size_t>(rows, kOutputColumns) * n_vocab, "the logits of a block of rows");
    a.kept_logits = tr::Array<float>(rows * n_vocab, "the logits of rows");
    a.top_ids = tr::Array<int32_t>(rows * TR_MAX_TOP, "the top ids of rows");
    a.top_logits = tr::Array<float>(rows * TR_MAX_TOP, "the top logits of rows");
    const auto n_workers = static_cast<size_t>(a.device->pool->size());
    a.scratch.reserve(n_workers);
    for (size_t i = 0; i < n_workers; i++) a.scratch.emplace_back(s.n_vocab);
    a.page_writer = tr::Array<int32_t>(static_cast<size_t>(a.n_pages), "the marks of pages");
    std::fill_n(a.page_writer.data(), a.page_writer.size(), -1);
    a.id_seen = tr::Array<uint32_t>(static_cast<size_t>(tr::sample::Mask::words_for(s.n_vocab)), "the marks of ids");
    std::fill_n(a.id_seen.data(), a.id_seen.size(), 0);
}

void check_page(const tr_arena &arena, int32_t page, const char *name) {
    if (page < 0 || page >= arena.n_pages)
        tr::fail(TR_ERR_ARGUMENT, "page `%s` is %d; the arena has pages 0 to %d", name, page, arena.n_pages - 1);
}

} // namespace

tr_status tr_arena_create(tr_model *model, const tr_arena_params *params, tr_arena **out, char *err, size_t err_len) {
    return guarded(err, err_len, [&] {
        check_pointer(out, "out");
        *out = nullptr;
        check_pointer(model, "model");
        check_struct(params, "tr_arena_params");
        if (params->n_pages < 1 || params->n_pages > kMostPages) {
            tr::fail(TR_ERR_ARGUMENT, "tr_arena_params.n_pages is %d; expected 1 to %d", params->n_pages, kMostPages);
        }
        model->device->enter();
        auto arena = std::make_unique<tr_arena>();
        arena->device = model->device;
        arena->model = model->model;
        arena->n_pages = params->n_pages;
        arena->max_tokens = in_range(params->max_tokens, kDefaultTokens, kMostTokens, "max_tokens");
        arena->max_rows = in_range(params->max_rows, kDefaultRows, kMostTokens, "max_rows");
        arena->workspace = tr::arch::make_workspace(
            *arena->model,
            {arena->n_pages, std::min(arena->max_tokens, kChunkColumns), std::min(arena->max_rows, kOutputColumns),
             kv_type_of(params->kv_type, arena->model->shape)},
            arena->device->backend, *arena->device->pool);
        allocate_step_memory(*arena);
        arena->memory = arena->device->allocate(*arena);
        *out = arena.release();
    });
}

tr_status tr_arena_describe(const tr_arena *arena, tr_arena_info *info, char *err, size_t err_len) {
    return guarded(err, err_len, [&] {
        check_pointer(arena, "arena");
        check_struct(info, "tr_arena_info");
        *info = {};
        info->size = sizeof *info;
        info->steps = arena->steps;
        if (const auto graphs = arena->memory->graph_counts()) {
            info->has_graphs = 1;
            info->graph_hits = graphs->hits;
            info->graph_misses = graphs->misses;
        }
    });
}

tr_status tr_arena_copy_page(tr_arena *arena, int32_t from, int32_t to, char *err, size_t err_len) {
    return guarded(err, err_len, [&] {
        check_pointer(arena, "arena");
        check_page(*arena, from, "from");
        check_page(*arena, to, "to");
        if (from == to) return;
        const std::lock_guard lock(arena->busy);
        arena->device->enter();
        arena->device->copy_page(*arena, from, to);
    });
}

void tr_arena_free(tr_arena *arena) { delete arena; }
