// Sampling on rows worked out by hand, and against an oracle that sorts everything and works in double.
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "sample/answer.h"
#include "sample/philox.h"
#include "sample/select.h"
#include "support/check.h"
#include "support/engine.h"

using namespace tr;
using namespace tr::test;

namespace {

const cpu::Ops *ops = nullptr; // of the instruction set under test

tr_sampling sampling(float temperature) {
    tr_sampling s{};
    s.size = sizeof s;
    s.temperature = temperature;
    return s;
}

// Natural logs, so that softmax gives the numbers back as shares.
std::vector<float> logs(const std::vector<double> &shares) {
    std::vector<float> x;
    for (const double s : shares) x.push_back(static_cast<float>(std::log(s)));
    return x;
}

std::vector<uint32_t> mask_of(int32_t n, const std::vector<int32_t> &ids) {
    std::vector<uint32_t> words(static_cast<size_t>(sample::Mask::words_for(n)));
    for (const int32_t id : ids) words[static_cast<size_t>(id / 32)] |= 1u << (id % 32);
    return words;
}

int32_t draw(const std::vector<float> &logits, const tr_sampling &s, double u, const uint32_t *mask = nullptr) {
    const auto n = static_cast<int32_t>(logits.size());
    sample::Scratch scratch(n);
    return sample::draw(*ops, logits.data(), {n, mask}, s, u, scratch);
}

// The ids that can be drawn and how often, from many evenly spaced u.
std::vector<double> shares(const std::vector<float> &logits, const tr_sampling &s, const uint32_t *mask = nullptr) {
    constexpr int kDraws = 20000;
    std::vector<double> share(logits.size());
    const auto n = static_cast<int32_t>(logits.size());
    sample::Scratch scratch(n);
    for (int i = 0; i < kDraws; i++) {
        const int32_t id = sample::draw(*ops, logits.data(), {n, mask}, s, (i + 0.5) / kDraws, scratch);
        share[static_cast<size_t>(id)] += 1.0 / kDraws;
    }
    return share;
}

void check_shares(const std::vector<double> &expected, const std::vector<double> &actual) {
    CHECK_EQUAL(expected.size(), actual.size());
    for (size_t i = 0; i < expected.size(); i++) CHECK_NEAR(expected[i], actual[i], 1e-4);
}

// Known answers of philox4x32 with ten rounds, from the authors' library Random123 (file kat_vectors).
void test_philox() {
    struct Known {
        std::array<uint32_t, 4> counter;
        std::array<uint32_t, 2> key;
        std::array<uint32_t, 4> answer;
    };
    const Known known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (const Known &k : known) CHECK(sample::philox4x32_10(k.counter, k.key) == k.answer);
    // 0x6627e8d5e169c58d >> 11 over 2^53.
    CHECK_EQUAL(static_cast<double>(0x6627e8d5e169c58dull >> 11) / 9007199254740992.0, sample::uniform(0, 0, 0, 0));
    // Every argument matters.
    const double u = sample::uniform(1, 2, 3, 4);
    CHECK(u != sample::uniform(2, 2, 3, 4) && u != sample::uniform(1, 3, 3, 4) && u != sample::uniform(1, 2, 4, 4) && u != sample::uniform(1, 2, 3, 5));
    CHECK(u != sample::uniform(1 + (uint64_t{1} << 32), 2, 3, 4));
}

void test_select() {
    const std::vector<float> x = {1, 5, 5, 2, 5, -1};
    const sample::Mask all{6, nullptr};
    CHECK_EQUAL(1, sample::argmax(x.data(), all)); // the first of equals
    const auto words = mask_of(6, {0, 3, 5});
    CHECK_EQUAL(3, sample::argmax(x.data(), {6, words.data()}));
    CHECK_EQUAL(0, sample::argmax(x.data(), {1, nullptr}));
    int32_t ids[6];
    float values[6];
    CHECK_EQUAL(4, sample::select_top(x.data(), all, 4, ids, values));
    CHECK(ids[0] == 1 && ids[1] == 2 && ids[2] == 4 && ids[3] == 3 && values[3] == 2);
    CHECK_EQUAL(3, sample::select_top(x.data(), {6, words.data()}, 4, ids, values));
    CHECK(ids[0] == 3 && ids[1] == 0 && ids[2] == 5);
    CHECK_EQUAL(0, sample::select_top(x.data(), all, 0, ids, values));
    const std::vector<float> nan = {NAN, NAN};
    CHECK_EQUAL(-1, sample::argmax(nan.data(), {2, nullptr}));
}

void test_adjust() {
    std::vector<float> x = {2, -2, 1, 0.5f, 3};
    const std::vector<float> before = x;
    const int32_t bias_ids[] = {4, 0}, seen_ids[] = {0, 1, 2}, counts[] = {1, 3, 2};
    const float bias[] = {-10, 2};
    tr_sampling s = sampling(0);
    s.bias_ids = bias_ids;
    s.bias = bias;
    s.n_bias = 2;
    sample::Scratch scratch(5);
    sample::adjust(x.data(), s, scratch);
    CHECK(x == (std::vector<float>{4, -2, 1, 0.5f, -7}));
    sample::restore(x.data(), s, scratch);
    CHECK(x == before);

    s.seen_ids = seen_ids;
    s.seen_counts = counts;
    s.n_seen = 3;
    sample::adjust(x.data(), s, scratch); // no penalty is set: only the bias
    CHECK(x == (std::vector<float>{4, -2, 1, 0.5f, -7}));
    sample::restore(x.data(), s, scratch);
    s.repetition_penalty = 2;
    s.presence_penalty = 0.5f;
    s.frequency_penalty = 0.25f;
    sample::adjust(x.data(), s, scratch);
    // 0: (2+2)/2 - (0.5+0.25); 1: -2*2 - (0.5+0.75); 2: 1/2 - (0.5+0.5)
    CHECK(x == (std::vector<float>{1.25f, -5.25f, -0.5f, 0.5f, -7}));
    sample::restore(x.data(), s, scratch);
    CHECK(x == before);
}

void test_temperature() {
    const auto x = logs({0.1, 0.2, 0.3, 0.4});
    CHECK_EQUAL(3, draw(x, sampling(0), 0));
    CHECK_EQUAL(3, draw(x, sampling(1e-6f), 0.0)); // counts as 0
    check_shares({0.1, 0.2, 0.3, 0.4}, shares(x, sampling(1)));
    // At 0.5 the shares are squared: 1, 4, 9, 16 of 30.
    check_shares({1 / 30.0, 4 / 30.0, 9 / 30.0, 16 / 30.0}, shares(x, sampling(0.5f)));
    // Ascending ids: u below 0.1 is id 0, up to 0.3 id 1 and so on.
    CHECK_EQUAL(0, draw(x, sampling(1), 0.0999));
    CHECK_EQUAL(1, draw(x, sampling(1), 0.1001));
    CHECK_EQUAL(2, draw(x, sampling(1), 0.5999));
    CHECK_EQUAL(3, draw(x, sampling(1), 0x1.fffffffffffffp-1)); // the largest u there is
}

void test_top_k() {
    const auto x = logs({0.1, 0.4, 0.3, 0.2});
    tr_sampling s = sampling(1);
    s.top_k = 2;
    check_shares({0, 4 / 7.0, 3 / 7.0, 0}, shares(x, s));
    s.top_k = 1;
    check_shares({0, 1, 0, 0}, shares(x, s));
    s.top_k = 100; // more than there are: off
    check_shares({0.1, 0.4, 0.3, 0.2}, shares(x, s));
    s.top_k = 2;
    check_shares({0.5, 0.5, 0, 0}, shares({1, 1, 1, 1}, s)); // the lower ids among equals
    const auto words = mask_of(4, {0, 3});
    check_shares({1 / 3.0, 0, 0, 2 / 3.0}, shares(x, s, words.data()));
}

void test_top_p() {
    const auto x = logs({0.1, 0.4, 0.3, 0.2});
    tr_sampling s = sampling(1);
    s.top_p = 0.65f; // 0.4 + 0.3 reach it
    check_shares({0, 4 / 7.0, 3 / 7.0, 0}, shares(x, s));
    s.top_p = 0.75f; // needs 0.2 as well
    check_shares({0, 4 / 9.0, 3 / 9.0, 2 / 9.0}, shares(x, s));
    s.top_p = 1e-6f; // always at least one
    check_shares({0, 1, 0, 0}, shares(x, s));
    s.top_p = 1;
    check_shares({0.1, 0.4, 0.3, 0.2}, shares(x, s));
    // After top-k: of 4/9, 3/9, 2/9 the first two reach 0.75, of the whole they would not.
    s.top_k = 3;
    s.top_p = 0.75f;
    check_shares({0, 4 / 7.0, 3 / 7.0, 0}, shares(x, s));
    // Over the ids in play only: of 0.1, 0.2 the second has two thirds.
    s.top_k = 0;
    s.top_p = 0.6f;
    const auto words = mask_of(4, {0, 3});
    check_shares({0, 0, 0, 1}, shares(x, s, words.data()));
}

void test_min_p() {
    const auto x = logs({0.1, 0.4, 0.3, 0.2});
    tr_sampling s = sampling(1);
    s.min_p = 0.6f; // of 0.4: at least 0.24
    check_shares({0, 4 / 7.0, 3 / 7.0, 0}, shares(x, s));
    s.min_p = 1;
    check_shares({0, 1, 0, 0}, shares(x, s));
    check_shares({0.5, 0.5}, shares({2, 2}, s)); // equals all stay
    s.min_p = 0.4f; // at least 0.16; top-p then takes 0.4 and 0.3
    s.top_p = 0.65f;
    check_shares({0, 4 / 7.0, 3 / 7.0, 0}, shares(x, s));
}

// Twenty thousand tokens of one seed follow the distribution, and streams, choices and seeds do not follow each other.
void test_chi_square() {
    const std::vector<double> p = {0.02, 0.3, 0.08, 0.25, 0.05, 0.1, 0.15, 0.05};
    const auto x = logs(p);
    constexpr int kDraws = 20000;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        std::vector<int> counts(p.size());
        int equal = 0;
        for (int i = 0; i < kDraws; i++) {
            const auto position = static_cast<uint32_t>(i);
            const int32_t id = draw(x, sampling(1), sample::uniform(seed, 0, position, 0));
            counts[static_cast<size_t>(id)]++;
            equal += id == draw(x, sampling(1), sample::uniform(seed, 0, position, 1));
        }
        double statistic = 0;
        for (size_t i = 0; i < p.size(); i++) statistic += std::pow(counts[i] - p[i] * kDraws, 2) / (p[i] * kDraws);
        CHECK(statistic < 24.32); // chi-square, 7 degrees of freedom, 0.1% upper tail
        // Two independent draws agree with probability sum p^2 = 0.2008, give or take 0.0028.
        CHECK_NEAR(0.2008, static_cast<double>(equal) / kDraws, 0.014);
    }
}

