// Qwen2 and Qwen2.5 (Yang et al., "Qwen2 Technical Report", section 2): a decoder with grouped-query attention whose
// queries, keys and values have biases, rotary positions over halves, RMS norms before each part, and a SwiGLU
// feed-forward network. The output matrix may be the embedding.
#include "arch/config.h"
#include "arch/decoder.h"
#include "arch/registry.h"

namespace tr::arch {

namespace {

struct Layer {
    Array<float> attention_norm, ffn_norm; // [n_embd]
    Projections attention;                 // with biases
    FeedForward ffn;
};

class Qwen2 final : public Decoder {
public:
    Qwen2(const gguf::File &file, const LoadOptions &options) : Decoder(options) {
        shape = read_shape(file.contents, "qwen2");
        refuse_experts(file.contents.metadata(), "qwen2");
        refuse_window(file.contents.metadata(), "qwen2", shape);
        rotaries = {read_rotary(file.contents.metadata(), "qwen2", shape.head_dim)};
        attending_ = attend_all();

        Loader loader(file, options, shape.head_dim);
        load_ends(loader);
        layers_.resize(static_cast<size_t>(shape.n_layer));
        for (size_t i = 0; i < layers_.size(); i++) {
            Layer &l = layers_[i];
            const std::string b = "blk." + std::to_string(i) + ".";
            loader.vector(l.attention_norm, b + "attn_norm.weight", shape.n_embd);
            load_projections(loader, b, kBiases, Rows::kAsStored, l.attention);
            loader.vector(l.ffn_norm, b + "ffn_norm.weight", shape.n_embd);
            load_feed_forward(loader, b, l.ffn);
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

            const cpu::Activations &g = norm(w, ws.normed, x, c.n, l.ffn_norm, nullptr, l.ffn.input_forms());
            add_feed_forward(w, ws, c.n, l.ffn, cpu::Gate::kSilu, g);
        }
    }

private:
    Attending attending_{};
    std::vector<Layer> layers_;
};

} // namespace

std::unique_ptr<Model> load_qwen2(const gguf::File &file, const LoadOptions &options) { return std::make_unique<Qwen2>(file, options); }

} // namespace tr::arch
