// A real model file, named by the environment variable TR_TEST_MODEL: exactness on its own shapes and block formats, and
// answers that hold together. Without the variable there is nothing to test.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "support/check.h"
#include "support/engine.h"

using namespace tr::test;

namespace {

bool same_logits(const Answer &a, const Answer &b) {
    return std::memcmp(a.logits.data(), b.logits.data(), a.logits.size() * sizeof(float)) == 0;
}

// Signals against the row's own logits, in double.
void check_signals(const Answer &a) {
    double largest = -INFINITY, sum = 0, dot = 0;
    for (const float x : a.logits) largest = std::max<double>(largest, x);
    for (const float x : a.logits) {
        const double e = std::exp(x - largest);
        sum += e;
        dot += e * (x - largest);
    }
    CHECK_NEAR(largest + std::log(sum), a.logsumexp, 1e-4);
    CHECK_NEAR(std::log(sum) - dot / sum, a.entropy, 1e-4);
    CHECK_EQUAL(static_cast<float>(largest), a.logits[static_cast<size_t>(a.top_ids[0])]);
    CHECK_EQUAL(a.top_ids[0], a.token); // greedy
    CHECK_NEAR(a.logits[static_cast<size_t>(a.token)] - a.logsumexp, a.logprob, 1e-4);
}

} // namespace

int main() {
    const char *path = std::getenv("TR_TEST_MODEL");
    if (!path || !*path) {
        std::puts("TR_TEST_MODEL is not set: nothing to test");
        return 0;
    }
    constexpr int32_t kPrompt = 45;
    tr_sampling greedy{};
    greedy.size = sizeof greedy;
    std::vector<Answer> expected;
    for (const std::string &isa : usable_isas()) {
        if (isa == "reference") continue; // minutes on a real model; the tiny ones cover it
        const Engine e(path, {.isa = isa.c_str(), .max_rows = 64});
        const auto tokens = random_tokens(kPrompt, e.info.n_vocab, 1);
        const auto whole = step(e, {{0, tokens, {0, 1}, upto(kPrompt)}}, &greedy);
        for (const Answer &a : whole) check_signals(a);
        if (expected.empty()) expected = whole;
        for (size_t i = 0; i < whole.size(); i++) CHECK(same_logits(expected[i], whole[i]));
        // Prefill by 17, then token by token, beside a sequence that is decoded too.
        step(e, {{0, {tokens.begin(), tokens.begin() + 17}, {5, 6}, {}}, {0, {tokens.begin(), tokens.begin() + 20}, {7, 8}, {}}});
        for (int32_t i = 17; i < kPrompt; i++) {
            std::vector<Extend> batch = {{i, {tokens[static_cast<size_t>(i)]}, {5, 6}, {0}}};
            if (i < 25) batch.push_back({i + 3, {tokens[static_cast<size_t>(i + 3)]}, {7, 8}, {0}});
            const auto answers = step(e, batch, &greedy);
            CHECK(same_logits(expected[static_cast<size_t>(i)], answers[0]));
            if (i < 25) CHECK(same_logits(expected[static_cast<size_t>(i + 3)], answers[1]));
        }
    }
    return report();
}
