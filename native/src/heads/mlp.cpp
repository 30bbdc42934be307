// A perceptron with one hidden layer on the last hidden state: CITER's confidence model ("CITER: Collaborative Inference for Efficient
// Large Language Model Decoding with Token-Level Routing", section 3), its batch norm folded into the first layer and its last two
// layers into one.
#include "heads/dense.h"
#include "heads/head.h"

namespace tr::heads {

namespace {

class Mlp final : public Head {
public:
    explicit Mlp(const Source &s) : Head(s) {
        const Size size = size_of(s.file, "hidden.weight");
        n_embd = static_cast<int32_t>(size.inputs);
        arch::Loader loader(s.file, s.options, 0);
        hidden_.load(loader, "hidden", size.inputs, size.outputs);
        loader.vector(out_, "out.weight", size.outputs);
        loader.vector(bias_, "out.bias", 1);
        loader.finish();
        hidden_.reserve(backend_);
        y_ = backend_.array<float>(static_cast<size_t>(kMaxRows * size.outputs), "the hidden layer of a head");
        n_params = loader.n_params();
        weight_bytes = loader.weight_bytes();
    }

    void score(cpu::Worker &w, const Inputs &in, int32_t n, float *scores) override {
        const int64_t width = hidden_.outputs();
        hidden_.run(backend_.ops, w, in.hidden, n, y_.data(), width);
        operators_.relu(w, n * width, y_.data());
        operators_.dot(w, y_.data(), n, width, out_.data(), bias_.data(), scores);
    }

private:
    Dense hidden_;             // n_embd -> width, then the larger of the result and 0
    Array<float> out_, bias_;  // [width], [1]
    Array<float> y_;           // [kMaxRows][width]
};

} // namespace

std::unique_ptr<Head> load_mlp(const Source &source) { return std::make_unique<Mlp>(source); }

} // namespace tr::heads
