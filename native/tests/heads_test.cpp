// Router heads: their scores against the same networks in double precision, in any batch, and what is refused.
#include <cmath>
#include <functional>

#include "heads/head.h"
#include "support/check.h"
#include "support/engine.h"
#include "support/tiny_model.h"

using namespace tr::test;

namespace {

struct HeadFreer { void operator()(tr_head *h) const { tr_head_free(h); } };
using HeadPtr = std::unique_ptr<tr_head, HeadFreer>;

constexpr uint32_t kF32 = 0;

// Weights of a head by tensor name, for the file and for the check.
class Network {
public:
    explicit Network(const char *kind) {
        file.string("general.architecture", "router-head");
        file.string("general.name", "tiny head");
        file.string("router-head.kind", kind);
        file.f32("router-head.threshold", 0.75f);
    }
    void tensor(const std::string &name, std::vector<uint64_t> dims, float deviation) {
        uint64_t n = 1;
        for (uint64_t d : dims) n *= d;
        std::vector<float> values(n);
        for (float &v : values) v = deviation * uniform();
        Bytes bytes;
        for (float v : values) put(bytes, v);
        file.tensors.push_back({name, dims, kF32, bytes});
        tensors_.emplace_back(name, std::move(values));
    }
    void dense(const std::string &name, uint64_t inputs, uint64_t outputs) {
        tensor(name + ".weight", {inputs, outputs}, 2 / std::sqrt(static_cast<float>(inputs)));
        tensor(name + ".bias", {outputs}, 0.5f);
    }
    const std::vector<float> &operator[](const std::string &name) const {
        for (const auto &[n, values] : tensors_)
            if (n == name) return values;
        throw std::runtime_error("no tensor " + name);
    }
    std::vector<double> apply(const std::string &name, const std::vector<double> &x) const {
        const auto &weight = (*this)[name + ".weight"], &bias = (*this)[name + ".bias"];
        std::vector<double> y(bias.begin(), bias.end());
        for (size_t r = 0; r < y.size(); r++)
            for (size_t c = 0; c < x.size(); c++) y[r] += static_cast<double>(weight[r * x.size() + c]) * x[c];
        return y;
    }
    std::vector<double> norm(const std::string &name, const std::vector<double> &x) const {
        const auto &gain = (*this)[name + ".weight"], &bias = (*this)[name + ".bias"];
        double mean = 0, variance = 0;
        for (double v : x) mean += v / static_cast<double>(x.size());
        for (double v : x) variance += (v - mean) * (v - mean) / static_cast<double>(x.size());
        std::vector<double> y(x.size());
        for (size_t i = 0; i < x.size(); i++) y[i] = (x[i] - mean) / std::sqrt(variance + 1e-5) * gain[i] + bias[i];
        return y;
    }

    GgufWriter file;

private:
    float uniform() { // in -1..1, the same on every machine
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<float>(static_cast<int32_t>(state_ >> 40) - (1 << 23)) * 0x1p-23f;
    }
    uint64_t state_ = 1;
    std::vector<std::pair<std::string, std::vector<float>>> tensors_;
};

constexpr uint64_t kEmbd = 256, kTop = 20, kWidth = 48, kInner = 100; // of TinyModel; sizes that are no multiple of a tile

Network linear() {
    Network n("linear");
    n.tensor("out.weight", {kEmbd}, 0.1f);
    return n;
}
Network mlp() {
    Network n("mlp");
    n.dense("hidden", kEmbd, kInner);
    n.tensor("out.weight", {kInner}, 0.3f);
    n.tensor("out.bias", {1}, 0.3f);
    return n;
}
Network residual() {
    Network n("residual");
    n.dense("logits", kTop, kEmbd);
    n.dense("combine", 3 * kEmbd, kWidth);
    n.dense("input", kWidth, kWidth);
    for (const char *b : {"block.0.", "block.1."}) {
        n.tensor(std::string(b) + "norm.weight", {kWidth}, 1);
        n.tensor(std::string(b) + "norm.bias", {kWidth}, 0.2f);
        n.dense(std::string(b) + "up", kWidth, kInner);
        n.dense(std::string(b) + "down", kInner, kWidth);
    }
    n.tensor("norm.weight", {kWidth}, 1);
    n.tensor("norm.bias", {kWidth}, 0.2f);
    n.tensor("out.weight", {kWidth}, 0.3f);
    n.tensor("out.bias", {1}, 0.3f);
    return n;
}

std::vector<double> doubles(const std::vector<float> &x, size_t n) { return {x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n)}; }

