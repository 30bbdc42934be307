// Qwen2 and Qwen2.5 (Yang et al., "Qwen2 Technical Report", section 2): a decoder with grouped-query attention whose
// queries, keys and values have biases, rotary positions over halves, RMS norms before each part, and a SwiGLU
// feed-forward network. The output matrix may be the embedding.
#include <cmath>
#include <string>
#include <vector>

#include "arch/config.h"
#include "arch/registry.h"

namespace tr::arch {

namespace {

using cpu::Activations;
using cpu::Matrix;

struct Layer {
    Array<float> attention_norm, ffn_norm;   // [n_embd]
    Array<float> q_bias, k_bias, v_bias;     // [q_dim], [kv_dim], [kv_dim]
    Matrix q, k, v;                          // n_embd -> q_dim, kv_dim, kv_dim
    Matrix o;                                // q_dim -> n_embd
    Matrix gate, up, down;                   // n_embd -> n_ff, n_embd -> n_ff, n_ff -> n_embd

    uint32_t attention_forms() const { return q.form() | k.form() | v.form(); }
    uint32_t ffn_forms() const { return gate.form() | up.form(); }
};

class Qwen2 final : public Model {
public:
    Qwen2(const gguf::File &file, const LoadOptions &options);
    void forward(cpu::Worker &worker, Workspace &ws, const Columns &columns) const override;
    void output(cpu::Worker &worker, Workspace &ws, const float *x, int64_t n, float *hidden, float *logits) const override;
    Forms forms() const override;

private:
    // The inputs of matrices: x normed, or x as it is.
    const Activations &norm(cpu::Worker &w, Inputs &inputs, const float *x, int64_t n, const Array<float> &gain, float *y,
                            uint32_t forms) const;
    const Activations &prepare(cpu::Worker &w, Inputs &inputs, const float *x, int64_t n, int64_t k, const Matrix &m) const;

    const Matrix &output_matrix() const { return tied_ ? embedding_ : output_; }

