// A perceptron with one hidden layer on the last hidden state: CITER's confidence model ("CITER: Collaborative Inference for Efficient
// Large Language Model Decoding with Token-Level Routing", section 3), its batch norm folded into the first layer and its last two
// layers into one.
#include <algorithm>

#include "heads/dense.h"
#include "heads/head.h"

namespace tr::heads {

namespace {

class Mlp final : public Head {
public:
    explicit Mlp(const Source &s) : ops_(s.options.backend.ops) {
        const Size size = size_of(s.file, "hidden.weight");
        n_embd = static_cast<int32_t>(size.inputs);
        arch::Loader loader(s.file, s.options, 0);
        hidden_.load(loader, "hidden", size.inputs, size.outputs);
        loader.vector(out_, "out.weight", size.outputs);
        loader.vector(bias_, "out.bias", 1);
        loader.finish();
        hidden_.reserve();
        x_ = Array<float>(static_cast<size_t>(kMaxRows * size.inputs), "the inputs of a head");
        y_ = Array<float>(static_cast<size_t>(kMaxRows * size.outputs), "the hidden layer of a head");
        n_params = loader.n_params();
        weight_bytes = loader.weight_bytes();
    }

    void score(cpu::Worker &w, const Row *rows, int32_t n) override {
        for (int64_t i; (i = w.next(n)) < n;) std::copy_n(rows[i].hidden, n_embd, x_.data() + i * n_embd);
        w.join();
        hidden_.run(ops_, w, x_.data(), n, y_.data());
        w.join();
        const int64_t width = hidden_.outputs();
        for (int64_t i; (i = w.next(n)) < n;) {
            float *y = y_.data() + i * width;
            for (int64_t j = 0; j < width; j++) y[j] = y[j] > 0 ? y[j] : 0;
            *rows[i].score = static_cast<float>(dot(out_.data(), y, width) + static_cast<double>(bias_[0]));
        }
        w.join();
    }

private:
    const cpu::Ops &ops_;
    Dense hidden_;             // n_embd -> width, then the larger of the result and 0
    Array<float> out_, bias_;  // [width], [1]
    Array<float> x_, y_;       // [kMaxRows][n_embd], [kMaxRows][width]
};

} // namespace

std::unique_ptr<Head> load_mlp(const Source &source) { return std::make_unique<Mlp>(source); }

} // namespace tr::heads