// ---- a vocabulary of real size against the oracle

// Where the draw should fall, and how far u is from the edges of that id.
struct Expected {
    int32_t id;
    double margin;
};

Expected oracle(const std::vector<float> &x, const std::vector<int32_t> &in_play, const tr_sampling &s, double u) {
    std::vector<int32_t> order = in_play;
    std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return x[a] != x[b] ? x[a] > x[b] : a < b; });
    if (s.temperature == 0) return {order[0], 1};
    const auto weight = [&](int32_t id) { return std::exp((double{x[id]} - x[order[0]]) / s.temperature); };
    if (s.top_k > 0 && order.size() > static_cast<size_t>(s.top_k)) order.resize(static_cast<size_t>(s.top_k));
    double total = 0;
    for (const int32_t id : order) total += weight(id);
    double edge = 1;
    if (s.top_p > 0 && s.top_p < 1) {
        double sum = 0;
        size_t n = 0;
        while (n < order.size() && sum < s.top_p * total) sum += weight(order[n++]);
        edge = std::min(edge, std::min(sum - s.top_p * total, s.top_p * total - (sum - weight(order[n - 1]))) / total);
        order.resize(n);
    }
    if (s.min_p > 0) {
        for (const int32_t id : order) edge = std::min(edge, std::abs(weight(id) - s.min_p));
        std::erase_if(order, [&](int32_t id) { return weight(id) < s.min_p; });
    }
    std::sort(order.begin(), order.end());
    total = 0;
    for (const int32_t id : order) total += weight(id);
    double sum = 0;
    for (const int32_t id : order) {
        sum += weight(id);
        if (sum > u * total) return {id, std::min(edge, std::min(sum - u * total, u * total - (sum - weight(id))) / total)};
    }
    return {order.back(), 0};
}

