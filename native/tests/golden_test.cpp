// The forward pass of every architecture against Transformers' implementation, through the C ABI.
//
// tools/reference made the data (make_qwen2_tiny.py, make_tiny_models.py): tiny models with random float weights, and what
// Transformers (float64) answers for a few prompts. Per output position the hidden state after the final norm and
// the logits must agree to 1e-3 of their Euclidean length: the engine works in float32 and keeps keys and values as half
// floats (unit roundoff 4.9e-4), so a right implementation stays below it and a wrong term does not.
//
// Usage: golden_test [DIRECTORY]; the build sets the default, the data directory beside this file.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "tokenrouter.h"

namespace {

constexpr double kTolerance = 1e-3;

struct Output {
    int32_t position;
    std::vector<float> hidden, logits;
};

struct Prompt {
    std::vector<int32_t> tokens;
    std::vector<Output> outputs;
};

struct Golden {
    int32_t n_vocab = 0, n_embd = 0;
    std::vector<Prompt> prompts;
};

// Reads the layout that write_golden() of golden.py documents.
class Reader {
public:
    explicit Reader(const std::string &path) : path_(path) {
        std::ifstream in(path, std::ios::binary);
        if (!in) throw std::runtime_error("cannot open " + path);
        bytes_.assign(std::istreambuf_iterator<char>(in), {});
    }
    template <class T> std::vector<T> take(size_t n) {
        if (n > (bytes_.size() - at_) / sizeof(T)) throw std::runtime_error(path_ + " ends early");
        std::vector<T> values(n);
        std::memcpy(values.data(), bytes_.data() + at_, n * sizeof(T));
        at_ += n * sizeof(T);
        return values;
    }
    bool at_end() const { return at_ == bytes_.size(); }

private:
    std::string path_;
    std::vector<char> bytes_;
    size_t at_ = 0;
};

Golden read_golden(const std::string &path) {
    Reader in(path);
    const auto magic = in.take<char>(8);
    if (std::memcmp(magic.data(), "TRGOLD1", 8) != 0) throw std::runtime_error(path + " is not a golden file");
    const auto head = in.take<int32_t>(3);
    Golden golden{head[0], head[1], {}};
    for (int32_t p = 0; p < head[2]; p++) {
        const auto counts = in.take<int32_t>(2);
        Prompt prompt{in.take<int32_t>(counts[0]), {}};
        for (int32_t o = 0; o < counts[1]; o++) {
            const int32_t position = in.take<int32_t>(1)[0];
            auto hidden = in.take<float>(golden.n_embd);
            prompt.outputs.push_back({position, std::move(hidden), in.take<float>(golden.n_vocab)});
        }
        golden.prompts.push_back(std::move(prompt));
    }
    if (!in.at_end()) throw std::runtime_error(path + " has bytes left over");
    return golden;
}

double distance(const float *got, const std::vector<float> &want) {
    double error = 0, length = 0;
    for (size_t i = 0; i < want.size(); i++) {
        const double d = double(got[i]) - want[i];
        error += d * d;
        length += double(want[i]) * want[i];
    }
    return std::sqrt(error / length); // a NaN is not <= kTolerance, so it fails
}

void check(tr_status status, const char *what, const char *err) {
    if (status != TR_OK) throw std::runtime_error(std::string(what) + ": " + err);
}

// The engine with one model and an arena that holds every prompt at once.
class Engine {
public:
    Engine(const std::string &path, const char *isa, int32_t total_tokens) {
        tr_device_params device{};
        device.size = sizeof device;
        device.n_threads = 2;
        device.isa = isa;
        check(tr_device_open(&device, &device_, err_, sizeof err_), "tr_device_open", err_);
        tr_model_params model{};
        model.size = sizeof model;
        check(tr_model_load(device_, path.c_str(), &model, &model_, err_, sizeof err_), "tr_model_load", err_);
        tr_arena_params arena{};
        arena.size = sizeof arena;
        arena.n_pages = total_tokens / TR_PAGE_TOKENS + 16;
        arena.max_tokens = total_tokens;
        check(tr_arena_create(model_, &arena, &arena_, err_, sizeof err_), "tr_arena_create", err_);
    }
    ~Engine() {
        tr_arena_free(arena_);
        tr_model_free(model_);
        tr_device_close(device_);
    }
    Engine(const Engine &) = delete;
    Engine &operator=(const Engine &) = delete;

