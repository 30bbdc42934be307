// Router heads on the device against those of the processor, bit for bit (half floats aside): their operators, and whole steps whose rows name heads of all kinds or
// none. With graphs and without, padded or not, and whatever is beside it, a row has the same score.
#include "cuda/heads.h"

#include <algorithm>

#include "api/handles.h"
#include "cuda/fixtures.h"
#include "cuda/memory.h"
#include "heads/head.h"
#include "heads/math.h"
#include "support/tiny_head.h"
#include "support/tiny_model.h"

namespace tr::test {

namespace {

// ---- operators

// Operators on a stream, as a step has them.
class OnStream {
public:
    OnStream() : running_(state_) {}
    cpu::Worker alone = cpu::Worker::alone();
    const cuda::Stream &stream() const { return state_.stream; }

private:
    cuda::StepState state_;
    const cuda::Running running_;
};

bool same(const std::vector<float> &a, const std::vector<float> &b) {
    const auto same_value = [](float x, float y) { return std::isnan(x) ? std::isnan(y) : same_bits(&x, &y, 1); };
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same_value);
}

// Values that nearly cancel, so that a sum in another order is another float.
std::vector<float> cancelling(Random &random, size_t n) {
    std::vector<float> x = normals(random, n);
    for (size_t i = 0; i < n; i += 3) x[i] *= 1e12f;
    for (size_t i = 0; i + 3 < n; i += 6) x[i + 3] = -x[i];
    return x;
}

void test_sums() {
    OnStream on;
    Random random(3);
    for (const int64_t k : {1, 2, 31, 32, 33, 63, 100, 257, 1000}) {
        for (const int64_t n : {1, 2, 33}) {
            if (every_access_checked() && n * k > 4000) continue;
            const auto rows = static_cast<size_t>(n), all = static_cast<size_t>(n * k), cols = static_cast<size_t>(k);
            const std::vector<float> x = cancelling(random, all), gain = normals(random, cols), bias = normals(random, cols);
            const std::vector<float> ones(cols, 1.0f); // the weights: rounding is that of the sum alone
            const OnDevice<float> xs(x), gains(gain), biases(bias), weights(ones), scores(rows), ys(all);
            const std::string what = std::to_string(n) + " rows of " + std::to_string(k);
            std::vector<float> expected(rows), y(all);
            for (const bool biased : {false, true}) {
                heads::kOperators.dot(on.alone, x.data(), n, k, ones.data(), biased ? bias.data() : nullptr, expected.data());
                cuda::kHeadOperators.dot(on.alone, xs.get(), n, k, weights.get(), biased ? biases.get() : nullptr, scores.get());
                CHECK_CASE(same(expected, scores.values(on.stream())), what);
            }
            heads::kOperators.layer_norm(on.alone, x.data(), n, k, gain.data(), bias.data(), y.data());
            cuda::kHeadOperators.layer_norm(on.alone, xs.get(), n, k, gains.get(), biases.get(), ys.get());
            CHECK_CASE(same(y, ys.values(on.stream())), "norm of " + what);
        }
    }
}

// Seeded fault: one lane from begin to end, or lanes added up in order. The data of test_sums() tells them from the right order.
void test_orders_differ() {
    OnStream on;
    Random random(4);
    constexpr int64_t kN = 257;
    const std::vector<float> x = cancelling(random, kN), ones(kN, 1.0f);
    float right = 0;
    heads::kOperators.dot(on.alone, x.data(), 1, kN, ones.data(), nullptr, &right);
    double in_order = 0, lanes[heads::kSumLanes] = {}, by_lanes = 0;
    for (int64_t i = 0; i < kN; i++) in_order += static_cast<double>(x[static_cast<size_t>(i)]);
    for (int64_t i = 0; i < kN; i++) lanes[i % heads::kSumLanes] += static_cast<double>(x[static_cast<size_t>(i)]);
    for (const double lane : lanes) by_lanes += lane;
    CHECK(right != static_cast<float>(in_order));
    CHECK(right != static_cast<float>(by_lanes));
}

void test_values() {
    OnStream on;
    Random random(5);
    for (const int64_t n : {1, 255, 256, 257, 1200}) {
        std::vector<float> x = normals(random, static_cast<size_t>(n));
        for (float &v : x) v *= 3;
        const float odd[] = {0.0f, -0.0f, 1, -1, INFINITY, -INFINITY, NAN, 1e-40f, 1.4142135f, 2.828427f, 5.656854f, -5.656854f, 3e38f};
        for (size_t i = 0; i < std::size(odd) && i < x.size(); i++) x[i] = odd[i];
        const std::vector<float> y = normals(random, x.size());
        const OnDevice<float> ys(y);
        const auto check = [&](const char *what, auto &&on_cpu, auto &&on_gpu) {
            std::vector<float> expected = x;
            const OnDevice<float> xs(x);
            on_cpu(expected.data());
            on_gpu(xs.get());
            CHECK_CASE(same(expected, xs.values(on.stream())), std::string(what) + " of " + std::to_string(n));
        };
        const heads::Operators &cpu = heads::kOperators, &gpu = cuda::kHeadOperators;
        check("relu", [&](float *v) { cpu.relu(on.alone, n, v); }, [&](float *v) { gpu.relu(on.alone, n, v); });
        check("gelu", [&](float *v) { cpu.gelu(on.alone, n, v); }, [&](float *v) { gpu.gelu(on.alone, n, v); });
        check("add", [&](float *v) { cpu.add(on.alone, y.data(), n, v); }, [&](float *v) { gpu.add(on.alone, ys.get(), n, v); });
    }
}

void test_inputs() {
    OnStream on;
    Random random(6);
    constexpr int64_t kEmbd = 300, kN = 3;
    const std::vector<float> hidden = normals(random, kN * kEmbd), top = normals(random, kN * TR_MAX_TOP), embeddings = normals(random, kN * kEmbd);
    const std::vector<int32_t> tokens{7, -1, 0};
    const OnDevice<float> hiddens(hidden), tops(top), of_tokens(embeddings), joined(size_t{kN * 3 * kEmbd});
    const OnDevice<int32_t> drawn(tokens), ids(size_t{kN});
    const heads::Inputs in{hidden.data(), top.data(), tokens.data()}, on_gpu{hiddens.get(), tops.get(), drawn.get()};
    std::vector<float> expected(kN * 3 * kEmbd, -1.0f);
    cuda::put(joined.get(), expected.data(), expected.size() * sizeof(float));
    heads::kOperators.join(on.alone, in, embeddings.data(), kN, kEmbd, expected.data());
    cuda::kHeadOperators.join(on.alone, on_gpu, of_tokens.get(), kN, kEmbd, joined.get());
    CHECK(same(expected, joined.values(on.stream())));
    CHECK_EQUAL(0.0f, expected[3 * kEmbd + kEmbd]);      // no token, no embedding
    CHECK_EQUAL(-1.0f, expected[3 * kEmbd + 2 * kEmbd]); // the last third is for others
    for (const int64_t k : {1, 20, TR_MAX_TOP}) {
        std::vector<float> taken(static_cast<size_t>(kN * k));
        std::vector<int32_t> chosen(kN);
        const OnDevice<float> to(taken.size());
        heads::kOperators.take(on.alone, in, kN, k, taken.data(), chosen.data());
        cuda::kHeadOperators.take(on.alone, on_gpu, kN, k, to.get(), ids.get());
        CHECK(same(taken, to.values(on.stream())));
        CHECK(chosen == (std::vector<int32_t>{7, 0, 0}));
        CHECK(chosen == ids.values(on.stream()));
    }
}

// ---- steps

constexpr int32_t kVocab = 40, kTop = 20;

TinyModel small() { return narrow_model(kVocab); }

// A model with heads of all kinds, the last two of quantized weights, and none.
struct Scored {
    static constexpr size_t kHeads = 5;
    Scored(const char *kind, int32_t max_rows) : engine(small().bytes(), {nullptr, 1, 0, 64, 300, max_rows, TR_KV_F16, kind}) {
        const HeadSizes sizes{64, kTop, 36, 50};
        const HeadSizes coded{64, kTop, 64, 96, quant::Type::Q8_0, 9};
        for (const Network &n : {linear_head(sizes), mlp_head(sizes), residual_head(sizes), mlp_head(coded), residual_head(coded)}) heads.push_back(load_head(engine, n.file));
    }
    const tr_head *head(size_t i) const { return i < kHeads ? heads[i].get() : nullptr; }
    cuda::Graphs &graphs() const { return static_cast<cuda::Memory &>(*engine.arena->memory).graphs; }