double product(const std::vector<float> &w, const std::vector<double> &x) {
    double sum = 0;
    for (size_t i = 0; i < x.size(); i++) sum += static_cast<double>(w[i]) * x[i];
    return sum;
}

// The score in double precision. `embedding` is the model's table.
double expected(const Network &n, const Answer &a, const std::vector<float> &embedding, const std::string &kind) {
    const std::vector<double> hidden = doubles(a.hidden, kEmbd);
    if (kind == "linear") return product(n["out.weight"], hidden);
    if (kind == "mlp") {
        std::vector<double> y = n.apply("hidden", hidden);
        for (double &v : y) v = v > 0 ? v : 0;
        return product(n["out.weight"], y) + static_cast<double>(n["out.bias"][0]);
    }
    std::vector<double> x = hidden;
    for (uint64_t i = 0; i < kEmbd; i++) x.push_back(embedding[static_cast<uint64_t>(a.token) * kEmbd + i]);
    for (double v : n.apply("logits", doubles(a.top_logits, kTop))) x.push_back(v);
    x = n.apply("input", n.apply("combine", x));
    for (const char *b : {"block.0.", "block.1."}) {
        std::vector<double> inner = n.apply(std::string(b) + "up", n.norm(std::string(b) + "norm", x));
        for (double &v : inner) v = 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)));
        const std::vector<double> add = n.apply(std::string(b) + "down", inner);
        for (size_t i = 0; i < x.size(); i++) x[i] += add[i];
    }
    return product(n["out.weight"], n.norm("norm", x)) + static_cast<double>(n["out.bias"][0]);
}

HeadPtr load(const Engine &e, const GgufWriter &file) {
    const TemporaryFile on_disk(file.bytes());
    char err[512] = "";
    tr_head *head = nullptr;
    if (tr_head_load(e.model.get(), on_disk.path(), &head, err, sizeof err) != TR_OK) throw std::runtime_error(err);
    return HeadPtr(head);
}

std::string refusal(const Engine &e, const GgufWriter &file) {
    try {
        load(e, file);
    } catch (const std::runtime_error &x) {
        return x.what();
    }
    return "no error";
}

std::vector<float> embedding_of(const GgufWriter &model) {
    for (const TensorRecord &t : model.tensors)
        if (t.name == "token_embd.weight") {
            std::vector<float> values(t.data.size() / sizeof(float));
            std::memcpy(values.data(), t.data.data(), t.data.size());
            return values;
        }
    throw std::runtime_error("no embedding");
}

tr_sampling greedy() {
    tr_sampling s{};
    s.size = sizeof s;
    return s;
}

