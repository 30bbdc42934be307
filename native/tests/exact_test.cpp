// Exactness: a row's answer is bit for bit the same however its sequence came to the engine.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "api/handles.h"
#include "support/check.h"
#include "support/engine.h"
#include "support/tiny_model.h"

using namespace tr::test;

namespace {

constexpr int32_t kLength = 100; // tokens: four pages, the last one in part

TinyModel mixed(bool tied, float massive = 250) {
    TinyModel m;
    m.tied = tied;
    m.type = mixed_types;
    m.massive = massive;
    return m;
}

bool same_bits(const std::vector<float> &a, const std::vector<float> &b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

bool same(const Answer &a, const Answer &b) {
    return a.token == b.token && a.logprob == b.logprob && a.logsumexp == b.logsumexp && a.entropy == b.entropy &&
           a.top_ids == b.top_ids && same_bits(a.top_logits, b.top_logits) && same_bits(a.hidden, b.hidden) && same_bits(a.logits, b.logits);
}

void check_same(const std::vector<Answer> &expected, const std::vector<Answer> &actual, const std::string &what) {
    CHECK_EQUAL(expected.size(), actual.size());
    for (size_t i = 0; i < std::min(expected.size(), actual.size()); i++) {
        if (!same(expected[i], actual[i])) {
            failed(__FILE__, __LINE__, what + ": the answer at position " + std::to_string(i) + " differs");
            return;
        }
    }
}

tr_sampling warm() {
    tr_sampling s{};
    s.size = sizeof s;
    s.temperature = 0.8f;
    s.top_p = 0.95f;
    s.seed = 42;
    return s;
}

std::vector<int32_t> slice(const std::vector<int32_t> &v, int32_t begin, int32_t end) { return {v.begin() + begin, v.begin() + end}; }

// The whole sequence in chunks of the lengths given, repeated; every position is a row.
std::vector<Answer> in_chunks(const Engine &e, const std::vector<int32_t> &tokens, const std::vector<int32_t> &pages, const std::vector<int32_t> &lengths) {
    const tr_sampling sampling = warm();
    std::vector<Answer> all;
    const auto n = static_cast<int32_t>(tokens.size());
    for (int32_t at = 0, i = 0; at < n; i++) {
        const int32_t length = std::min(lengths[static_cast<size_t>(i) % lengths.size()], n - at);
        const auto answers = step(e, {{at, slice(tokens, at, at + length), pages, upto(length)}}, &sampling);
        all.insert(all.end(), answers.begin(), answers.end());
        at += length;
    }
    return all;
}

void test_chunks_and_pages(bool tied) {
    const Engine e(mixed(tied).bytes());
    const auto tokens = random_tokens(kLength, e.info.n_vocab, 7);
    const auto expected = in_chunks(e, tokens, upto(4), {kLength});
    CHECK_EQUAL(static_cast<size_t>(kLength), expected.size());
    // The rows differ from each other, or equality would say nothing.
    for (size_t i = 1; i < expected.size(); i++) CHECK(!same_bits(expected[i].logits, expected[i - 1].logits));
    check_same(expected, in_chunks(e, tokens, upto(4), {1}), "token by token");
    check_same(expected, in_chunks(e, tokens, upto(4), {16}), "chunks of 16");
    check_same(expected, in_chunks(e, tokens, upto(4), {5, 1, 33, 2}), "chunks of 5, 1, 33, 2");
    check_same(expected, in_chunks(e, tokens, {63, 0, 17, 4}, {kLength}), "other pages");
    check_same(expected, in_chunks(e, tokens, {9, 8, 7, 6, 5}, {3, 40}), "other pages in chunks, with one to spare");
}

// Longer than the chunk and the block of rows that the engine works in.
void test_long() {
    const Engine e(mixed(false).bytes(), {.max_tokens = 700, .max_rows = 700});
    const auto tokens = random_tokens(600, e.info.n_vocab, 8);
    const auto expected = in_chunks(e, tokens, upto(19), {600});
    check_same(expected, in_chunks(e, tokens, upto(19), {64}), "600 tokens by 64");
    check_same(expected, in_chunks(e, tokens, upto(19), {299}), "600 tokens by 299");
}

// A decode, a prefill and two resumed suffixes together, each against its sequence alone.
void test_batch() {
    const Engine e(mixed(false).bytes());
    struct Sequence {
        std::vector<int32_t> tokens, pages;
        int32_t known; // tokens in the cache before the batch
    };
    std::vector<Sequence> sequences = {
        {random_tokens(41, 300, 1), {0, 1}, 40},
        {random_tokens(50, 300, 2), {2, 3}, 0},
        {random_tokens(64, 300, 3), {4, 5}, 33},
        {random_tokens(65, 300, 4), {8, 7, 6}, 64},
    };
    const tr_sampling sampling = warm();
    std::vector<Answer> alone;
    for (const Sequence &s : sequences) {
        const auto all = in_chunks(e, s.tokens, s.pages, {static_cast<int32_t>(s.tokens.size())});
        alone.insert(alone.end(), all.begin() + s.known, all.end());
    }
    const Engine other(mixed(false).bytes());
    std::vector<Extend> extends;
    for (const Sequence &s : sequences) {
        const auto n = static_cast<int32_t>(s.tokens.size());
        if (s.known > 0) step(other, {{0, slice(s.tokens, 0, s.known), s.pages, {}}});
        extends.push_back({s.known, slice(s.tokens, s.known, n), s.pages, upto(n - s.known)});
    }
    check_same(alone, step(other, extends, &sampling), "four sequences in one batch");
    std::reverse(extends.begin(), extends.end());
    auto reversed = step(other, extends, &sampling); // the same tokens at the same positions once more
    std::vector<Answer> sorted;
    for (size_t i = extends.size(), end = reversed.size(); i-- > 0;) {
        const size_t n = extends[i].tokens.size();
        sorted.insert(sorted.end(), reversed.begin() + static_cast<ptrdiff_t>(end - n), reversed.begin() + static_cast<ptrdiff_t>(end));
        end -= n;
    }
    check_same(alone, sorted, "the batch in reverse");
}

// Batches of every size up to past the widest kernel: all rows of equal sequences are equal, and equal to one alone.
void test_batch_sizes() {
    const Engine e(mixed(false).bytes());
    const auto tokens = random_tokens(33, 300, 5);
    const tr_sampling sampling = warm();
    const auto expected = step(e, {{0, tokens, {60, 61}, {32}}}, &sampling);
    for (int32_t n = 1; n <= 20; n++) {
        std::vector<Extend> context, decode;
        for (int32_t i = 0; i < n; i++) {
            context.push_back({0, slice(tokens, 0, 32), {2 * i, 2 * i + 1}, {}});
            decode.push_back({32, {tokens[32]}, {2 * i, 2 * i + 1}, {0}});
        }
        for (const Extend &c : context) step(e, {c});
        const auto answers = step(e, decode, &sampling);
        for (const Answer &a : answers) check_same(expected, {a}, "a batch of " + std::to_string(n));
    }
}

void test_instruction_sets(const TinyModel &model, const char *what) {
    const auto tokens = random_tokens(kLength, 300, 9);
    std::vector<Answer> expected;
    for (const std::string &isa : usable_isas()) {
        const Engine e(model.bytes(), {.isa = isa.c_str()});
        tr_device_info info{};
        info.size = sizeof info;
        CHECK_EQUAL(TR_OK, tr_device_describe(e.device.get(), &info, nullptr, 0));
        CHECK_EQUAL(isa, std::string(info.isa));
        const auto answers = in_chunks(e, tokens, upto(4), {64, 1, 12});
        if (expected.empty()) expected = answers;
        check_same(expected, answers, std::string(what) + " on " + isa);
    }
}

void test_threads() {
    const auto tokens = random_tokens(kLength, 300, 9);
    std::vector<Answer> expected;
    for (const int32_t n : {1, 2, 3, 5}) {
        const Engine e(mixed(false).bytes(), {.n_threads = n});
        const auto answers = in_chunks(e, tokens, upto(4), {64, 1, 12});
        if (expected.empty()) expected = answers;
        check_same(expected, answers, std::to_string(n) + " threads");
    }
}

// A fork in the middle of a page: full pages shared, the last one copied, then both go on differently.
void test_fork() {
    const Engine e(mixed(false).bytes());
    auto first = random_tokens(60, 300, 10), second = first;
    for (size_t i = 45; i < 60; i++) second[i] = (second[i] + 1) % 300;
    const auto expected_first = in_chunks(e, first, {10, 11}, {60}), expected_second = in_chunks(e, second, {12, 13}, {60});

    step(e, {{0, slice(first, 0, 45), {0, 1}, {}}});
    char err[256] = "";
    CHECK_EQUAL(TR_OK, tr_arena_copy_page(e.arena.get(), 1, 2, err, sizeof err));
    const tr_sampling sampling = warm();
    const auto both = step(e, {{45, slice(first, 45, 60), {0, 1}, upto(15)}, {45, slice(second, 45, 60), {0, 2}, upto(15)}}, &sampling);
    check_same({expected_first.begin() + 45, expected_first.end()}, {both.begin(), both.begin() + 15}, "the fork's first");
    check_same({expected_second.begin() + 45, expected_second.end()}, {both.begin() + 15, both.end()}, "the fork's second");
}

// What stood in a page before, beyond a sequence's end or from another sequence, changes nothing.
void test_used_pages() {
    const Engine fresh(mixed(false).bytes()), used(mixed(false).bytes());
    for (int32_t p = 0; p < 64; p += 4) step(used, {{0, random_tokens(128, 300, static_cast<uint32_t>(p)), {p, p + 1, p + 2, p + 3}, {}}});
    const auto tokens = random_tokens(kLength, 300, 11);
    check_same(in_chunks(fresh, tokens, upto(4), {7}), in_chunks(used, tokens, upto(4), {7}), "pages used before");
}

// A KV cache in Q8_0: exact in any chunking, on every instruction set, after a fork; and close to F16.
void test_kv_q8_0() {
    const auto tokens = random_tokens(kLength, 300, 12);
    const Bytes model = mixed(false, 1).bytes();
    const auto f16 = in_chunks(Engine(model), tokens, upto(4), {kLength});
    std::vector<Answer> expected;
    for (const std::string &isa : usable_isas()) {
        const Engine e(model, {.isa = isa.c_str(), .kv_type = TR_KV_Q8_0});
        const auto whole = in_chunks(e, tokens, upto(4), {kLength});
        if (expected.empty()) expected = whole;
        check_same(expected, whole, "Q8_0 on " + isa);
        check_same(expected, in_chunks(e, tokens, {9, 8, 7, 6}, {5, 1, 33, 2}), "Q8_0 in chunks on " + isa);
        char err[256] = "";
        CHECK_EQUAL(TR_OK, tr_arena_copy_page(e.arena.get(), 7, 30, err, sizeof err)); // positions 64 to 95
        const tr_sampling sampling = warm();
        const auto fork = step(e, {{80, slice(tokens, 80, kLength), {9, 8, 30, 31}, upto(kLength - 80)}}, &sampling);
        check_same({expected.begin() + 80, expected.end()}, fork, "Q8_0 after a fork on " + isa);
    }
    double difference = 0, power = 0;
    for (size_t i = 0; i < f16.size(); i++)
        for (size_t j = 0; j < f16[i].logits.size(); j++) {
            const double d = f16[i].logits[j] - expected[i].logits[j];
            difference += d * d;
            power += f16[i].logits[j] * f16[i].logits[j];
        }
    // Keys and values are off by half a percent of their size (1/127 of the largest over the square root of 12), once per layer.
    CHECK(difference > 0);
    CHECK_NEAR(0, std::sqrt(difference / power), 0.03);
}

// Not even if it is not a number: what a sequence left there whose activations had run away.
void test_poisoned_pages() {
    const auto tokens = random_tokens(kLength, 300, 11);
    for (const std::string &isa : usable_isas()) {
        const Engine fresh(mixed(false).bytes(), {.isa = isa.c_str()}), poisoned(mixed(false).bytes(), {.isa = isa.c_str()});
        const tr::arch::Workspace &ws = *poisoned.arena->workspace;
        constexpr uint8_t kNaN = 0x7e; // of every byte: half floats that are not numbers
        std::fill_n(ws.keys.data(), ws.keys.size(), kNaN);
        std::fill_n(ws.values.data(), ws.values.size(), kNaN);
        check_same(in_chunks(fresh, tokens, upto(4), {7, 1}), in_chunks(poisoned, tokens, upto(4), {7, 1}), "poisoned pages on " + isa);
    }
}

// Every architecture: whole, in chunks, token by token beside others in one batch, on every instruction set. 300 tokens cross
// a segment of attention and, with gemma3, many windows.
void test_architectures() {
    for (const char *name : {"gemma3-tiny", "llama-tiny-llama3", "llama-tiny-linear", "qwen3-tiny-tied", "qwen3-tiny-yarn", "qwen3moe-tiny"}) {
        const std::string path = std::string(TR_TEST_DATA) + "/" + name + ".gguf";
        std::vector<Answer> expected;
        for (const std::string &isa : usable_isas()) {
            const Engine e(path.c_str(), {.isa = isa.c_str()});
            const std::string what = std::string(name) + " on " + isa;
            const auto tokens = random_tokens(300, e.info.n_vocab, 3), other = random_tokens(40, e.info.n_vocab, 4);
            const auto whole = in_chunks(e, tokens, upto(10), {300});
            if (expected.empty()) expected = whole;
            check_same(expected, whole, what);
            check_same(expected, in_chunks(e, tokens, upto(10), {5, 1, 33, 2}), what + " in chunks");

            const tr_sampling sampling = warm();
            std::vector<Answer> beside;
            const std::vector<int32_t> pages = {20, 30, 21, 31, 22, 32, 23, 33, 24, 34};
            for (int32_t at = 0; at < 300; at++) {
                std::vector<Extend> extends;
                const auto extend = [&](const std::vector<int32_t> &from, const std::vector<int32_t> &in) {
                    const int32_t position = at % static_cast<int32_t>(from.size());
                    extends.push_back({position, slice(from, position, position + 1), in, {0}});
                };
                for (int32_t i = 0; i < at % 3; i++) extend(other, {40 + 2 * i, 41 + 2 * i}); // columns before it
                extend(tokens, pages);
                beside.push_back(step(e, extends, &sampling).back());
            }
            check_same(expected, beside, what + " beside others");
        }
    }
}

} // namespace

int main() {
    test_chunks_and_pages(false);
    test_chunks_and_pages(true);
    test_long();
    test_batch();
    test_batch_sizes();
    test_instruction_sets(mixed(false), "mixed types");
    test_instruction_sets(mixed(true), "mixed types, tied");
    test_instruction_sets(TinyModel{}, "float32");
    test_threads();
    test_fork();
    test_used_pages();
    test_poisoned_pages();
    test_kv_q8_0();
    test_architectures();
    return report();
}