    Engine engine;
    std::vector<HeadPtr> heads;
};

// A row of a step: the index of a head, kHeads for none, and what else it wants.
struct Wish {
    size_t head;
    uint32_t want = TR_WANT_TOKEN;
    bool greedy = false;
    const uint32_t *valid = nullptr;
};

// The scores of an extend at each of whose tokens a row is.
std::vector<float> scores(const Scored &s, int32_t position, const std::vector<int32_t> &tokens, const std::vector<Wish> &wishes, int32_t first_page = 0) {
    std::vector<int32_t> pages = upto(8);
    for (int32_t &p : pages) p += first_page;
    tr_sampling drawn{}, greedy{};
    drawn.size = greedy.size = sizeof drawn;
    drawn.temperature = 0.9f;
    drawn.seed = 3;
    const tr_segment segment{sizeof segment, position, tokens.data(), pages.data(), static_cast<int32_t>(tokens.size()), 8};
    std::vector<tr_row> rows(wishes.size());
    for (size_t i = 0; i < rows.size(); i++) {
        rows[i].size = sizeof rows[i];
        rows[i].want = wishes[i].want;
        rows[i].offset = static_cast<int32_t>(i);
        rows[i].head = s.head(wishes[i].head);
        rows[i].n_top = rows[i].head ? rows[i].head->head->n_top : 0;
        rows[i].valid = wishes[i].valid;
        rows[i].sampling = wishes[i].greedy ? &greedy : &drawn;
    }
    tr_batch batch{sizeof batch, 1, static_cast<int32_t>(rows.size()), 0, &segment, rows.data()};
    char err[256] = "";
    if (tr_step(s.engine.arena.get(), &batch, err, sizeof err) != TR_OK) throw std::runtime_error(err);
    std::vector<float> scores;
    for (const tr_row &r : rows) scores.push_back(r.head_logit);
    return scores;
}

std::vector<Wish> mixed(int32_t n, int32_t turn) {
    std::vector<Wish> wishes;
    for (int32_t i = 0; i < n; i++) wishes.push_back({static_cast<size_t>(i + turn) % (Scored::kHeads + 1), TR_WANT_TOKEN, i % 2 == 1});
    return wishes;
}

// By turns of batches, the processor's scores; and each row's own, alone.
void test_steps(const std::vector<int32_t> &batches) {
    const Scored cpu(nullptr, 64), gpu("cuda", 64);
    for (const int32_t n : batches) {
        const std::vector<int32_t> tokens = random_tokens(n, kVocab, static_cast<uint32_t>(n));
        const std::vector<Wish> wishes = mixed(n, n);
        const std::vector<float> expected = scores(cpu, 0, tokens, wishes), got = scores(gpu, 0, tokens, wishes);
        CHECK_CASE(same(expected, got), std::to_string(n) + " rows");
        for (size_t i = 0; i < wishes.size(); i++) CHECK_CASE((got[i] == 0) == (wishes[i].head == Scored::kHeads), std::to_string(n) + " rows, row " + std::to_string(i));
        const auto last = static_cast<size_t>(n) - 1;
        scores(gpu, 0, tokens, std::vector<Wish>(last, Wish{Scored::kHeads}), 16);
        CHECK_CASE(scores(gpu, n - 1, {tokens[last]}, {wishes[last]}, 16) == std::vector<float>{got[last]}, "a row alone, of " + std::to_string(n));
    }
}

// The same steps with graphs and without. Shapes and heads come again and again, rows differ.
void test_graphs() {
    const Scored plain("cuda", 64), recorded("cuda", 64);
    plain.graphs().enabled = false;
    constexpr int32_t kSteps = 18;
    for (int32_t i = 0; i < kSteps; i++) {
        const int32_t n = 3 + i % 2 * 2; // padded to 6 every other time
        std::vector<Wish> wishes = mixed(n, i / 6);
        if (i % 3 == 2) wishes.assign(static_cast<size_t>(n), Wish{Scored::kHeads});
        const std::vector<int32_t> tokens = random_tokens(n, kVocab, static_cast<uint32_t>(i));
        CHECK_CASE(same(scores(plain, 0, tokens, wishes), scores(recorded, 0, tokens, wishes)), "step " + std::to_string(i));
    }
    CHECK_EQUAL(uint64_t{0}, plain.graphs().counts().hits);
    CHECK(recorded.graphs().counts().hits > 0);
    CHECK_EQUAL(uint64_t{kSteps}, recorded.graphs().counts().hits + recorded.graphs().counts().misses);
}

// A head that is freed leaves graphs behind, and another may take its place in memory: none of them runs again.
void test_freed() {
    Scored cpu(nullptr, 64), gpu("cuda", 64);
    const std::vector<int32_t> tokens = random_tokens(2, kVocab, 1);
    const std::vector<Wish> wishes{{0}, {0}};
    for (uint64_t seed = 1; seed < 4; seed++) {
        const GgufWriter file = linear_head({64, kTop, 36, 50, quant::Type::F32, seed}).file;
        for (Scored *s : {&cpu, &gpu}) {
            s->heads[0].reset();
            s->heads[0] = load_head(s->engine, file);
        }
        const uint64_t before = gpu.graphs().counts().hits;
        for (int i = 0; i < 3; i++) CHECK(same(scores(cpu, 0, tokens, wishes), scores(gpu, 0, tokens, wishes)));
        CHECK_EQUAL(before + 1, gpu.graphs().counts().hits);
    }
}

// Rows that the processor answers, since they want their logits: its tokens go to the device before the head that looks at them runs. And rows
// with nothing that may be drawn, and steps of more rows than are answered at once.
void test_others() {
    const Scored cpu(nullptr, 100), gpu("cuda", 100);
    const std::vector<uint32_t> none(2, 0);
    const std::vector<int32_t> tokens = random_tokens(6, kVocab, 2);
    const std::vector<Wish> wishes{{2, TR_WANT_TOKEN | TR_WANT_LOGITS}, {4}, {4, TR_WANT_TOKEN | TR_WANT_LOGITS | TR_WANT_HIDDEN, true}, {0, TR_WANT_LOGITS}, {2, TR_WANT_TOKEN, false, none.data()}, {5}};
    for (int i = 0; i < 3; i++) CHECK(same(scores(cpu, 0, tokens, wishes), scores(gpu, 0, tokens, wishes)));
    const std::vector<int32_t> many = random_tokens(100, kVocab, 3);
    CHECK(same(scores(cpu, 0, many, mixed(100, 1)), scores(gpu, 0, many, mixed(100, 1))));
}

// Weights in half and brain floats, which the tensor cores multiply in an order of their own (docs/cuda.md): close to the processor's scores, and of the
// same bits in any batch. A score is eight products away from its inputs; each is off by 2^-17 of the sum of its magnitudes, which is about 10.
void test_halves() {
    const Engine cpu(small().bytes(), {nullptr, 1, 0, 64, 0, 8, TR_KV_F16, nullptr}), gpu(small().bytes(), {nullptr, 1, 0, 64, 0, 8, TR_KV_F16, "cuda"});
    const std::vector<int32_t> tokens = random_tokens(5, kVocab, 4);
    tr_sampling greedy{};
    greedy.size = sizeof greedy;
    for (const quant::Type type : {quant::Type::F16, quant::Type::BF16}) {
        for (const HeadSizes &sizes : {HeadSizes{64, 10, 33, 51, type}, HeadSizes{64, 32, 64, 96, type}}) {
            for (const Network &network : {mlp_head(sizes), residual_head(sizes)}) {
                const HeadPtr on_cpu = load_head(cpu, network.file), on_gpu = load_head(gpu, network.file);
                const auto expected = step(cpu, {{0, tokens, {0}, upto(5)}}, &greedy, 32, on_cpu.get()), got = step(gpu, {{0, tokens, {0}, upto(5)}}, &greedy, 32, on_gpu.get());
                for (size_t i = 0; i < 5; i++) CHECK_NEAR(expected[i].head_logit, got[i].head_logit, 1e-3 * (1 + std::fabs(static_cast<double>(expected[i].head_logit))));
                const auto alone = step(gpu, {{4, {tokens[4]}, {0}, {0}}}, &greedy, 32, on_gpu.get());
                CHECK_EQUAL(got[4].head_logit, alone[0].head_logit);
            }
        }
    }
}

// Weights are on the device from the load on, once, and gone with the head.
void test_memory() {
#if defined(TR_EMULATION)
    const Engine gpu(small().bytes(), {nullptr, 1, 0, 64, 0, 8, TR_KV_F16, "cuda"});
    const size_t before = device_bytes_in_use();
    HeadPtr head = load_head(gpu, residual_head({64, kTop, 36, 50}).file);
    tr_head_info info{};
    info.size = sizeof info;
    CHECK_EQUAL(TR_OK, tr_head_describe(head.get(), &info, nullptr, 0));
    CHECK(device_bytes_in_use() >= before + info.weight_bytes);
    const size_t loaded = device_bytes_in_use();
    const std::vector<int32_t> tokens{1, 2};
    tr_sampling greedy{};
    greedy.size = sizeof greedy;
    for (int i = 0; i < 3; i++) step(gpu, {{0, tokens, {0}, {0, 1}}}, &greedy, kTop, head.get());
    CHECK(device_bytes_in_use() < loaded + (1 << 20)); // steps keep no weights
    head.reset();
    CHECK(device_bytes_in_use() < loaded);
#endif
}

} // namespace

} // namespace tr::test

int main() {
    using namespace tr::test;
    in_every_mode([] {
        test_sums();
        test_values();
        test_inputs();
        test_steps(every_access_checked() ? std::vector<int32_t>{5} : std::vector<int32_t>{1, 2, 5, 8, 17, 33});
    });
    test_orders_differ();
    test_others();
    test_freed();
    test_halves();
    if (!every_access_checked()) {
        test_steps({3, 4, 6, 7, 9, 12, 16, 31, 32});
        test_graphs();
    }
    test_memory();
    return report();
}
