// What is found in rows of logits on the device, against the processor's own statistics and lists; and rows that are answered on the device, tokens
// drawn from them included, against the same rows of the processor.
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
    const OnDevice<sample::Wanted> wanted(std::vector<sample::Wanted>{{n_valid, n_top, nullptr}});
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

// A row's wishes; pointers are to what lives as long as the test.
struct Wish {
    std::string name;
    tr_sampling sampling;
    int32_t n_top = 0, n_valid = 0;
    const uint32_t *valid = nullptr;
};

constexpr int32_t kVocab = 2500;

std::vector<uint32_t> mask_of(const std::function<bool(int32_t)> &in_play) {
    std::vector<uint32_t> words((kVocab + 31) / 32, 0);
    for (int32_t id = 0; id < kVocab; id++) words[static_cast<size_t>(id / 32)] |= static_cast<uint32_t>(in_play(id)) << id % 32;
    return words;
}

std::vector<Wish> all_wishes(uint64_t seed) {
    static const std::vector<uint32_t> third = mask_of([](int32_t id) { return id % 3 == 0; }), low = mask_of([](int32_t id) { return id < 1500; }),
                                       none = mask_of([](int32_t) { return false; }), one = mask_of([](int32_t id) { return id == 1777; });
    static const std::vector<int32_t> biased = upto(600), seen = random_tokens(1, 100, 1), counts{3};
    static const std::vector<float> bias(600, 2.5f), forbid(600, -90);
    std::vector<Wish> wishes;
    const auto add = [&](const std::string &name) -> Wish & {
        tr_sampling s{};
        s.size = sizeof s;
        s.temperature = 1;
        s.seed = seed * 100 + wishes.size();
        s.stream = static_cast<uint32_t>(seed % 2);
        return wishes.emplace_back(Wish{name, s});
    };
    const auto add_bias = [](Wish &w, const std::vector<float> &by) {
        w.sampling.bias_ids = biased.data();
        w.sampling.bias = by.data();
        w.sampling.n_bias = static_cast<int32_t>(by.size());
    };
    add("greedy").sampling.temperature = 0;
    add("drawn").n_top = 4;
    add("hot").sampling.temperature = 5;
    add("cold").sampling.temperature = 0.2f;
    add("min-p").sampling.min_p = 0.05f;
    add("top-k").sampling.top_k = 40;
    add("top-k, all ids").sampling.top_k = kVocab;
    add("a long top-k").sampling.top_k = 300;
    add("top-p").sampling.top_p = 0.9f;
    Wish &both = add("a long top-k, then top-p and min-p");
    both.sampling.top_k = 700;
    both.sampling.top_p = 0.7f;
    both.sampling.min_p = 0.001f;
    both.sampling.temperature = 4;
    Wish &nearly = add("nearly all of it");
    nearly.sampling.top_p = 0.9999f;
    nearly.sampling.temperature = 3;
    add("all of it").sampling.top_p = std::nextafter(1.0f, 0.0f);
    Wish &short_list = add("top-k, top-p and min-p");
    short_list.sampling.top_k = 256;
    short_list.sampling.top_p = 0.8f;
    short_list.sampling.min_p = 0.01f;
    short_list.sampling.temperature = 1.5f;
    Wish &valid = add("a mask, and ids below");
    valid.valid = third.data();
    valid.n_valid = 2000;
    valid.n_top = 7;
    Wish &allowed = add("two masks");
    allowed.valid = third.data();
    allowed.sampling.allowed = low.data();
    add("nothing in play").valid = none.data();
    add("nothing allowed").sampling.allowed = none.data();
    Wish &single = add("one id");
    single.valid = one.data();
    single.n_top = 3;
    single.sampling.top_k = 5;
    Wish &changed = add("biases and penalties");
    add_bias(changed, bias);
    changed.sampling.seen_ids = seen.data();
    changed.sampling.seen_counts = counts.data();
    changed.sampling.n_seen = 1;
    changed.sampling.repetition_penalty = 1.3f;
    changed.sampling.presence_penalty = 0.5f;
    changed.sampling.frequency_penalty = -2;
    Wish &greedy = add("greedy after biases");
    add_bias(greedy, forbid);
    greedy.sampling.temperature = 0;
    greedy.sampling.allowed = third.data();
    return wishes;
}

// One step with a row for each wish, none of which wants its logits.
std::vector<Answer> run(const Engine &engine, int32_t position, const std::vector<Wish> &wishes) {
    const std::vector<int32_t> pages = upto(4), tokens = random_tokens(static_cast<int32_t>(wishes.size()), kVocab, static_cast<uint32_t>(position) + 1);
    tr_segment segment{sizeof segment, position, tokens.data(), pages.data(), static_cast<int32_t>(tokens.size()), 4};
    std::vector<tr_row> rows(wishes.size());
    for (size_t i = 0; i < rows.size(); i++) {
        rows[i].size = sizeof rows[i];
        rows[i].want = TR_WANT_TOKEN;
        rows[i].offset = static_cast<int32_t>(i);
        rows[i].n_top = wishes[i].n_top;
        rows[i].n_valid = wishes[i].n_valid;
        rows[i].valid = wishes[i].valid;
        rows[i].sampling = &wishes[i].sampling;
    }
    tr_batch batch{sizeof batch, 1, static_cast<int32_t>(rows.size()), 0, &segment, rows.data()};
    char err[256] = "";
    if (tr_step(engine.arena.get(), &batch, err, sizeof err) != TR_OK) throw std::runtime_error(err);
    std::vector<Answer> answers;
    for (const tr_row &r : rows) {
        Answer a{r.token, r.logprob, r.logsumexp, r.entropy, 0, {}, {}, {}, {}};
        if (r.n_top > 0) a.top_ids.assign(r.top_ids, r.top_ids + r.n_top);
        if (r.n_top > 0) a.top_logits.assign(r.top_logits, r.top_logits + r.n_top);
        answers.push_back(a);
    }
    return answers;
}

// By every wish, the processor's answers; by graphs, too, from the third step on.
void test_rows(int32_t steps) {
    const TinyModel model = narrow_model(kVocab);
    EngineOptions options;
    options.n_threads = 1;
    options.max_rows = 32;
    const Engine cpu(model.bytes(), options);
    options.kind = "cuda";
    const Engine gpu(model.bytes(), options);
    for (int32_t i = 0; i < steps; i++) {
        const std::vector<Wish> wishes = all_wishes(static_cast<uint64_t>(i));
        const auto position = i * static_cast<int32_t>(wishes.size());
        const auto expected = run(cpu, position, wishes), got = run(gpu, position, wishes);
        for (size_t w = 0; w < wishes.size(); w++) CHECK_CASE(expected[w] == got[w], wishes[w].name + ", step " + std::to_string(i));
        for (size_t w = 0; w < wishes.size(); w++) {
            if (wishes[w].name.starts_with("nothing")) CHECK_EQUAL(-1, got[w].token);
            if (wishes[w].name == "one id") CHECK_EQUAL(1777, got[w].token);
            if (wishes[w].name == "two masks") CHECK(got[w].token % 3 == 0 && got[w].token < 1500);
            if (wishes[w].name == "greedy after biases") CHECK(got[w].token % 3 == 0 && got[w].token >= 600);
        }
    }
}

} // namespace

} // namespace tr::test

int main() {
    using namespace tr::test;
    test_find();
    in_every_mode([] { test_rows(every_access_checked() ? 1 : 4); });
    return report();
}