void test_oracle() {
    constexpr int32_t kVocab = 151936;
    std::mt19937 random(3);
    std::uniform_real_distribution<double> uniform(0, 1);
    int compared = 0;
    for (int i = 0; i < 24; i++) {
        const double spread = i % 3 == 0 ? 0.3 : i % 3 == 1 ? 2.5 : 4; // nearly flat, like a model, peaked
        std::normal_distribution<float> normal(0, static_cast<float>(spread));
        std::vector<float> x(kVocab);
        for (float &v : x) v = normal(random);
        if (i % 4 == 1) for (float &v : x) v = std::round(v * 2) / 2; // many ties
        std::vector<int32_t> in_play;
        const bool masked = i % 5 == 4;
        for (int32_t id = 0; id < kVocab; id++) if (!masked || random() % 8 == 0) in_play.push_back(id);
        const auto words = mask_of(kVocab, in_play);

        tr_sampling s = sampling(static_cast<float>(0.3 + 1.2 * uniform(random)));
        if (i % 2) s.top_p = static_cast<float>(0.5 + 0.49 * uniform(random));
        if (i % 6 == 2) s.top_k = 20;
        if (i % 6 == 5) s.top_k = 5000; // beyond the short lists
        if (i % 7 == 3) s.min_p = 0.05f;
        const double u = uniform(random);
        const Expected expected = oracle(x, in_play, s, u);
        // An id of one part in a million is within float32 weights' reach of its neighbour: no answer is wrong there.
        if (expected.margin < 1e-6) continue;
        compared++;
        CHECK_EQUAL(expected.id, draw(x, s, u, masked ? words.data() : nullptr));
    }
    CHECK(compared > 15);
}

