#include "arch/decoder.h"

#include <cmath>

namespace tr::arch {

using cpu::Activations;

namespace {

const float *or_null(const Array<float> &a) { return a.size() ? a.data() : nullptr; }

} // namespace

void Decoder::load_ends(Loader &loader) {
    const Shape &s = shape;
    loader.matrix(embedding_, "token_embd.weight", s.n_embd, s.n_vocab);
    loader.vector(output_norm_, "output_norm.weight", s.n_embd);
    tied_ = !loader.has("output.weight");
    if (!tied_) loader.matrix(output_, "output.weight", s.n_embd, s.n_vocab);
    forms_.outputs = output_matrix().form();
}

void Decoder::load_projections(Loader &loader, const std::string &b, uint32_t extras, Rows rows, Projections &p) {
    const Shape &s = shape;
    loader.matrix(p.q, b + "attn_q.weight", s.n_embd, s.q_dim(), rows);
    loader.matrix(p.k, b + "attn_k.weight", s.n_embd, s.kv_dim(), rows);
    loader.matrix(p.v, b + "attn_v.weight", s.n_embd, s.kv_dim());
    loader.matrix(p.o, b + "attn_output.weight", s.q_dim(), s.n_embd);
    if (extras & kBiases) {
        loader.vector(p.q_bias, b + "attn_q.bias", s.q_dim(), rows);
        loader.vector(p.k_bias, b + "attn_k.bias", s.kv_dim(), rows);
        loader.vector(p.v_bias, b + "attn_v.bias", s.kv_dim());
    }
    if (extras & kHeadNorms) {
        loader.vector(p.q_gain, b + "attn_q_norm.weight", s.head_dim);
        loader.vector(p.k_gain, b + "attn_k_norm.weight", s.head_dim);
    }
    forms_.normed |= p.input_forms();
    forms_.attended |= p.o.form();
}

void Decoder::load_feed_forward(Loader &loader, const std::string &b, FeedForward &f) {
    loader.matrix(f.gate, b + "ffn_gate.weight", shape.n_embd, shape.n_ff);
    loader.matrix(f.up, b + "ffn_up.weight", shape.n_embd, shape.n_ff);
    loader.matrix(f.down, b + "ffn_down.weight", shape.n_ff, shape.n_embd);
    forms_.normed |= f.input_forms();
    forms_.gated |= f.down.form();
}

void Decoder::finish(Loader &loader) {
    loader.finish();
    n_params = loader.n_params();
    weight_bytes = loader.weight_bytes();
}

Attending Decoder::attend_all() const {
    return {{shape.n_head, shape.n_head_kv, shape.head_dim, TR_PAGE_TOKENS, 1 / std::sqrt(static_cast<float>(shape.head_dim))}, 0};
}

Model::Forms Decoder::forms() const { return forms_; }

void Decoder::embed(cpu::Worker &w, Workspace &ws, const Columns &c, float scale) const {
    backend_.embed(w, embedding_, c.ids, c.n, scale, ws.x.data());
}

const Activations &Decoder::norm(cpu::Worker &w, Inputs &inputs, const float *x, int64_t n, const Array<float> &gain, float *y,
                                 uint32_t forms) const {
    return inputs.fill(w, n, [&](cpu::Worker &by, Activations &to) {
        // Where every worker norms for itself, one of them is enough to store y.
        float *stored = &by == &w || w.index() == 0 ? y : nullptr;
        ops_.rms_norm(by, x, n, shape.n_embd, gain.data(), shape.norm_eps, stored, forms, to);
    });
}

const Activations &Decoder::prepare(cpu::Worker &w, Inputs &inputs, const float *x, int64_t n, int64_t k, const cpu::Matrix &m) const {
    return inputs.fill(w, n, [&](cpu::Worker &by, Activations &to) { ops_.prepare(by, x, n, k, m.form(), to); });
}

bool Decoder::attend(cpu::Worker &w, Workspace &ws, const Columns &c, int32_t i, const Projections &p, const Activations &h,
                     const Attending &how) const {
    const Shape &s = shape;
    const cpu::KvLayer kv = ws.layer(s, i);
    const RotaryTable &table = ws.rotary[how.rotary];
    float *q = ws.q.data(), *k = ws.k.data(), *v = ws.v.data();
    ops_.matmul(w, p.q, h, c.n, or_null(p.q_bias), q, s.q_dim());
    ops_.matmul(w, p.k, h, c.n, or_null(p.k_bias), k, s.kv_dim());
    ops_.matmul(w, p.v, h, c.n, or_null(p.v_bias), v, s.kv_dim());
    w.join();
    const cpu::Rotation rotation{table.cos.data(), table.sin.data(), or_null(p.q_gain), or_null(p.k_gain), s.norm_eps};
    ops_.rope_store(w, how.shape, c.tokens, c.n, q, k, v, rotation, kv);
    w.join();
    if (i + 1 == s.n_layer && !c.wanted) return false;
    ops_.attention(w, how.shape, c.tokens, c.n, q, kv, ws.scratch, ws.attention.data());
    w.join();
    return true;
}

void Decoder::add_attended(cpu::Worker &w, Workspace &ws, int64_t n, const Projections &p) const {
    ops_.matmul_add(w, p.o, prepare(w, ws.attended, ws.attention.data(), n, shape.q_dim(), p.o), n, ws.x.data(), shape.n_embd);
    w.join();
}

void Decoder::branch_attended(cpu::Worker &w, Workspace &ws, int64_t n, const Projections &p) const {
    ops_.matmul(w, p.o, prepare(w, ws.attended, ws.attention.data(), n, shape.q_dim(), p.o), n, nullptr, ws.branch.data(), shape.n_embd);
    w.join();
}

const Activations &Decoder::gated(cpu::Worker &w, Workspace &ws, int64_t n, const FeedForward &f, cpu::Gate gate,
                                  const Activations &h) const {
    ops_.matmul_gated(w, f.gate, f.up, gate, h, n, ws.ffn.data(), shape.n_ff);
    w.join();
    return prepare(w, ws.gated, ws.ffn.data(), n, shape.n_ff, f.down);
}

void Decoder::add_feed_forward(cpu::Worker &w, Workspace &ws, int64_t n, const FeedForward &f, cpu::Gate gate, const Activations &h) const {
    ops_.matmul_add(w, f.down, gated(w, ws, n, f, gate, h), n, ws.x.data(), shape.n_embd);
    w.join();
}

void Decoder::branch_feed_forward(cpu::Worker &w, Workspace &ws, int64_t n, const FeedForward &f, cpu::Gate gate,
                                  const Activations &h) const {
    ops_.matmul(w, f.down, gated(w, ws, n, f, gate, h), n, nullptr, ws.branch.data(), shape.n_embd);
    w.join();
}

void Decoder::output(cpu::Worker &w, Workspace &ws, const float *x, int64_t n, float *hidden, float *logits) const {
    const cpu::Matrix &m = output_matrix();
    ops_.matmul(w, m, norm(w, ws.outputs, x, n, output_norm_, hidden, m.form()), n, nullptr, logits, shape.n_vocab);
    w.join();
}

} // namespace tr::arch
