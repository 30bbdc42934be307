// The parts that decoder architectures are put together from. An architecture's own file says which tensors it has and how a
// layer goes; here is how each part is carried out on a batch.
#pragma once
#include <string>
#include <vector>

#include "arch/backend.h"
#include "arch/experts.h"
#include "arch/loader.h"
#include "arch/model.h"

namespace tr::arch {

// What goes into and comes out of attention. Biases and gains that an architecture does not have are empty.
struct Projections {
    cpu::Matrix q, k, v;                     // n_embd -> q_dim, kv_dim, kv_dim
    cpu::Matrix o;                           // q_dim -> n_embd
    Array<float> q_bias, k_bias, v_bias;     // [q_dim], [kv_dim], [kv_dim]
    Array<float> q_gain, k_gain;             // [head_dim] of norms of heads

    uint32_t input_forms() const { return q.form() | k.form() | v.form(); }
};

// A gated feed-forward network: down(f(gate x) * up x) (Shazeer, "GLU Variants Improve Transformer").
struct FeedForward {
    cpu::Matrix gate, up, down;              // n_embd -> n_ff, n_embd -> n_ff, n_ff -> n_embd

    uint32_t input_forms() const { return gate.form() | up.form(); }
};

// How a layer attends.
struct Attending {
    cpu::AttentionShape shape;
    size_t rotary;                           // index in Model::rotaries
};

class Decoder : public Model {
public:
    void output(cpu::Worker &worker, Workspace &ws, const float *x, int64_t n, float *hidden, float *logits) const override;
    void embeddings(cpu::Worker &worker, const int32_t *ids, int64_t n, float *x) const override { backend_.embed(worker, embedding_, ids, n, 1, x); }
    Forms forms() const override;

protected:
    explicit Decoder(const LoadOptions &options) : backend_(options.backend), ops_(backend_.ops) {}

    // ---- loading. `b` is what a layer's tensors begin with: "blk.0."
    void load_ends(Loader &loader);
    enum Extras : uint32_t { kNone = 0, kBiases = 1, kHeadNorms = 2 };
    void load_projections(Loader &loader, const std::string &b, uint32_t extras, Rows rows, Projections &p);
    void load_feed_forward(Loader &loader, const std::string &b, FeedForward &f);
    void load_experts(Loader &loader, const std::string &b, Experts &e);
    void finish(Loader &loader);
    // Every position up to a token's own, scores divided by sqrt(head_dim), the first rotary.
    Attending attend_all() const;

    // ---- a step's parts. Where one joins, all it wrote is complete.
    // ws.x := the embeddings of the columns. Joins.
    void embed(cpu::Worker &w, Workspace &ws, const Columns &c, float scale = 1) const;
    // The norm of ws.x, prepared for matrices of `forms`; stored in y, too, if not null.
    const cpu::Activations &norm(cpu::Worker &w, Inputs &inputs, const float *x, int64_t n, const Array<float> &gain, float *y,
                                 uint32_t forms) const;
    // ws.attention := what the heads of layer i attend to, from the normed `h`. The keys and values go to the cache. Joins.
    // False if that was all that anybody asked for: this is the last layer, and no column of the batch is looked at.
    bool attend(cpu::Worker &w, Workspace &ws, const Columns &c, int32_t i, const Projections &p, const cpu::Activations &h,
                const Attending &how) const;
    // x += o * ws.attention, or ws.branch := it. Joins.
    void add_attended(cpu::Worker &w, Workspace &ws, int64_t n, const Projections &p) const;
    void branch_attended(cpu::Worker &w, Workspace &ws, int64_t n, const Projections &p) const;
    // x += the network of the normed `h`, or ws.branch := it. Joins.
    void add_feed_forward(cpu::Worker &w, Workspace &ws, int64_t n, const FeedForward &f, cpu::Gate gate, const cpu::Activations &h) const;
    void branch_feed_forward(cpu::Worker &w, Workspace &ws, int64_t n, const FeedForward &f, cpu::Gate gate,
                             const cpu::Activations &h) const;

    // x += the networks that the router of `experts` picks for each column, weighted. `h` is the norm of x, which
    // ws.experts.normed holds, too. Joins.
    void add_experts(cpu::Worker &w, Workspace &ws, int64_t n, const Experts &experts, const cpu::Activations &h) const;

    const Backend backend_;
    const cpu::Ops &ops_;

private:
    const cpu::Matrix &output_matrix() const { return tied_ ? embedding_ : output_; }
    const cpu::Activations &prepare(cpu::Worker &w, Inputs &inputs, const float *x, int64_t n, int64_t k, const cpu::Matrix &m) const;
    const cpu::Activations &gated(cpu::Worker &w, Workspace &ws, int64_t n, const FeedForward &f, cpu::Gate gate,
                                  const cpu::Activations &h) const;

    bool tied_ = false;
    cpu::Matrix embedding_, output_;  // n_embd -> n_vocab
    Array<float> output_norm_;        // [n_embd]
    Forms forms_;                     // of the layers loaded
};

} // namespace tr::arch
