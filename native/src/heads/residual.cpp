// R2R's router (Fu et al., "R2R: Efficiently Navigating Divergent Reasoning Paths with Small-Large Model Token Routing", section 3.3):
// the last hidden state, the embedding of the drawn token and a projection of the largest logits, combined and passed through
// residual blocks x + down(gelu(up(norm x))).
#include <algorithm>

#include "base/error.h"
#include "heads/dense.h"
#include "heads/head.h"

namespace tr::heads {

namespace {

struct LayerNorm {
    Array<float> gain, bias;

    void load(arch::Loader &loader, const std::string &name, int64_t n) {
        loader.vector(gain, name + ".weight", n);
        loader.vector(bias, name + ".bias", n);
    }
    // y := the norm of n rows of x. Joins.
    void run(const Operators &operators, cpu::Worker &w, const float *x, int64_t n, float *y) const {
        operators.layer_norm(w, x, n, static_cast<int64_t>(gain.size()), gain.data(), bias.data(), y);
    }
};

struct Block {
    LayerNorm norm;
    Dense up, down; // width -> inner -> width
};

class Residual final : public Head {
public:
    explicit Residual(const Source &s) : Head(s), model_(s.model) {
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

    void score(cpu::Worker &w, const Inputs &in, int32_t n, float *scores) override {
        const cpu::Ops &ops = backend_.ops;
        const int64_t e = n_embd;
        operators_.take(w, in, n, n_top, top_.data(), ids_.data());
        model_->embeddings(w, ids_.data(), n, embeddings_.data());
        operators_.join(w, in, embeddings_.data(), n, e, joined_.data());
        logits_.run(ops, w, top_.data(), n, joined_.data() + 2 * e, 3 * e);
        combine_.run(ops, w, joined_.data(), n, y_.data(), width_);
        input_.run(ops, w, y_.data(), n, x_.data(), width_);
        for (Block &b : blocks_) { // x_ += down(gelu(up(norm x_)))
            b.norm.run(operators_, w, x_.data(), n, y_.data());
            b.up.run(ops, w, y_.data(), n, z_.data(), b.up.outputs());
            operators_.gelu(w, n * b.up.outputs(), z_.data());
            b.down.run(ops, w, z_.data(), n, y_.data(), width_);
            operators_.add(w, y_.data(), n * width_, x_.data());
        }
        norm_.run(operators_, w, x_.data(), n, y_.data());
        operators_.dot(w, y_.data(), n, width_, out_.data(), bias_.data(), scores);
    }

private:
    void reserve() {
        for (Dense *d : {&logits_, &combine_, &input_}) d->reserve(backend_);
        for (Block &b : blocks_) {
            b.up.reserve(backend_);
            b.down.reserve(backend_);
        }
        const auto rows = [this](int64_t n, const char *what) { return backend_.array<float>(static_cast<size_t>(kMaxRows * n), what); };
        ids_ = backend_.array<int32_t>(kMaxRows, "the tokens of a head");
        top_ = rows(n_top, "the logits of a head");
        embeddings_ = rows(n_embd, "the embeddings of a head");
        joined_ = rows(3 * int64_t{n_embd}, "the inputs of a head");
        x_ = rows(width_, "the values of a head");
        y_ = rows(width_, "the values of a head");
        z_ = rows(std::max<int64_t>(inner_, 1), "the inner values of a head");
    }

    std::shared_ptr<const arch::Model> model_; // whose embedding is looked up
    int64_t width_ = 0, inner_ = 0;
    Dense logits_;             // n_top -> n_embd
    Dense combine_;            // [hidden, embedding, projected logits] -> width
    Dense input_;              // width -> width
    std::vector<Block> blocks_;
    LayerNorm norm_;
    Array<float> out_, bias_;  // [width], [1]
    Array<int32_t> ids_;       // [kMaxRows]
    Array<float> top_, embeddings_, joined_, x_, y_, z_; // [kMaxRows] of each
};

} // namespace

std::unique_ptr<Head> load_residual(const Source &source) { return std::make_unique<Residual>(source); }

} // namespace tr::heads
