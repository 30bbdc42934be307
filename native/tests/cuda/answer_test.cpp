// What is found in rows of logits on the device, against the processor's own statistics and lists; and rows whose logits stay on the device
// against the same rows of the processor.
#include <cmath>
#include <limits>

#include "cuda/fixtures.h"
#include "cuda/kernels/answer.h"
#include "sample/select.h"
#include "support/engine.h"
#include "support/tiny_model.h"

namespace tr::test {

namespace {

void check_row(const std::vector<float> &x, int32_t n_valid, int32_t n_top, const std::string &what) {
    const cuda::Stream stream;
    const OnDevice<float> logits(x);
    const OnDevice<sample::Wanted> wanted(std::vector<sample::Wanted>{{n_valid, n_top}});
    const OnDevice<sample::Found> found(1);
    const OnDevice<int32_t> ids(TR_MAX_TOP);
    const OnDevice<float> tops(TR_MAX_TOP);
    cuda::find_in_rows({logits.get(), 1, static_cast<int64_t>(x.size()), wanted.get()}, found.get(), ids.get(), tops.get(), stream);
    const sample::Found got = found.values(stream)[0];

    float largest = 0;
    double sum = 0, dot = 0;
    reference().softmax_stats(x.data(), n_valid, nullptr, &largest, &sum, &dot);
    CHECK_CASE(got.largest == largest && got.sum == sum && (got.dot == dot || std::isnan(dot)), what);
    CHECK_CASE(got.first == sample::argmax(x.data(), {n_valid, nullptr}), what);
    std::vector<int32_t> top_ids(TR_MAX_TOP, -1);
    std::vector<float> top_logits(TR_MAX_TOP, -std::numeric_limits<float>::infinity());
    sample::select_top(x.data(), {n_valid, nullptr}, n_top, top_ids.data(), top_logits.data());
    const auto got_ids = ids.values(stream);
    const auto got_logits = tops.values(stream);
    for (size_t i = 0; i < static_cast<size_t>(n_top); i++) CHECK_CASE(got_ids[i] == top_ids[i] && got_logits[i] == top_logits[i], what + ", place " + std::to_string(i));
}

void test_find() {
    Random random(11);
    for (const size_t n : {1u, 15u, 16u, 17u, 500u, 2048u, 5000u}) {
        std::vector<float> x = normals(random, n);
        check_row(x, static_cast<int32_t>(n), static_cast<int32_t>(std::min<size_t>(n, 6)), "logits " + std::to_string(n));
        for (float &v : x) v = std::round(v); // many equals: the lower id comes first
        check_row(x, static_cast<int32_t>(n), 8, "equal logits " + std::to_string(n));
        check_row(x, static_cast<int32_t>((n + 1) / 2), 3, "masked " + std::to_string(n));
    }
    check_row(std::vector<float>(100, std::nanf("")), 100, 2, "no numbers");
    std::vector<float> x = normals(random, 100);
    x[7] = std::nanf("");
    x[8] = -std::numeric_limits<float>::infinity();
    x[9] = std::numeric_limits<float>::infinity();
    check_row(x, 100, 3, "odd logits");
}

// A step's rows without TR_WANT_LOGITS.
std::vector<tr_row> run(const Engine &engine, const std::vector<int32_t> &tokens, const std::vector<tr_sampling> &samplings) {
    const std::vector<int32_t> pages = upto(2);
    tr_segment segment{sizeof segment, 0, tokens.data(), pages.data(), static_cast<int32_t>(tokens.size()), 2};
    std::vector<tr_row> rows(samplings.size());
    for (size_t i = 0; i < rows.size(); i++) {
        rows[i].size = sizeof rows[i];
        rows[i].want = TR_WANT_TOKEN;
        rows[i].offset = static_cast<int32_t>(i);
        rows[i].n_top = static_cast<int32_t>(i);
        rows[i].n_valid = i % 2 ? 25 : 0;
        rows[i].sampling = &samplings[i];
    }
    tr_batch batch{sizeof batch, 1, static_cast<int32_t>(rows.size()), 0, &segment, rows.data()};
    char err[256] = "";
    if (tr_step(engine.arena.get(), &batch, err, sizeof err) != TR_OK) throw std::runtime_error(err);
    return rows;
}

void test_rows() {
    TinyModel model;
    model.n_vocab = 40;
    model.n_layer = 1;
    EngineOptions options;
    options.n_threads = 1;
    options.max_rows = 8;
    const Engine cpu(model.bytes(), options);
    options.kind = "cuda";
    const Engine gpu(model.bytes(), options);
    std::vector<tr_sampling> samplings(4);
    const int32_t id = 3;
    const float bias = 50;
    for (tr_sampling &s : samplings) s.size = sizeof s;
    samplings[2].temperature = 1; // drawn, by the processor
    samplings[3].bias_ids = &id;
    samplings[3].bias = &bias;
    samplings[3].n_bias = 1;
    const auto tokens = random_tokens(4, 40, 8);
    const auto expected = run(cpu, tokens, samplings), got = run(gpu, tokens, samplings);
    for (size_t i = 0; i < expected.size(); i++) {
        const tr_row &a = expected[i], &b = got[i];
        CHECK_EQUAL(a.token, b.token);
        CHECK(a.logprob == b.logprob && a.logsumexp == b.logsumexp && a.entropy == b.entropy);
        CHECK(std::equal(a.top_ids, a.top_ids + a.n_top, b.top_ids) && std::equal(a.top_logits, a.top_logits + a.n_top, b.top_logits));
    }
    CHECK_EQUAL(id, got[3].token);
}

} // namespace

} // namespace tr::test

int main() {
    using namespace tr::test;
    test_find();
    in_every_mode(test_rows);
    return report();
}
