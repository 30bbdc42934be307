// Llama 2 and 3, and what is built like them: Mistral, SmolLM2 (Touvron et al., "Llama 2", section 2.2; Grattafiori et al., "The
// Llama 3 Herd of Models", section 3.2): a decoder with grouped-query attention, rotary positions, RMS norms before each part, and
// a SwiGLU feed-forward network. The output matrix may be the embedding. Some have biases at the queries, keys and values.
//
// Llama rotates neighbours (2i, 2i+1) of a head, and GGUF files hold the rows of queries and keys in that order. Here they
// are put into halves as they are loaded, so that one rotation serves all architectures; a score is a sum over the same
// products either way.
#include "arch/config.h"
#include "arch/decoder.h"
#include "arch/registry.h"

namespace tr::arch {

namespace {

struct Layer {
    Array<float> attention_norm, ffn_norm; // [n_embd]
    Projections attention;
    FeedForward ffn;
};

class Llama final : public Decoder {
public:
    Llama(const gguf::File &file, const LoadOptions &options) : Decoder(options) {
        shape = read_shape(file.contents, "llama");
        refuse_experts(file.contents.metadata(), "llama"); // Mixtral
        refuse_window(file.contents.metadata(), "llama", shape);
        rotaries = {read_rotary(file.contents.metadata(), "llama", shape.head_dim)};
        attending_ = attend_all();

        Loader loader(file, options, shape.head_dim);
        load_ends(loader);
        if (loader.has("rope_freqs.weight")) { // Llama 3.1: positions stretched by frequency
            divide_frequencies(rotaries[0], loader.numbers("rope_freqs.weight", shape.head_dim / 2));
        }
        layers_.resize(static_cast<size_t>(shape.n_layer));
        for (size_t i = 0; i < layers_.size(); i++) {
            Layer &l = layers_[i];
            const std::string b = "blk." + std::to_string(i) + ".";
            loader.vector(l.attention_norm, b + "attn_norm.weight", shape.n_embd);
            load_projections(loader, b, loader.has(b + "attn_q.bias") ? kBiases : kNone, Rows::kNeighboursToHalves, l.attention);
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

std::unique_ptr<Model> load_llama(const gguf::File &file, const LoadOptions &options) { return std::make_unique<Llama>(file, options); }

} // namespace tr::arch