void test_scores(const std::string &kind, const Network &network) {
    const TinyModel tiny;
    const std::vector<float> embedding = embedding_of(tiny.writer());
    const tr_sampling sampling = greedy();
    std::vector<float> first;
    for (const std::string &isa : usable_isas()) {
        const Engine e(tiny.bytes(), {.isa = isa.c_str()});
        const HeadPtr head = load(e, network.file);
        tr_head_info info{};
        info.size = sizeof info;
        char err[256];
        CHECK_EQUAL(TR_OK, tr_head_describe(head.get(), &info, err, sizeof err));
        CHECK_EQUAL(kind, std::string(info.kind));
        CHECK_EQUAL("tiny head", std::string(info.name));
        CHECK_EQUAL(0.75f, info.threshold);
        CHECK_EQUAL(kind == "residual" ? int32_t{kTop} : 0, info.n_top);
        CHECK_EQUAL(kind == "residual", info.needs_token != 0);

        // 100 rows: more than are scored at once.
        const auto tokens = random_tokens(100, e.info.n_vocab, 7);
        const auto answers = step(e, {{0, tokens, upto(4), upto(100)}}, &sampling, kTop, head.get());
        std::vector<float> scores;
        for (const Answer &a : answers) {
            const double want = expected(network, a, embedding, kind);
            CHECK_NEAR(want, a.head_logit, 1e-4 * (1 + std::fabs(want)));
            scores.push_back(a.head_logit);
        }
        for (size_t i = 1; i < scores.size(); i++) CHECK(scores[i] != scores[i - 1]);
        if (first.empty()) first = scores;
        CHECK(first == scores); // every instruction set gives the same bits

        // One at a time, beside rows of another head and of none.
        const HeadPtr other = load(e, linear().file);
        for (int32_t i = 0; i < 100; i += 9) {
            const Extend extend{0, {tokens.begin(), tokens.begin() + i + 1}, {10, 11, 12, 13}, {i}};
            CHECK_EQUAL(scores[static_cast<size_t>(i)], step(e, {extend}, &sampling, kTop, head.get())[0].head_logit);
            const Extend beside{0, {1, 2, 3}, {20}, {2}}, last{0, {4}, {21}, {0}};
            const auto mixed = step(e, {beside, extend, last}, &sampling, kTop, nullptr, {other.get(), head.get(), nullptr});
            CHECK_EQUAL(scores[static_cast<size_t>(i)], mixed[1].head_logit);
            CHECK_EQUAL(0.0f, mixed[2].head_logit);
        }
    }
}

void test_refused() {
    const Engine e(TinyModel{}.bytes());
    GgufWriter file = mlp().file;
    file.tensors.pop_back();
    CHECK_CONTAINS(refusal(e, file), "tensor \"out.bias\" is missing");
    file = linear().file;
    file.tensors[0].dims = {128};
    file.tensors[0].data.resize(512);
    CHECK_CONTAINS(refusal(e, file), "hidden states of 128 values, the model's have 256");
    file = linear().file;
    file.tensors.push_back({"more", {4}, kF32, Bytes(16)});
    CHECK_CONTAINS(refusal(e, file), "tensor \"more\" is not part of");
    CHECK_CONTAINS(refusal(e, Network("forest").file), "router-head.kind is \"forest\", which is not supported; this build runs: linear, mlp, residual");
    CHECK_CONTAINS(refusal(e, TinyModel{}.writer()), "not a router head");

    const tr_sampling sampling = greedy();
    const auto failure = [&](const Engine &on, const tr_sampling *s, int32_t n_top, tr_head *head) -> std::string {
        try {
            step(on, {{0, {1}, {0}, {0}}}, s, n_top, head);
        } catch (const std::runtime_error &x) {
            return x.what();
        }
        return "no error";
    };
    const HeadPtr head = load(e, residual().file);
    CHECK_CONTAINS(failure(e, &sampling, 5, head.get()), "row 0: n_top is 5; its head looks at the 20 largest logits");
    CHECK_CONTAINS(failure(e, nullptr, 20, head.get()), "its head looks at the drawn token, but none is wanted");
    const Engine other(TinyModel{}.bytes());
    CHECK_CONTAINS(failure(other, &sampling, 20, head.get()), "loaded for another model");
    tr_head_free(nullptr);
}

} // namespace

int main() {
    test_scores("linear", linear());
    test_scores("mlp", mlp());
    test_scores("residual", residual());
    test_refused();
    return report();
}
