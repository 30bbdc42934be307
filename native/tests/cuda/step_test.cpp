// Whole steps through the C ABI: every architecture, on the GPU (or its emulation) and on the processor, must give the same bits: hidden states,
// logits, signals, tokens. With matrices of half or brain floats, whose sums are in another order, the same tokens, and close values.
#include <algorithm>
#include <cmath>

#include "cuda/fixtures.h"
#include "support/engine.h"
#include "support/tiny_model.h"

namespace tr::test {

namespace {

bool same_answers(const std::vector<Answer> &a, const std::vector<Answer> &b) { return a == b; }

tr_sampling sampling() {
    tr_sampling s{};
    s.size = sizeof s;
    s.temperature = 0.8f;
    s.seed = 5;
    return s;
}

// A ragged batch over several sequences, then decodes, in the way a scheduler asks.
std::vector<std::vector<Answer>> run(const Engine &engine, int32_t prompt) {
    const tr_sampling drawn = sampling();
    std::vector<std::vector<Answer>> answers;
    const int32_t n_vocab = engine.info.n_vocab, page_count = (prompt + 8) / TR_PAGE_TOKENS + 1;
    const auto pages = [&](int32_t sequence) {
        std::vector<int32_t> p(static_cast<size_t>(page_count));
        for (int32_t i = 0; i < page_count; i++) p[static_cast<size_t>(i)] = page_count * (i % 2 ? 2 - sequence : sequence) + i;
        return p;
    };
    const auto tokens = [&](int32_t n, uint32_t seed) { return random_tokens(n, n_vocab, seed); };
    answers.push_back(step(engine, {{0, tokens(prompt, 1), pages(0), {0, prompt - 1}}, {0, tokens(3, 2), pages(1), {2}}}, nullptr));
    answers.push_back(step(engine, {{prompt, tokens(2, 3), pages(0), {1}}, {3, tokens(1, 4), pages(1), {0}}, {0, tokens(5, 5), pages(2), {}}}, &drawn));
    answers.push_back(step(engine, {{prompt + 2, {answers.back()[0].token}, pages(0), {0}}, {4, {answers.back()[1].token}, pages(1), {0}}}, &drawn));
    return answers;
}

// Values within 2^-10 of the largest of their kind. The order of sums makes 2^-20; but keys and values are kept as half floats, and
// one that lies between two of these may be rounded to the other.
bool close(const std::vector<float> &a, const std::vector<float> &b) {
    float largest = 0, off = 0;
    for (size_t i = 0; i < a.size(); i++) {
        largest = std::max(largest, std::fabs(a[i]));
        off = std::max(off, std::fabs(a[i] - b[i]));
    }
    return a.size() == b.size() && off <= 0x1p-10f * largest;
}

bool close_answers(const std::vector<Answer> &a, const std::vector<Answer> &b) {
    return std::ranges::equal(a, b, [](const Answer &x, const Answer &y) {
        return x.token == y.token && x.top_ids == y.top_ids && close(x.top_logits, y.top_logits) && close(x.hidden, y.hidden) && close(x.logits, y.logits) &&
               close({x.logprob, x.logsumexp, x.entropy}, {y.logprob, y.logsumexp, y.entropy});
    });
}

enum class Expected { kSameBits, kClose };

template <class File> void compare(const File &file, const std::string &name, int32_t prompt, int32_t kv_type = TR_KV_F16, uint32_t flags = 0,
                                   Expected what = Expected::kSameBits) {
    EngineOptions options;
    options.n_threads = 1;
    options.kv_type = kv_type;
    options.flags = flags;
    options.max_rows = 8;
    const Engine cpu(file, options);
    options.kind = "cuda";
    const Engine gpu(file, options);
    const auto expected = run(cpu, prompt), got = run(gpu, prompt);
    const auto same = what == Expected::kSameBits ? same_answers : close_answers;
    for (size_t i = 0; i < expected.size(); i++) CHECK_CASE(same(expected[i], got[i]), name + ", step " + std::to_string(i));
}

void test_architectures(const std::string &directory) {
    for (const char *name : {"gemma3-tiny", "llama-tiny-linear", "llama-tiny-llama3", "qwen2-tiny-tied", "qwen2-tiny-untied", "qwen3-tiny-tied", "qwen3-tiny-yarn",
                             "qwen3moe-tiny"}) {
        const std::string path = directory + "/" + name + ".gguf";
        // A page's border is crossed with a window and without; that is no matter of the architecture, and takes long.
        const bool crosses = !every_access_checked() && (std::string(name) == "gemma3-tiny" || std::string(name) == "qwen2-tiny-tied");
        compare(path.c_str(), name, crosses ? 31 : 4, TR_KV_F16, TR_MODEL_EXACT_FLOAT);
        compare(path.c_str(), name, 4, TR_KV_F16, 0, Expected::kClose); // most of them have matrices of half floats
    }
}

void test_types() {
    TinyModel model;
    model.n_vocab = 100;
    model.n_layer = 1;
    model.n_ff = 256;
    model.type = mixed_types;
    compare(model.bytes(), "half floats among other types", 7, TR_KV_F16, 0, Expected::kClose);
    compare(model.bytes(), "exact floats", 2, TR_KV_F16, TR_MODEL_EXACT_FLOAT);
    model.type = [](const std::string &name) {
        const quant::Type type = mixed_types(name);
        return type == quant::Type::F16 ? quant::Type::Q8_0 : type;
    };
    compare(model.bytes(), "mixed types", 7);
    compare(model.bytes(), "a cache in Q8_0", 3, TR_KV_Q8_0);
    model.type = [](const std::string &) { return quant::Type::BF16; };
    compare(model.bytes(), "brain floats", 3, TR_KV_F16, 0, Expected::kClose);
}

void test_copy_page() {
    TinyModel model;
    model.n_vocab = 40;
    model.n_layer = 2;
    EngineOptions options;
    options.n_threads = 1;
    options.kind = "cuda";
    const Engine gpu(model.bytes(), options);
    const auto prompt = random_tokens(9, 40, 3), next = random_tokens(1, 40, 4);
    step(gpu, {{0, prompt, {0}, {}}});
    const auto before = step(gpu, {{9, next, {0}, {0}}});
    char err[256] = "";
    CHECK_EQUAL(TR_OK, tr_arena_copy_page(gpu.arena.get(), 0, 5, err, sizeof err));
    CHECK(same_answers(before, step(gpu, {{9, next, {5}, {0}}})));
}

void test_errors() {
    char err[256] = "";
    tr_device_params params{};
    params.size = sizeof params;
    tr_device *device = nullptr;
    params.kind = "cuda:99";
    CHECK_EQUAL(TR_ERR_DEVICE, tr_device_open(&params, &device, err, sizeof err));
    CHECK_CONTAINS(err, "there is no GPU 99");
    params.kind = "cuda:x";
    CHECK_EQUAL(TR_ERR_ARGUMENT, tr_device_open(&params, &device, err, sizeof err));
    params.kind = "tpu";
    CHECK_EQUAL(TR_ERR_UNSUPPORTED, tr_device_open(&params, &device, err, sizeof err));
    CHECK_CONTAINS(err, "it has \"cpu\", \"cuda\"");
    // More KV pages than the device has memory for.
    TinyModel model;
    EngineOptions options;
    options.n_threads = 1;
    options.kind = "cuda";
    options.n_pages = 60 << 20;
    try {
        const Engine gpu(model.bytes(), options);
        failed(__FILE__, __LINE__, "an arena of 60 million pages was made");
    } catch (const std::exception &e) {
        CHECK_CONTAINS(std::string(e.what()), "for the keys of the KV cache");
    }
    const size_t in_use = device_bytes_in_use();
    { const Engine gpu(model.bytes(), EngineOptions{nullptr, 1, 0, 64, 0, 512, TR_KV_F16, "cuda"}); }
    CHECK_EQUAL(in_use, device_bytes_in_use()); // all of it is given back
}

} // namespace

} // namespace tr::test

int main(int argc, char **argv) {
    using namespace tr::test;
    test_architectures(argc > 1 ? argv[1] : TR_TEST_DATA);
    test_types();
    test_copy_page();
    test_errors();
    in_every_mode([] {
        TinyModel model;
        model.n_vocab = 40;
        model.n_layer = 1;
        compare(model.bytes(), "every mode", 5);
    });
    return report();
}
