// R2R's router (Fu et al., "R2R: Efficiently Navigating Divergent Reasoning Paths with Small-Large Model Token Routing", section 3.3):
// the last hidden state, the embedding of the drawn token and a projection of the largest logits, combined and passed through
// residual blocks x + down(gelu(up(norm x))).
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "heads/dense.h"
#include "heads/head.h"

namespace tr::heads {

namespace {

constexpr double kEps = 1e-5; // of the layer norms

struct LayerNorm {
    Array<float> gain, bias;

    void load(arch::Loader &loader, const std::string &name, int64_t n) {
        loader.vector(gain, name + ".weight", n);
        loader.vector(bias, name + ".bias", n);
    }
    // y := (x - mean) / sqrt(variance + eps) * gain + bias
    void run(const float *x, float *y) const {
        const auto n = static_cast<int64_t>(gain.size());
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < n; i++) sum += static_cast<double>(x[i]);
        const double mean = sum / static_cast<double>(n);
        for (int64_t i = 0; i < n; i++) squares += (static_cast<double>(x[i]) - mean) * (static_cast<double>(x[i]) - mean);
        const double scale = 1 / std::sqrt(squares / static_cast<double>(n) + kEps);
        for (int64_t i = 0; i < n; i++)
            y[i] = static_cast<float>((static_cast<double>(x[i]) - mean) * scale * static_cast<double>(gain.data()[i]) + static_cast<double>(bias.data()[i]));
    }
};

float gelu(float x) { return 0.5f * x * (1 + std::erf(x * 0.70710678f)); }

struct Block {
    LayerNorm norm;
    Dense up, down; // width -> inner -> width
};

class Residual final : public Head {
public:
    explicit Residual(const Source &s) : ops_(s.options.backend.ops), model_(s.model) {
        const Size logits = size_of(s.file, "logits.weight"), combine = size_of(s.file, "combine.weight");
        n_top = static_cast<int32_t>(logits.inputs);
        n_embd = static_cast<int32_t>(logits.outputs);
        needs_token = true;
        width_ = combine.outputs;
        if (n_top > TR_MAX_TOP) fail(TR_ERR_UNSUPPORTED, "the head looks at %d logits; a row has at most %d", n_top, TR_MAX_TOP);

        arch::Loader loader(s.file, s.options, 0);
        logits_.load(loader, "logits", n_top, n_embd);
        combine_.load(loader, "combine", 3 * int64_t{n_embd}, width_);
        input_.load(loader, "input", width_, width_);
        for (int i = 0; loader.has("block." + std::to_string(i) + ".up.weight"); i++) blocks_.emplace_back();
        for (size_t i = 0; i < blocks_.size(); i++) { // the claims point into the blocks: they must not move any more
            const std::string b = "block." + std::to_string(i) + ".";
            const int64_t inner = size_of(s.file, b + "up.weight").outputs;
            blocks_[i].norm.load(loader, b + "norm", width_);
            blocks_[i].up.load(loader, b + "up", width_, inner);
            blocks_[i].down.load(loader, b + "down", inner, width_);
            inner_ = std::max(inner_, inner);
        }
        norm_.load(loader, "norm", width_);
        loader.vector(out_, "out.weight", width_);
        loader.vector(bias_, "out.bias", 1);
        loader.finish();
        n_params = loader.n_params();
        weight_bytes = loader.weight_bytes();
        reserve();
    }

    void score(cpu::Worker &w, const Row *rows, int32_t n) override {
        const int64_t e = n_embd;
        for (int64_t i; (i = w.next(n)) < n;) std::copy_n(rows[i].top_logits, n_top, top_.data() + i * n_top);
        w.join();
        logits_.run(ops_, w, top_.data(), n, projected_.data());
        w.join();
        for (int64_t i; (i = w.next(n)) < n;) {
            float *to = joined_.data() + i * 3 * e;
            std::copy_n(rows[i].hidden, e, to);
            if (rows[i].token >= 0) model_->embedding(rows[i].token, to + e);
            else std::fill_n(to + e, e, 0.0f); // nothing could be drawn: the score says nothing
            std::copy_n(projected_.data() + i * e, e, to + 2 * e);
        }
        w.join();
        combine_.run(ops_, w, joined_.data(), n, y_.data());
        w.join();
        input_.run(ops_, w, y_.data(), n, x_.data());
        w.join();
        for (Block &b : blocks_) run_block(w, b, n);
        for (int64_t i; (i = w.next(n)) < n;) {
            float *y = y_.data() + i * width_;
            norm_.run(x_.data() + i * width_, y);
            *rows[i].score = static_cast<float>(dot(out_.data(), y, width_) + static_cast<double>(bias_[0]));
        }
        w.join();
    }

private:
    // x_ += down(gelu(up(norm x_)))
    void run_block(cpu::Worker &w, Block &b, int32_t n) {
        for (int64_t i; (i = w.next(n)) < n;) b.norm.run(x_.data() + i * width_, y_.data() + i * width_);
        w.join();
        b.up.run(ops_, w, y_.data(), n, z_.data());
        w.join();
        constexpr int64_t kPiece = 512; // a row is shared among the workers
        const int64_t count = n * b.up.outputs(), pieces = (count + kPiece - 1) / kPiece;
        for (int64_t i; (i = w.next(pieces)) < pieces;)
            for (int64_t j = i * kPiece; j < std::min(count, (i + 1) * kPiece); j++) z_.data()[j] = gelu(z_.data()[j]);
        w.join();
        b.down.run(ops_, w, z_.data(), n, y_.data());
        w.join();
        for (int64_t i; (i = w.next(n)) < n;)
            for (int64_t j = i * width_; j < (i + 1) * width_; j++) x_.data()[j] += y_.data()[j];
        w.join();
    }

    void reserve() {
        for (Dense *d : {&logits_, &combine_, &input_}) d->reserve();
        for (Block &b : blocks_) {
            b.up.reserve();
            b.down.reserve();
        }
        const auto rows = [](int64_t n) { return static_cast<size_t>(kMaxRows * n); };
        top_ = Array<float>(rows(n_top), "the logits of a head");
        projected_ = Array<float>(rows(n_embd), "the logits of a head");
        joined_ = Array<float>(rows(3 * int64_t{n_embd}), "the inputs of a head");
        x_ = Array<float>(rows(width_), "the values of a head");
        y_ = Array<float>(rows(width_), "the values of a head");
        z_ = Array<float>(rows(std::max<int64_t>(inner_, 1)), "the inner values of a head");
    }

    const cpu::Ops &ops_;
    std::shared_ptr<const arch::Model> model_; // whose embedding is looked up
    int64_t width_ = 0, inner_ = 0;
    Dense logits_;             // n_top -> n_embd
    Dense combine_;            // [hidden, embedding, projected logits] -> width
    Dense input_;              // width -> width
    std::vector<Block> blocks_;
    LayerNorm norm_;
    Array<float> out_, bias_;  // [width], [1]
    Array<float> top_, projected_, joined_, x_, y_, z_; // [kMaxRows] of each
};

} // namespace

std::unique_ptr<Head> load_residual(const Source &source) { return std::make_unique<Residual>(source); }

} // namespace tr::heads
