// Qwen3 (Yang et al., "Qwen3 Technical Report", section 2), dense and as a mixture of experts: a decoder with grouped-query
// attention whose queries and keys are normed head by head before they are rotated, RMS norms before each part, and a SwiGLU
// feed-forward network, or many of which a router picks a few for each token. The output matrix may be the embedding.
#include "arch/config.h"
#include "arch/decoder.h"
#include "arch/experts.h"
#include "arch/registry.h"

namespace tr::arch {

namespace {

struct Layer {
    Array<float> attention_norm, ffn_norm; // [n_embd]
    Projections attention;                 // with norms of heads
    FeedForward ffn;                       // qwen3
    Experts experts;                       // qwen3moe
};

class Qwen3 final : public Decoder {
public:
    Qwen3(const gguf::File &file, const LoadOptions &options, const char *name, bool mixture) : Decoder(options), mixture_(mixture) {
        const gguf::Metadata &metadata = file.contents.metadata();
        shape = read_shape(file.contents, name);
        if (mixture) require_experts(metadata, name, shape);
        else refuse_experts(metadata, name);
        refuse_window(metadata, name, shape);
        rotaries = {read_rotary(metadata, name, shape.head_dim)};
        attending_ = attend_all();

        Loader loader(file, options, shape.head_dim);
        load_ends(loader);
        layers_.resize(static_cast<size_t>(shape.n_layer));
        for (size_t i = 0; i < layers_.size(); i++) {
            Layer &l = layers_[i];
            const std::string b = "blk." + std::to_string(i) + ".";
            loader.vector(l.attention_norm, b + "attn_norm.weight", shape.n_embd);
            load_projections(loader, b, kHeadNorms, Rows::kAsStored, l.attention);
            loader.vector(l.ffn_norm, b + "ffn_norm.weight", shape.n_embd);
            if (mixture) load_experts(loader, b, l.experts);
            else load_feed_forward(loader, b, l.ffn);
        }
        finish(loader);
    }

    void forward(cpu::Worker &w, Workspace &ws, const Columns &c) const override {
        const float *x = ws.x.data();
        embed(w, ws, c);
        for (int32_t i = 0; i < shape.n_layer; i++) {
            const Layer &l = layers_[static_cast<size_t>(i)];
            const cpu::Activations &h = norm(w, ws.normed, x, c.n, l.attention_norm, nullptr, l.attention.input_forms());
            if (!attend(w, ws, c, i, l.attention, h, attending_)) return;
            add_attended(w, ws, c.n, l.attention);

            if (mixture_) {
                const cpu::Activations &g = norm(w, ws.normed, x, c.n, l.ffn_norm, ws.experts.normed.data(), l.experts.router.form());
                add_experts(w, ws, c.n, l.experts, g);
            } else {
                const cpu::Activations &g = norm(w, ws.normed, x, c.n, l.ffn_norm, nullptr, l.ffn.input_forms());
                add_feed_forward(w, ws, c.n, l.ffn, cpu::Gate::kSilu, g);
            }
        }
    }

private:
    const bool mixture_;
    Attending attending_{};
    std::vector<Layer> layers_;
};

} // namespace

std::unique_ptr<Model> load_qwen3(const gguf::File &file, const LoadOptions &options) {
    return std::make_unique<Qwen3>(file, options, "qwen3", false);
}

std::unique_ptr<Model> load_qwen3moe(const gguf::File &file, const LoadOptions &options) {
    return std::make_unique<Qwen3>(file, options, "qwen3moe", true);
}

} // namespace tr::arch
