// A row on the last hidden state: Co-LLM's deferral token (Shen et al., "Learning to Decode Collaboratively with Multiple Language
// Models", section 3), whose logit is that of one more row of the output matrix.
#include "heads/dense.h"
#include "heads/head.h"

namespace tr::heads {

namespace {

class Linear final : public Head {
public:
    explicit Linear(const Source &s) : Head(s) {
        n_embd = static_cast<int32_t>(size_of(s.file, "out.weight").inputs);
        arch::Loader loader(s.file, s.options, 0);
        loader.vector(weight_, "out.weight", n_embd);
        if (loader.has("out.bias")) loader.vector(bias_, "out.bias", 1);
        loader.finish();
        n_params = loader.n_params();
        weight_bytes = loader.weight_bytes();
    }

    void score(cpu::Worker &w, const Inputs &in, int32_t n, float *scores) override {
        operators_.dot(w, in.hidden, n, n_embd, weight_.data(), bias_.size() ? bias_.data() : nullptr, scores);
    }

private:
    Array<float> weight_, bias_; // [n_embd], [1] or empty
};

} // namespace

std::unique_ptr<Head> load_linear(const Source &source) { return std::make_unique<Linear>(source); }

} // namespace tr::heads