    tr_model_info describe() {
        tr_model_info info{};
        info.size = sizeof info;
        check(tr_model_describe(model_, &info, err_, sizeof err_), "tr_model_describe", err_);
        return info;
    }
    void step(std::vector<tr_segment> &segments, std::vector<tr_row> &rows) {
        tr_batch batch{};
        batch.size = sizeof batch;
        batch.segments = segments.data();
        batch.n_segments = int32_t(segments.size());
        batch.rows = rows.data();
        batch.n_rows = int32_t(rows.size());
        check(tr_step(arena_, &batch, err_, sizeof err_), "tr_step", err_);
    }

private:
    char err_[512] = "";
    tr_device *device_ = nullptr;
    tr_model *model_ = nullptr;
    tr_arena *arena_ = nullptr;
};

struct Worst {
    double hidden = 0, logits = 0;
    int rows = 0;
    // A NaN is kept, so that it fails the test.
    static void add(double &worst, double d) {
        if (!std::isnan(worst) && !(d <= worst)) worst = d;
    }
};

// Runs all prompts, in steps of at most `chunk` tokens of each (all prompts in one ragged batch), and compares.
Worst run(Engine &engine, const Golden &golden, int32_t chunk) {
    std::vector<std::vector<int32_t>> pages;
    int32_t next_page = 0, longest = 0;
    for (const Prompt &p : golden.prompts) {
        const auto n = int32_t(p.tokens.size());
        std::vector<int32_t> table;
        for (int32_t at = 0; at < n; at += TR_PAGE_TOKENS) table.push_back(next_page++);
        pages.push_back(table);
        longest = n > longest ? n : longest;
    }
    Worst worst;
    for (int32_t start = 0; start < longest; start += chunk) {
        std::vector<tr_segment> segments;
        std::vector<tr_row> rows;
        std::vector<const Output *> wants;
        for (size_t p = 0; p < golden.prompts.size(); p++) {
            const Prompt &prompt = golden.prompts[p];
            const auto left = int32_t(prompt.tokens.size()) - start;
            if (left <= 0) continue;
            tr_segment segment{};
            segment.size = sizeof segment;
            segment.position = start;
            segment.tokens = prompt.tokens.data() + start;
            segment.n_tokens = left < chunk ? left : chunk;
            segment.pages = pages[p].data();
            segment.n_pages = int32_t(pages[p].size());
            for (const Output &o : prompt.outputs) {
                if (o.position < start || o.position >= start + segment.n_tokens) continue;
                tr_row row{};
                row.size = sizeof row;
                row.want = TR_WANT_HIDDEN | TR_WANT_LOGITS;
                row.segment = int32_t(segments.size());
                row.offset = o.position - start;
                rows.push_back(row);
                wants.push_back(&o);
            }
            segments.push_back(segment);
        }
        engine.step(segments, rows);
        for (size_t i = 0; i < rows.size(); i++) {
            worst.add(worst.hidden, distance(rows[i].hidden, wants[i]->hidden));
            worst.add(worst.logits, distance(rows[i].logits, wants[i]->logits));
            worst.rows++;
        }
    }
    return worst;
}

bool test_model(const std::string &directory, const std::string &name) {
    const Golden golden = read_golden(directory + "/" + name + ".golden");
    int32_t total = 0, outputs = 0;
    for (const Prompt &p : golden.prompts) {
        total += int32_t(p.tokens.size());
        outputs += int32_t(p.outputs.size());
    }
    bool good = true;
    for (const char *isa : {"reference", static_cast<const char *>(nullptr)}) {
        Engine engine(directory + "/" + name + ".gguf", isa, total);
        const tr_model_info info = engine.describe();
        if (info.n_vocab != golden.n_vocab || info.n_embd != golden.n_embd)
            throw std::runtime_error(name + ".gguf and its golden differ in shape");
        for (int32_t chunk : {total, 64, 7}) {
            const Worst worst = run(engine, golden, chunk);
            const bool ok = worst.rows == outputs && worst.hidden <= kTolerance && worst.logits <= kTolerance;
            std::printf("%s %s isa=%s chunk=%d rows=%d hidden=%.2e logits=%.2e (limit %.0e)\n", ok ? "ok  " : "FAIL",
                        name.c_str(), isa ? isa : "best", chunk, worst.rows, worst.hidden, worst.logits, kTolerance);
            good = good && ok;
        }
    }
    return good;
}

} // namespace

int main(int argc, char **argv) {
    const std::string directory = argc > 1 ? argv[1] : TR_TEST_DATA;
    try {
        bool good = true;
        for (const char *name : {"gemma3-tiny", "llama-tiny-linear", "llama-tiny-llama3", "qwen2-tiny-tied", "qwen2-tiny-untied",
                                 "qwen3-tiny-tied", "qwen3-tiny-yarn", "qwen3moe-tiny"})
            good = test_model(directory, name) && good;
        return good ? 0 : 1;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "golden_test: %s\n", e.what());
        return 1;
    }
}