void test_answer() {
    std::vector<float> x = logs({0.1, 0.2, 0.3, 0.4});
    const std::vector<float> raw = x;
    sample::Scratch scratch(4);
    int32_t ids[TR_MAX_TOP];
    float values[TR_MAX_TOP];
    tr_row row{};
    row.size = sizeof row;
    row.n_top = 3;
    sample::answer(*ops, x.data(), 4, 9, row, {ids, values}, scratch);
    CHECK_EQUAL(-1, row.token); // not wanted
    CHECK_NEAR(0, row.logsumexp, 1e-6);
    // -(0.1 ln 0.1 + 0.2 ln 0.2 + 0.3 ln 0.3 + 0.4 ln 0.4)
    CHECK_NEAR(1.2798542258, row.entropy, 1e-6);
    CHECK(row.top_ids[0] == 3 && row.top_ids[1] == 2 && row.top_ids[2] == 1 && row.top_logits[0] == x[3]);

    // Only ids 0 and 1 in play: ln 0.3, and the entropy of (1/3, 2/3).
    row.n_valid = 2;
    tr_sampling s = sampling(0);
    const int32_t bias_id = 0;
    const float bias = 5;
    s.bias_ids = &bias_id;
    s.bias = &bias;
    s.n_bias = 1;
    row.want = TR_WANT_TOKEN;
    row.sampling = &s;
    sample::answer(*ops, x.data(), 4, 9, row, {ids, values}, scratch);
    CHECK_NEAR(std::log(0.3), row.logsumexp, 1e-6);
    CHECK_NEAR(0.6365141683, row.entropy, 1e-6);
    CHECK(row.top_ids[0] == 1 && row.top_ids[1] == 0 && row.top_ids[2] == -1 && std::isinf(row.top_logits[2]));
    CHECK_EQUAL(0, row.token); // the bias decides, but is not in the log-probability
    CHECK_NEAR(std::log(1 / 3.0), row.logprob, 1e-6);
    CHECK(std::memcmp(raw.data(), x.data(), sizeof(float) * 4) == 0);

    // `valid` and `allowed` both count; the signals know only the first.
    const auto valid = mask_of(4, {1, 2, 3}), allowed = mask_of(4, {0, 1, 2});
    row.n_valid = 0;
    row.valid = valid.data();
    s.n_bias = 0;
    s.allowed = allowed.data();
    sample::answer(*ops, x.data(), 4, 9, row, {ids, values}, scratch);
    CHECK_NEAR(std::log(0.9), row.logsumexp, 1e-6);
    CHECK_EQUAL(2, row.token);
    CHECK_NEAR(std::log(0.3 / 0.9), row.logprob, 1e-6);

    // Nothing left to draw; then nothing in play at all.
    const auto none = mask_of(4, {}), zero = mask_of(4, {0});
    s.allowed = zero.data();
    sample::answer(*ops, x.data(), 4, 9, row, {ids, values}, scratch);
    CHECK_EQUAL(-1, row.token);
    row.valid = none.data();
    sample::answer(*ops, x.data(), 4, 9, row, {ids, values}, scratch);
    CHECK(row.token == -1 && std::isinf(row.logsumexp) && row.entropy == 0 && row.top_ids[0] == -1);

    // The position is part of the random number.
    row.valid = nullptr;
    s = sampling(1);
    s.seed = 5;
    for (int32_t position : {1, 2, 77}) {
        sample::answer(*ops, x.data(), 4, position, row, {ids, values}, scratch);
        CHECK_EQUAL(draw(x, s, sample::uniform(5, 0, static_cast<uint32_t>(position), 0)), row.token);
    }

    std::vector<float> broken(4, NAN);
    x[1] = INFINITY;
    for (float *logits : {broken.data(), x.data()}) { // no token, and signals that say why
        sample::answer(*ops, logits, 4, 9, row, {ids, values}, scratch);
        CHECK_EQUAL(-1, row.token);
        CHECK(std::isnan(row.logsumexp) && std::isnan(row.entropy));
    }
}

// min-p and top-p measure against a largest weight of 1.
void test_exp_of_zero() {
    for (const float inverse : {1.0f, 1.25f, 1e5f}) {
        std::vector<float> x(37, 3.25f), y(37);
        ops->exp_shifted(x.data(), 37, 3.25f, inverse, y.data());
        for (const float v : y) CHECK_EQUAL(1.0f, v);
    }
    const std::vector<float> far(20, -1e6f);
    std::vector<float> y(20);
    ops->exp_shifted(far.data(), 20, 1e6f, 1e5f, y.data());
    for (const float v : y) CHECK_EQUAL(0.0f, v);
}

} // namespace

int main() {
    test_philox();
    test_select();
    test_adjust();
    for (const std::string &isa : usable_isas()) {
        ops = cpu::ops_by_name(isa.c_str());
        test_temperature();
        test_top_k();
        test_top_p();
        test_min_p();
        test_chi_square();
        test_answer();
        test_exp_of_zero();
        test_oracle();
    }
    return report();
}
