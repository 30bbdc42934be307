#include "support/engine.h"

#include <numeric>
#include <random>
#include <stdexcept>

#include "cpu/ops.h"

namespace tr::test {

namespace {

void check(tr_status status, const char *message) {
    if (status != TR_OK) throw std::runtime_error("status " + std::to_string(status) + ": " + message);
}

} // namespace

void Engine::open(const char *path, const EngineOptions &options) {
    char err[512] = "";
    tr_device_params device_params{};
    device_params.size = sizeof device_params;
    device_params.isa = options.isa;
    device_params.kind = options.kind;
    device_params.n_threads = options.n_threads;
    tr_device *d = nullptr;
    check(tr_device_open(&device_params, &d, err, sizeof err), err);
    device.reset(d);

    tr_model_params model_params{};
    model_params.size = sizeof model_params;
    model_params.flags = options.flags;
    tr_model *m = nullptr;
    check(tr_model_load(d, path, &model_params, &m, err, sizeof err), err);
    model.reset(m);
    info.size = sizeof info;
    check(tr_model_describe(m, &info, err, sizeof err), err);

    const tr_arena_params arena_params{sizeof arena_params, options.n_pages, options.max_tokens, options.max_rows, options.kv_type};
    tr_arena *a = nullptr;
    check(tr_arena_create(m, &arena_params, &a, err, sizeof err), err);
    arena.reset(a);
}

Engine::Engine(const char *path, const EngineOptions &options) { open(path, options); }

Engine::Engine(const Bytes &file, const EngineOptions &options) {
    const TemporaryFile on_disk(file);
    open(on_disk.path(), options);
}

std::vector<std::string> usable_isas() {
    std::vector<std::string> names;
    for (const char *name : {"reference", "avx2", "avxvnni", "avx512vnni"}) {
        if (cpu::ops_by_name(name) && cpu::isa_usable(name)) names.emplace_back(name);
    }
    return names;
}

std::vector<Answer> step(const Engine &engine, const std::vector<Extend> &extends, const tr_sampling *sampling, int32_t n_top, const tr_head *head,
                         const std::vector<const tr_head *> &heads) {
    std::vector<tr_segment> segments;
    std::vector<tr_row> rows;
    for (const Extend &e : extends) {
        tr_segment s{};
        s.size = sizeof s;
        s.position = e.position;
        s.tokens = e.tokens.data();
        s.pages = e.pages.data();
        s.n_tokens = static_cast<int32_t>(e.tokens.size());
        s.n_pages = static_cast<int32_t>(e.pages.size());
        for (const int32_t offset : e.rows) {
            tr_row r{};
            r.size = sizeof r;
            r.want = TR_WANT_HIDDEN | TR_WANT_LOGITS | (sampling ? TR_WANT_TOKEN : 0);
            r.segment = static_cast<int32_t>(segments.size());
            r.offset = offset;
            r.n_top = n_top;
            r.sampling = sampling;
            r.head = heads.empty() ? head : heads[segments.size()];
            rows.push_back(r);
        }
        segments.push_back(s);
    }
    tr_batch batch{};
    batch.size = sizeof batch;
    batch.n_segments = static_cast<int32_t>(segments.size());
    batch.n_rows = static_cast<int32_t>(rows.size());
    batch.segments = segments.data();
    batch.rows = rows.data();
    char err[512] = "";
    check(tr_step(engine.arena.get(), &batch, err, sizeof err), err);

    std::vector<Answer> answers;
    for (const tr_row &r : rows) {
        Answer a{r.token, r.logprob, r.logsumexp, r.entropy, r.head_logit, {}, {}, {}, {}};
        a.top_ids.assign(r.top_ids, r.top_ids + n_top);
        a.top_logits.assign(r.top_logits, r.top_logits + n_top);
        a.hidden.assign(r.hidden, r.hidden + engine.info.n_embd);
        a.logits.assign(r.logits, r.logits + engine.info.n_vocab);
        answers.push_back(std::move(a));
    }
    return answers;
}

std::vector<int32_t> upto(int32_t n) {
    std::vector<int32_t> v(static_cast<size_t>(n));
    std::iota(v.begin(), v.end(), 0);
    return v;
}

std::vector<int32_t> random_tokens(int32_t n, int32_t n_vocab, uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<int32_t> v(static_cast<size_t>(n));
    for (int32_t &t : v) t = static_cast<int32_t>(random() % static_cast<uint32_t>(n_vocab));
    return v;
}

} // namespace tr::test
