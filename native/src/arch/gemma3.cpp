// Gemma 3, text (Gemma Team, "Gemma 3 Technical Report", section 2): a decoder whose layers attend, five of six, to a sliding
// window only, with rotary positions of their own; grouped-query attention with norms of heads; RMS norms before and after each
// part; a feed-forward network gated by GELU. Embeddings are scaled by sqrt(n_embd). The output matrix is the embedding.
//
// In GGUF files the gains of norms have their 1 added already.
#include <cmath>

#include "arch/config.h"
#include "arch/decoder.h"
#include "arch/registry.h"
#include "base/error.h"

namespace tr::arch {

namespace {

struct Layer {
    Array<float> attention_norm, attention_post_norm, ffn_norm, ffn_post_norm; // [n_embd]
    Projections attention; // with norms of heads
    FeedForward ffn;
};

class Gemma3 final : public Decoder {
public:
    Gemma3(const gguf::File &file, const LoadOptions &options) : Decoder(options) {
        const gguf::Metadata &metadata = file.contents.metadata();
        shape = read_shape(file.contents, "gemma3");
        refuse_experts(metadata, "gemma3");
        read_attention(metadata);

        Loader loader(file, options, shape.head_dim);
        load_ends(loader);
        layers_.resize(static_cast<size_t>(shape.n_layer));
        for (size_t i = 0; i < layers_.size(); i++) {
            Layer &l = layers_[i];
            const std::string b = "blk." + std::to_string(i) + ".";
            loader.vector(l.attention_norm, b + "attn_norm.weight", shape.n_embd);
            load_projections(loader, b, kHeadNorms, Rows::kAsStored, l.attention);
            loader.vector(l.attention_post_norm, b + "post_attention_norm.weight", shape.n_embd);
            loader.vector(l.ffn_norm, b + "ffn_norm.weight", shape.n_embd);
            load_feed_forward(loader, b, l.ffn);
            loader.vector(l.ffn_post_norm, b + "post_ffw_norm.weight", shape.n_embd);
        }
        finish(loader);
    }

    void forward(cpu::Worker &w, Workspace &ws, const Columns &c) const override {
        float *x = ws.x.data();
        embed(w, ws, c, std::sqrt(static_cast<float>(shape.n_embd)));
        for (int32_t i = 0; i < shape.n_layer; i++) {
            const Layer &l = layers_[static_cast<size_t>(i)];
            const cpu::Activations &h = norm(w, ws.normed, x, c.n, l.attention_norm, nullptr, l.attention.input_forms());
            if (!attend(w, ws, c, i, l.attention, h, (i + 1) % pattern_ == 0 ? global_ : local_)) return;
            branch_attended(w, ws, c.n, l.attention);
            add_branch(w, ws, c.n, l.attention_post_norm);

            const cpu::Activations &g = norm(w, ws.normed, x, c.n, l.ffn_norm, nullptr, l.ffn.input_forms());
            branch_feed_forward(w, ws, c.n, l.ffn, cpu::Gate::kGelu, g);
            add_branch(w, ws, c.n, l.ffn_post_norm);
        }
    }

private:
    void read_attention(const gguf::Metadata &m) {
        // The report's pattern, local layers first; files state it only if it is another one.
        pattern_ = static_cast<int32_t>(m.find_integer("gemma3.attention.sliding_window_pattern", 1, INT32_MAX).value_or(6));
        rotaries = {read_rotary(m, "gemma3", shape.head_dim),
                    plain_rotary(shape.head_dim, m.find_number("gemma3.rope.freq_base_swa", 1, 1e12).value_or(10000))};
        global_ = attend_all();
        // The 27B model, of 62 layers, is the one whose scores are not divided by sqrt(head_dim).
        if (shape.n_layer == 62) {
            global_.shape.scale = 1 / std::sqrt(static_cast<float>(shape.n_embd) / static_cast<float>(shape.n_head));
        }
        local_ = global_;
        local_.rotary = 1;
        local_.shape.window = static_cast<int32_t>(m.integer("gemma3.attention.sliding_window", 1, INT32_MAX));
    }

    // x += norm(ws.branch). Joins.
    void add_branch(cpu::Worker &w, Workspace &ws, int64_t n, const Array<float> &gain) const {
        ops_.add_norm(w, ws.branch.data(), n, shape.n_embd, gain.data(), shape.norm_eps, ws.x.data());
        w.join();
    }

    int32_t pattern_ = 0;          // of this many layers the last one is global
    Attending global_{}, local_{};
    std::vector<Layer> layers_;
};

} // namespace

std::unique_ptr<Model> load_gemma3(const gguf::File &file, const LoadOptions &options) { return std::make_unique<Gemma3>(file, options); }

} // namespace tr::arch
