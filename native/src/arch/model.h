// A loaded model: weights packed for one backend, and its forward pass.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arch/backend.h"
#include "arch/rotary.h"
#include "base/memory.h"
#include "cpu/ops.h"
#include "tokenrouter.h"

namespace tr::arch {

// The numbers that shape a decoder's tensors.
struct Shape {
    int32_t n_vocab, n_embd, n_layer, n_head, n_head_kv, head_dim, n_ff, n_ctx_train;
    float norm_eps;
    int32_t n_expert, n_expert_used, n_ff_expert; // 0: the feed-forward networks are no mixture of experts

    int64_t q_dim() const { return int64_t{n_head} * head_dim; }
    int64_t kv_dim() const { return int64_t{n_head_kv} * head_dim; }
    // Bytes of one page of one layer's keys (or values).
    int64_t page_bytes(cpu::KvType type) const { return n_head_kv * cpu::kv_page_bytes(type, head_dim); }
};

// Columns prepared for matrices to multiply with. Few are prepared by every worker for itself, many are shared out among the
// workers, who then meet.
class Inputs {
public:
    // Throws Error(TR_ERR_NO_MEMORY).
    void reserve(const Backend &backend, int64_t max_columns, int64_t k, uint32_t forms, int n_workers);

    // Runs prepare(worker, activations) over n columns and returns the activations, complete for this worker. Whoever still
    // reads earlier ones must have been joined.
    template <class F> const cpu::Activations &fill(cpu::Worker &worker, int64_t n, F &&prepare) {
        if (n <= kOwnColumns) {
            cpu::Activations &own = own_[static_cast<size_t>(worker.index())];
            cpu::Worker alone = cpu::Worker::alone();
            prepare(alone, own);
            return own;
        }
        prepare(worker, shared_);
        worker.join();
        return shared_;
    }

private:
    // Preparing a column takes about as long as a join of two workers that are on time.
    static constexpr int64_t kOwnColumns = 2;
    cpu::Activations shared_;
    std::vector<cpu::Activations> own_; // one per worker
};

// cos and sin of a Rotary's angles, times its magnitude.
struct RotaryTable {
    Array<float> cos, sin; // [n_positions][head_dim/2]
};

// Working memory of a mixture of experts. A pair is a column and one of the experts chosen for it; pairs lie sorted by expert.
struct ExpertWorkspace {
    Array<float> normed;        // [max_columns][n_embd] what goes in
    Array<float> scores;        // [max_columns][n_expert] of the router
    Array<int32_t> chosen;      // [max_columns][n_used] experts, rising
    Array<float> weight;        // [max_columns][n_used] of the chosen
    Array<int32_t> pair_at;     // [max_columns][n_used] index of the pair
    Array<int32_t> begin;       // [n_expert + 1] first pair of each expert
    Array<int32_t> column;      // [pairs] of each pair
    Array<float> gathered;      // [pairs][n_embd] what goes into each pair's expert, then what comes out
    Array<float> hidden;        // [pairs][n_ff_expert]
    cpu::Activations inputs, gated; // of all pairs
};

// The KV cache of an arena and the working memory of its steps. Allocated once; a step allocates nothing.
struct Workspace {
    int32_t n_pages, max_columns, max_output_columns;
    Array<float> x;          // [max_columns][n_embd] the residual stream
    Array<float> q;          // [max_columns][q_dim]
    Array<float> k, v;       // [max_columns][kv_dim]
    Array<float> attention;  // [max_columns][q_dim]
    Array<float> ffn;        // [max_columns][n_ff]
    Array<float> branch;     // [max_columns][n_embd] what a part adds to x, where it is normed before that
    ExpertWorkspace experts;
    Inputs normed, attended, gated, outputs; // of the matrices
    cpu::AttentionScratch scratch;
    int32_t n_positions;     // a sequence of this arena is no longer than this
    std::vector<RotaryTable> rotary; // one per Model::rotaries
    cpu::KvType kv_type;
    Array<uint8_t> keys, values; // [n_layer] of what cpu::KvLayer describes, n_pages each

    cpu::KvLayer layer(const Shape &shape, int32_t layer) const {
        const int64_t at = shape.page_bytes(kv_type) * n_pages * layer;
        return {keys.data() + at, values.data() + at, kv_type};
    }
};

// Tokens that go through the model together; a chunk of a step's.
struct Columns {
    const int32_t *ids;              // [n]
    const cpu::QueryToken *tokens;   // [n]
    int64_t n;
    bool wanted;                     // whether the last layer's result is looked at
};

class Model {
public:
    virtual ~Model() = default;

    // Both are called by all workers of a pool run with the same arguments, and end with all of them joined.
    // Appends the columns' keys and values to the cache and leaves the residual stream after the last layer in ws.x.
    virtual void forward(cpu::Worker &worker, Workspace &ws, const Columns &columns) const = 0;
    // hidden[i] := final norm of x[i], logits[i] := output matrix times hidden[i], for i < n <= ws.max_output_columns.
    virtual void output(cpu::Worker &worker, Workspace &ws, const float *x, int64_t n, float *hidden, float *logits) const = 0;

    // x[i] := the embedding of ids[i] as the file has it: [n][n_embd]. Joins.
    virtual void embeddings(cpu::Worker &worker, const int32_t *ids, int64_t n, float *x) const = 0;

    // The forms of activations that the matrices of each group need: reserved with a workspace.
    struct Forms {
        uint32_t normed = 0, attended = 0, gated = 0, outputs = 0;
        uint32_t expert_inputs = 0, expert_gated = 0;
    };
    virtual Forms forms() const = 0;

    Shape shape{};
    std::vector<Rotary> rotaries; // of the kinds of layers
    std::string architecture, name;
    uint64_t n_params = 0, weight_bytes = 0;
};

} // namespace tr::arch
