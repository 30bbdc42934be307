// Steps as graphs: with them and without, and padded to a graph's shape or not, a step gives the same bits; which steps had a graph is counted.
// A kernel that is handed what differs between steps as an argument is found by such a comparison: three seeded faults.
#include "api/handles.h"
#include "cuda/fixtures.h"
#include "cuda/graphs.h"
#include "cuda/memory.h"
#include "support/engine.h"
#include "support/tiny_model.h"

namespace tr::test {

namespace {

void test_sizes() {
    const std::vector<std::pair<int32_t, int32_t>> expected{{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 6}, {7, 8}, {9, 12}, {13, 16}, {17, 24}, {25, 32}, {33, 64}, {65, 96}, {256, 256}};
    for (const auto &[n, size] : expected) CHECK_EQUAL(size, cuda::graph_size(n));
}

// What a step reads: rows of a matrix, chosen by ids.
struct Reader {
    static constexpr int64_t kRows = 5, kCols = 8;
    Reader() {
        matrix.type = quant::Type::F32;
        matrix.rows = kRows;
        matrix.cols = kCols;
        const std::vector<float> values = normals(random, kRows * kCols);
        matrix.data = cuda::allocate_device(values.size() * sizeof(float));
        cuda::put(matrix.data.get(), values.data(), values.size() * sizeof(float));
    }
    Random random{3};
    cpu::Matrix matrix;
    OnDevice<int32_t> ids{std::vector<int32_t>{0, 0}}, other_ids{std::vector<int32_t>{4, 3}};
    OnDevice<float> out{std::vector<float>(2 * kCols, -1.0f)};
    const cuda::Stream stream;
};

using Queue = void (*)(const Reader &r, int step);
void embed(const Reader &r, const OnDevice<int32_t> &ids, int64_t n, float scale) { cuda::embed(cuda::view(r.matrix), ids.get(), n, scale, r.out.get(), r.stream); }

// What four steps leave, by graphs or without.
std::vector<std::vector<float>> results(Queue queue, bool graphs) {
    const Reader r;
    cuda::Graphs recorded;
    std::vector<std::vector<float>> all;
    for (int step = 0; step < 4; step++) {
        const std::vector<int32_t> ids{step, 4 - step};
        cuda::put(r.ids.get(), ids.data(), ids.size() * sizeof(int32_t));
        const std::vector<float> before(2 * Reader::kCols, -1.0f);
        cuda::put(r.out.get(), before.data(), before.size() * sizeof(float));
        if (graphs) recorded.run({2, 1, 1}, r.stream, [&] { queue(r, step); });
        else queue(r, step);
        all.push_back(r.out.values(r.stream));
    }
    CHECK_EQUAL(uint64_t{graphs ? 2u : 0u}, recorded.counts().hits); // the first step runs as it is, the second is recorded
    return all;
}

void test_baked_arguments() {
    const auto same = [](Queue queue) { return results(queue, false) == results(queue, true); };
    CHECK(same([](const Reader &r, int) { embed(r, r.ids, 2, 1); })); // ids differ from step to step, in one place
    // Seeded faults: a number, a pointer, a size of the grid that are those of the recorded step.
    CHECK(!same([](const Reader &r, int step) { embed(r, r.ids, 2, static_cast<float>(step + 1)); }));
    CHECK(!same([](const Reader &r, int step) { embed(r, step == 1 ? r.ids : r.other_ids, 2, 1); }));
    CHECK(!same([](const Reader &r, int step) { embed(r, r.ids, step == 3 ? 2 : 1, 1); }));
}

void test_forgetting() {
    const Reader r;
    cuda::Graphs graphs;
    const auto run = [&](int32_t columns) { graphs.run({columns, 1, 1}, r.stream, [&] { embed(r, r.ids, 1, 1); }); };
    for (int i = 0; i < 3; i++) run(1);
    CHECK_EQUAL(uint64_t{1}, graphs.counts().hits);
    for (int32_t columns = 2; columns < 100; columns++) run(columns); // more shapes than are remembered
    run(1);
    CHECK_EQUAL(uint64_t{1}, graphs.counts().hits);
    run(99), run(99);
    CHECK_EQUAL(uint64_t{2}, graphs.counts().hits);
    graphs.clear();
    run(99), run(99);
    CHECK_EQUAL(uint64_t{2}, graphs.counts().hits);
    r.stream.wait();
}

cuda::Graphs &graphs_of(const Engine &engine) { return static_cast<cuda::Memory &>(*engine.arena->memory).graphs; }

EngineOptions on_gpu() {
    EngineOptions options;
    options.n_threads = 1;
    options.max_rows = 8;
    options.max_tokens = 300;
    options.kind = "cuda";
    return options;
}

TinyModel small() {
    TinyModel model;
    model.n_vocab = 40;
    model.n_embd = 64;
    model.n_head = 2;
    model.n_head_kv = 1;
    model.n_ff = 64;
    return model;
}

// Three sequences, extended now and then by different numbers of tokens, which share their shapes.
std::vector<std::vector<Answer>> extend_often(const Engine &engine, int32_t rounds) {
    std::vector<std::vector<Answer>> answers;
    std::vector<int32_t> position(3, 0);
    for (int32_t round = 0; round < rounds; round++) {
        std::vector<Extend> extends;
        for (int32_t sequence = 0; sequence < 1 + round % 3; sequence++) {
            const int32_t n = 1 + (round + sequence) % 3;
            auto &at = position[static_cast<size_t>(sequence)];
            std::vector<int32_t> rows;
            if ((round + sequence) % 4 != 3) rows.push_back(n - 1);
            extends.push_back({at, random_tokens(n, 40, static_cast<uint32_t>(10 * round + sequence)), {2 * sequence, 2 * sequence + 1}, rows});
            at += n;
        }
        answers.push_back(step(engine, extends));
    }
    return answers;
}

void test_steps(const Bytes &file, int32_t rounds) {
    const Engine plain(file, on_gpu()), recorded(file, on_gpu());
    graphs_of(plain).enabled = false;
    const auto expected = extend_often(plain, rounds), got = extend_often(recorded, rounds);
    for (size_t i = 0; i < expected.size(); i++) CHECK_CASE(expected[i] == got[i], "step " + std::to_string(i));
    CHECK_EQUAL(uint64_t{0}, graphs_of(plain).counts().hits);
    CHECK_EQUAL(static_cast<uint64_t>(rounds), graphs_of(plain).counts().misses);
    CHECK(graphs_of(recorded).counts().hits > 0);
    tr_arena_info info{};
    info.size = sizeof info;
    CHECK_EQUAL(TR_OK, tr_arena_describe(recorded.arena.get(), &info, nullptr, 0));
    CHECK_EQUAL(1, info.has_graphs);
    CHECK_EQUAL(static_cast<uint64_t>(rounds), info.steps);
    CHECK_EQUAL(graphs_of(recorded).counts().hits, info.graph_hits);
    CHECK_EQUAL(graphs_of(recorded).counts().misses, info.graph_misses);
    CHECK_EQUAL(static_cast<uint64_t>(rounds), graphs_of(recorded).counts().hits + graphs_of(recorded).counts().misses);
}

// A sequence that grows over the borders of segments, and page tables so long that the description of a batch moves.
void test_growth() {
    const Bytes file = small().bytes();
    const Engine plain(file, on_gpu()), recorded(file, on_gpu());
    graphs_of(plain).enabled = false;
    const auto run = [](const Engine &engine) {
        std::vector<std::vector<Answer>> answers;
        std::vector<int32_t> pages = upto(20);
        answers.push_back(step(engine, {{0, random_tokens(252, 40, 1), pages, {}}}));
        for (int32_t i = 0; i < 12; i++) {
            if (i == 9) pages.resize(20000, 0);
            answers.push_back(step(engine, {{252 + i, random_tokens(1, 40, static_cast<uint32_t>(i)), pages, {0}}}));
        }
        return answers;
    };
    CHECK(run(plain) == run(recorded));
    // Two segments from the fifth on; the graphs are gone after the ninth, and one is there again for the last.
    CHECK_EQUAL(uint64_t{2 + 3 + 1}, graphs_of(recorded).counts().hits);
}

} // namespace

} // namespace tr::test

int main() {
    using namespace tr::test;
    test_sizes();
    in_every_mode([] {
        test_baked_arguments();
        test_steps(small().bytes(), every_access_checked() ? 8 : 24);
    });
    test_forgetting();
    if (!every_access_checked()) {
        test_growth();
        TinyModel mixed;
        mixed.n_vocab = 40;
        mixed.n_layer = 1;
        mixed.type = mixed_types;
        test_steps(mixed.bytes(), 12);
    }
    return report();
}
