// What stands behind the handles. A model keeps its device alive and an arena its model: a handle that is freed too early
// frees nothing that is in use.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "arch/backend.h"
#include "arch/model.h"
#include "base/memory.h"
#include "cpu/ops.h"
#include "cpu/pool.h"
#include "heads/head.h"
#include "sample/answer.h"
#include "tokenrouter.h"

namespace tr::api {

// Steps that were run from a recording of an earlier one of their shape, and others.
struct GraphCounts {
    uint64_t hits = 0, misses = 0;
};

// What only one kind of device needs for the steps of an arena.
struct StepMemory {
    virtual ~StepMemory() = default;
    // None where steps are not recorded. Also while a step is running.
    virtual std::optional<GraphCounts> graph_counts() const { return std::nullopt; }
};

// A device of any kind. The processor has a part in all of them: it loads, and draws tokens.
class Device {
public:
    Device(std::shared_ptr<cpu::Pool> pool_, const cpu::Ops &ops_, const arch::Backend &backend_, const heads::Operators &head_operators_)
        : pool(std::move(pool_)), ops(&ops_), backend(backend_), head_operators(head_operators_) {}
    virtual ~Device() = default;

    // Before anything else on a thread: what follows there is of this device.
    virtual void enter() const {}

    virtual const char *kind() const = 0;
    virtual const char *isa() const = 0;
    // Allocates what run() needs besides the arena's own memory; may be null.
    virtual std::unique_ptr<StepMemory> allocate(const tr_arena &arena) const = 0;
    // Runs a batch that was checked. The caller holds arena.busy.
    virtual void run(tr_arena &arena, const tr_batch &batch) const = 0;
    // The keys and values of page `to` := those of `from`, all layers. The caller holds arena.busy.
    virtual void copy_page(tr_arena &arena, int32_t from, int32_t to) const = 0;

    const std::shared_ptr<cpu::Pool> pool;
    const cpu::Ops *const ops;         // of the processor
    const arch::Backend backend;       // what models run on
    const heads::Operators &head_operators; // and heads, besides
};

} // namespace tr::api

struct tr_device {
    std::shared_ptr<const tr::api::Device> device;
};

struct tr_model {
    std::shared_ptr<const tr::api::Device> device;
    std::shared_ptr<const tr::arch::Model> model;
};

struct tr_head {
    std::shared_ptr<const tr::api::Device> device;
    std::shared_ptr<const tr::arch::Model> model;
    std::unique_ptr<tr::heads::Head> head;
    const uint64_t id;       // no other head of this process has had it
    mutable std::mutex busy; // held by a step on a GPU that scores by it: those of two arenas may run at once there
};

// Rows whose logits are in memory at once. More rows are answered in several blocks of this many.
constexpr int32_t kOutputColumns = 64;
// Tokens that go through the model at once. More are appended in several chunks.
constexpr int32_t kChunkColumns = 256;

struct tr_arena {
    std::shared_ptr<const tr::api::Device> device;
    std::shared_ptr<const tr::arch::Model> model;
    int32_t n_pages, max_tokens, max_rows;

    std::mutex busy; // held by a step and by copies of pages
    std::atomic<uint64_t> steps = 0; // that succeeded
    std::unique_ptr<tr::arch::Workspace> workspace;
    std::unique_ptr<tr::api::StepMemory> memory; // of the device's kind

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

    // Marks of the batch check; see check.cpp.
    tr::Array<int32_t> page_writer;          // [n_pages] the segment that writes the page in this step, or -1
    tr::Array<uint32_t> id_seen;             // [(n_vocab+31)/32] zero between uses
};

namespace tr::api {

// Throws Error(TR_ERR_ARGUMENT) unless the batch keeps all the rules of tokenrouter.h. Reads it, changes only the marks.
void check_batch(tr_arena &arena, const tr_batch &batch);

// ---- the parts of a step that all kinds of devices share; see step.cpp

// Fills the arena's columns and the places of rows from a batch, and returns the number of columns.
int32_t arrange(tr_arena &arena, const tr_batch &batch);
// Whether any row is of a column in [begin, end).
bool wanted(const tr_arena &arena, const tr_batch &batch, int32_t begin, int32_t end);
// Answers a row from its logits, with its hidden state in arena.hidden.
void answer_row(tr_arena &arena, const tr_batch &batch, int32_t row, float *logits, sample::Scratch &scratch);
// Gives a row that is answered its score by its head.
void set_score(tr_row &row, float score);

} // namespace tr::api
