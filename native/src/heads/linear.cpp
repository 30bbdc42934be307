// A row on the last hidden state: Co-LLM's deferral token (Shen et al., "Learning to Decode Collaboratively with Multiple Language
// Models", section 3), whose logit is that of one more row of the output matrix.
#include "heads/dense.h"
#include "heads/head.h"

namespace tr::heads {

namespace {

class Linear final : public Head {
public:
    explicit Linear(const Source &s) {
        n_embd = static_cast<int32_t>(size_of(s.file, "out.weight").inputs);
        arch::Loader loader(s.file, s.options, 0);
        loader.vector(weight_, "out.weight", n_embd);
        if (loader.has("out.bias")) loader.vector(bias_, "out.bias", 1);
        loader.finish();
        n_params = loader.n_params();
        weight_bytes = loader.weight_bytes();
    }

    void score(cpu::Worker &w, const Row *rows, int32_t n) override {
        const double bias = bias_.size() ? static_cast<double>(bias_[0]) : 0;
        for (int64_t i; (i = w.next(n)) < n;) *rows[i].score = static_cast<float>(dot(weight_.data(), rows[i].hidden, n_embd) + bias);
        w.join();
    }

private:
    Array<float> weight_, bias_; // [n_embd], [1] or empty
};

} // namespace

std::unique_ptr<Head> load_linear(const Source &source) { return std::make_unique<Linear>(source); }

} // namespace tr::heads
