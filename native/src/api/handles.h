// What stands behind the handles. A model keeps its device alive and an arena its model: a handle that is freed too early
// frees nothing that is in use.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "arch/model.h"
#include "base/memory.h"
#include "cpu/ops.h"
#include "cpu/pool.h"
#include "heads/head.h"
#include "sample/answer.h"
#include "tokenrouter.h"

namespace tr::api {

struct Device {
    std::shared_ptr<cpu::Pool> pool;
    const cpu::Ops *ops;
};

} // namespace tr::api

struct tr_device {
    std::shared_ptr<tr::api::Device> device;
};

struct tr_model {
    std::shared_ptr<tr::api::Device> device;
    std::shared_ptr<const tr::arch::Model> model;
};

struct tr_head {
    std::shared_ptr<tr::api::Device> device;
    std::shared_ptr<const tr::arch::Model> model;
    std::unique_ptr<tr::heads::Head> head;
};

// Rows whose logits are in memory at once. More rows are answered in several blocks of this many.
constexpr int32_t kOutputColumns = 64;
// Tokens that go through the model at once. More are appended in several chunks.
constexpr int32_t kChunkColumns = 256;

struct tr_arena {
    std::shared_ptr<tr::api::Device> device;
    std::shared_ptr<const tr::arch::Model> model;
    int32_t n_pages, max_tokens, max_rows;

    std::mutex busy; // held by a step and by copies of pages
    std::unique_ptr<tr::arch::Workspace> workspace;

    // The step's columns: all tokens of all segments in their order.
    tr::Array<int32_t> ids;                  // [max_tokens]
    tr::Array<tr::cpu::QueryToken> tokens;   // [max_tokens]
    tr::Array<int32_t> first_column;         // [max_tokens] of each segment; every segment has at least one token

    // The step's rows.
    tr::Array<int32_t> row_column;           // [max_rows] the column whose successor a row wants
    tr::Array<float> row_x;                  // [max_rows][n_embd] residual stream
    tr::Array<float> hidden;                 // [max_rows][n_embd] after the final norm
    tr::Array<float> logits;                 // [min(max_rows, kOutputColumns)][n_vocab]
    tr::Array<float> kept_logits;            // [max_rows][n_vocab]; memory comes only with the rows that want theirs
    tr::Array<int32_t> top_ids;              // [max_rows][TR_MAX_TOP]
    tr::Array<float> top_logits;             // [max_rows][TR_MAX_TOP]
    std::vector<tr::sample::Scratch> scratch; // one per worker
    tr::Array<int32_t> head_rows;            // [max_rows] rows that name a head, those of a head side by side

    // Marks of the batch check; see check.cpp.
    tr::Array<int32_t> page_writer;          // [n_pages] the segment that writes the page in this step, or -1
    tr::Array<uint32_t> id_seen;             // [(n_vocab+31)/32] zero between uses
};

namespace tr::api {

// Throws Error(TR_ERR_ARGUMENT) unless the batch keeps all the rules of tokenrouter.h. Reads it, changes only the marks.
void check_batch(tr_arena &arena, const tr_batch &batch);

// Runs a batch that was checked. The caller holds arena.busy.
void run_batch(tr_arena &arena, const tr_batch &batch);

} // namespace tr::api