    const cpu::Ops &ops_;
    cpu::AttentionShape attention_{};
    bool tied_ = false;
    Matrix embedding_, output_;  // n_embd -> n_vocab
    Array<float> output_norm_;   // [n_embd]
    std::vector<Layer> layers_;
};

Qwen2::Qwen2(const gguf::File &file, const LoadOptions &options) : ops_(options.ops) {
    shape = read_shape(file.contents, "qwen2");
    const Shape &s = shape;
    attention_ = {s.n_head, s.n_head_kv, s.head_dim, TR_PAGE_TOKENS, 1 / std::sqrt(static_cast<float>(s.head_dim))};

    Loader loader(file, options);
    loader.matrix(embedding_, "token_embd.weight", s.n_embd, s.n_vocab);
    loader.vector(output_norm_, "output_norm.weight", s.n_embd);
    tied_ = !loader.has("output.weight");
    if (!tied_) loader.matrix(output_, "output.weight", s.n_embd, s.n_vocab);
    layers_.resize(static_cast<size_t>(s.n_layer));
    for (int32_t i = 0; i < s.n_layer; i++) {
        Layer &l = layers_[static_cast<size_t>(i)];
        const std::string b = "blk." + std::to_string(i) + ".";
        loader.vector(l.attention_norm, b + "attn_norm.weight", s.n_embd);
        loader.matrix(l.q, b + "attn_q.weight", s.n_embd, s.q_dim());
        loader.matrix(l.k, b + "attn_k.weight", s.n_embd, s.kv_dim());
        loader.matrix(l.v, b + "attn_v.weight", s.n_embd, s.kv_dim());
        loader.vector(l.q_bias, b + "attn_q.bias", s.q_dim());
        loader.vector(l.k_bias, b + "attn_k.bias", s.kv_dim());
        loader.vector(l.v_bias, b + "attn_v.bias", s.kv_dim());
        loader.matrix(l.o, b + "attn_output.weight", s.q_dim(), s.n_embd);
        loader.vector(l.ffn_norm, b + "ffn_norm.weight", s.n_embd);
        loader.matrix(l.gate, b + "ffn_gate.weight", s.n_embd, s.n_ff);
        loader.matrix(l.up, b + "ffn_up.weight", s.n_embd, s.n_ff);
        loader.matrix(l.down, b + "ffn_down.weight", s.n_ff, s.n_embd);
    }
    loader.finish();
    n_params = loader.n_params();
    weight_bytes = loader.weight_bytes();
}

Model::Forms Qwen2::forms() const {
    Forms f{0, 0, 0, static_cast<uint32_t>(output_matrix().form())};
    for (const Layer &l : layers_) {
        f.normed |= l.attention_forms() | l.ffn_forms();
        f.attended |= l.o.form();
        f.gated |= l.down.form();
    }
    return f;
}

void Qwen2::forward(cpu::Worker &w, Workspace &ws, const Columns &c) const {
    const Shape &s = shape;
    const int64_t n = c.n;
    float *x = ws.x.data(), *q = ws.q.data(), *k = ws.k.data(), *v = ws.v.data();
    float *attention = ws.attention.data(), *ffn = ws.ffn.data();

    for (int64_t i; (i = w.next(n)) < n;) cpu::embedding_row(embedding_, c.ids[i], x + i * s.n_embd);
    w.join();
    for (int32_t i = 0; i < s.n_layer; i++) {
        const Layer &l = layers_[static_cast<size_t>(i)];
        const cpu::KvLayer kv = ws.layer(s, i);

        const Activations &h = norm(w, ws.normed, x, n, l.attention_norm, nullptr, l.attention_forms());
        ops_.matmul(w, l.q, h, n, l.q_bias.data(), q, s.q_dim());
        ops_.matmul(w, l.k, h, n, l.k_bias.data(), k, s.kv_dim());
        ops_.matmul(w, l.v, h, n, l.v_bias.data(), v, s.kv_dim());
        w.join();
        ops_.rope_store(w, attention_, c.tokens, n, q, k, v, ws.cos.data(), ws.sin.data(), kv);
        w.join();
        if (i + 1 == s.n_layer && !c.wanted) return; // the cache is complete, and nobody looks at the rest
        ops_.attention(w, attention_, c.tokens, n, q, kv, ws.scratch, attention);
        w.join();
        ops_.matmul_add(w, l.o, prepare(w, ws.attended, attention, n, s.q_dim(), l.o), n, x, s.n_embd);
        w.join();

        const Activations &g = norm(w, ws.normed, x, n, l.ffn_norm, nullptr, l.ffn_forms());
        ops_.matmul_silu(w, l.gate, l.up, g, n, ffn, s.n_ff);
        w.join();
        ops_.matmul_add(w, l.down, prepare(w, ws.gated, ffn, n, s.n_ff, l.down), n, x, s.n_embd);
        w.join();
    }
}

void Qwen2::output(cpu::Worker &w, Workspace &ws, const float *x, int64_t n, float *hidden, float *logits) const {
    const Matrix &m = output_matrix();
    ops_.matmul(w, m, norm(w, ws.outputs, x, n, output_norm_, hidden, m.form()), n, nullptr, logits, shape.n_vocab);
    w.join();
}

const Activations &Qwen2::norm(cpu::Worker &w, Inputs &inputs, const float *x, int64_t n, const Array<float> &gain, float *y,
                               uint32_t forms) const {
    return inputs.fill(w, n, [&](cpu::Worker &by, Activations &to) {
        // Where every worker norms for itself, one of them is enough to store y.
        float *stored = &by == &w || w.index() == 0 ? y : nullptr;
        ops_.rms_norm(by, x, n, shape.n_embd, gain.data(), shape.norm_eps, stored, forms, to);
    });
}

const Activations &Qwen2::prepare(cpu::Worker &w, Inputs &inputs, const float *x, int64_t n, int64_t k, const Matrix &m) const {
    return inputs.fill(w, n, [&](cpu::Worker &by, Activations &to) { ops_.prepare(by, x, n, k, m.form(), to); });
}

} // namespace

std::unique_ptr<Model> load_qwen2(const gguf::File &file, const LoadOptions &options) {
    return std::make_unique<Qwen2>(file, options);
}

} // namespace tr::arch
