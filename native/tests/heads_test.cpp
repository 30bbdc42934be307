// Router heads: their scores against the same networks in double precision, in any batch, and what is refused.
#include <cmath>
#include <cstring>

#include "heads/math.h"
#include "support/check.h"
#include "support/tiny_head.h"
#include "support/tiny_model.h"

using namespace tr;
using namespace tr::test;

namespace {

constexpr uint64_t kEmbd = HeadSizes{}.n_embd, kTop = HeadSizes{}.top;

std::vector<double> apply(const Network &n, const std::string &name, const std::vector<double> &x) {
    const auto &weight = n[name + ".weight"], &bias = n[name + ".bias"];
    std::vector<double> y(bias.begin(), bias.end());
    for (size_t r = 0; r < y.size(); r++)
        for (size_t c = 0; c < x.size(); c++) y[r] += static_cast<double>(weight[r * x.size() + c]) * x[c];
    return y;
}

std::vector<double> norm(const Network &n, const std::string &name, const std::vector<double> &x) {
    const auto &gain = n[name + ".weight"], &bias = n[name + ".bias"];
    double mean = 0, variance = 0;
    for (double v : x) mean += v / static_cast<double>(x.size());
    for (double v : x) variance += (v - mean) * (v - mean) / static_cast<double>(x.size());
    std::vector<double> y(x.size());
    for (size_t i = 0; i < x.size(); i++) y[i] = (x[i] - mean) / std::sqrt(variance + 1e-5) * gain[i] + bias[i];
    return y;
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
        std::vector<double> y = apply(n, "hidden", hidden);
        for (double &v : y) v = v > 0 ? v : 0;
        return product(n["out.weight"], y) + static_cast<double>(n["out.bias"][0]);
    }
    std::vector<double> x = hidden;
    for (uint64_t i = 0; i < kEmbd; i++) x.push_back(embedding[static_cast<uint64_t>(a.token) * kEmbd + i]);
    for (double v : apply(n, "logits", doubles(a.top_logits, kTop))) x.push_back(v);
    x = apply(n, "input", apply(n, "combine", x));
    for (const char *b : {"block.0.", "block.1."}) {
        std::vector<double> inner = apply(n, std::string(b) + "up", norm(n, std::string(b) + "norm", x));
        for (double &v : inner) v = 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)));
        const std::vector<double> add = apply(n, std::string(b) + "down", inner);
        for (size_t i = 0; i < x.size(); i++) x[i] += add[i];
    }
    return product(n["out.weight"], norm(n, "norm", x)) + static_cast<double>(n["out.bias"][0]);
}

std::string refusal(const Engine &e, const GgufWriter &file) {
    try {
        load_head(e, file);
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
        const HeadPtr head = load_head(e, network.file);
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
        const HeadPtr other = load_head(e, linear_head().file);
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

void test_error_function() {
    for (double x = -6; x < 6; x += 1e-4) {
        const auto rounded = static_cast<float>(x);
        CHECK_NEAR(std::erf(static_cast<double>(rounded)), heads::error_function(rounded), 2e-7 * std::fabs(std::erf(static_cast<double>(rounded))));
    }
    for (const float x : {1.0f, 2.0f, 4.0f, std::nextafter(1.0f, 0.0f), std::nextafter(2.0f, 0.0f), std::nextafter(4.0f, 0.0f)}) // where polynomials meet
        CHECK_NEAR(std::erf(static_cast<double>(x)), heads::error_function(x), 2e-7);
    CHECK_EQUAL(1.0f, heads::error_function(INFINITY));
    CHECK_EQUAL(-1.0f, heads::error_function(-INFINITY));
    CHECK(std::isnan(heads::error_function(NAN)));
    CHECK_EQUAL(0.0f, heads::gelu(0));
    CHECK_NEAR(0.8413447460685429, heads::gelu(1), 1e-6); // the normal distribution's at 1
}

void test_refused() {
    const Engine e(TinyModel{}.bytes());
    GgufWriter file = mlp_head().file;
    file.tensors.pop_back();
    CHECK_CONTAINS(refusal(e, file), "tensor \"out.bias\" is missing");
    file = linear_head().file;
    file.tensors[0].dims = {128};
    file.tensors[0].data.resize(512);
    CHECK_CONTAINS(refusal(e, file), "hidden states of 128 values, the model's have 256");
    file = linear_head().file;
    file.tensors.push_back({"more", {4}, static_cast<uint32_t>(quant::Type::F32), Bytes(16)});
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
    const HeadPtr head = load_head(e, residual_head().file);
    CHECK_CONTAINS(failure(e, &sampling, 5, head.get()), "row 0: n_top is 5; its head looks at the 20 largest logits");
    CHECK_CONTAINS(failure(e, nullptr, 20, head.get()), "its head looks at the drawn token, but none is wanted");
    const Engine other(TinyModel{}.bytes());
    CHECK_CONTAINS(failure(other, &sampling, 20, head.get()), "loaded for another model");
    tr_head_free(nullptr);
}

} // namespace

int main() {
    test_error_function();
    test_scores("linear", linear_head());
    test_scores("mlp", mlp_head());
    test_scores("residual", residual_head());
    test_refused();
    return report();
}
