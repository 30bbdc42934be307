// The C ABI with C++ comforts, for tests: owners of handles, and a step whose answers are copied out.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "support/gguf_writer.h"
#include "tokenrouter.h"

namespace tr::test {

struct DeviceCloser { void operator()(tr_device *d) const { tr_device_close(d); } };
struct ModelFreer { void operator()(tr_model *m) const { tr_model_free(m); } };
struct ArenaFreer { void operator()(tr_arena *a) const { tr_arena_free(a); } };
using DevicePtr = std::unique_ptr<tr_device, DeviceCloser>;
using ModelPtr = std::unique_ptr<tr_model, ModelFreer>;
using ArenaPtr = std::unique_ptr<tr_arena, ArenaFreer>;

// A device, a model and an arena, opened by the constructor, which throws std::runtime_error with the failure's message.
struct EngineOptions {
    const char *isa = nullptr;
    int32_t n_threads = 2;
    uint32_t flags = 0;
    int32_t n_pages = 64, max_tokens = 0, max_rows = 512, kv_type = TR_KV_F16;
    const char *kind = nullptr;
};
struct Engine {
    explicit Engine(const Bytes &file, const EngineOptions &options = {});
    Engine(const char *path, const EngineOptions &options = {});

    DevicePtr device;
    ModelPtr model;
    ArenaPtr arena;
    tr_model_info info{};

private:
    void open(const char *path, const EngineOptions &options);
};

// The instruction sets that this processor runs; "reference" is the first.
std::vector<std::string> usable_isas();

// An extend and the offsets in it that become rows.
struct Extend {
    int32_t position;
    std::vector<int32_t> tokens;
    std::vector<int32_t> pages;
    std::vector<int32_t> rows;
};

struct Answer {
    int32_t token;
    float logprob, logsumexp, entropy, head_logit;
    std::vector<int32_t> top_ids;
    std::vector<float> top_logits, hidden, logits;
    bool operator==(const Answer &) const = default; // floats by value: none of these is a NaN or a negative zero that matters
};

// Runs one step; all rows want everything. `sampling` may be NULL: then no token. Every row names `head`, or those of each extend its
// own of `heads`. Throws on failure.
std::vector<Answer> step(const Engine &engine, const std::vector<Extend> &extends, const tr_sampling *sampling = nullptr, int32_t n_top = 5,
                         const tr_head *head = nullptr, const std::vector<const tr_head *> &heads = {});

// 0, 1, ... n-1, and `n` token ids from a seed.
std::vector<int32_t> upto(int32_t n);
std::vector<int32_t> random_tokens(int32_t n, int32_t n_vocab, uint32_t seed);

} // namespace tr::test
