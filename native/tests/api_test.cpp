// The C ABI: every refusal names what is wrong and changes nothing; handles and descriptions.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

#include "quant/blocks.h"
#include "support/check.h"
#include "support/engine.h"
#include "support/tiny_model.h"

using namespace tr;
using namespace tr::test;

namespace {

// A call that must fail: its status and message.
void check_refused(tr_status expected, const char *message, const std::function<tr_status(char *, size_t)> &call, int line) {
    char err[512] = "";
    const tr_status status = call(err, sizeof err);
    if (status != expected || !std::strstr(err, message)) {
        failed(__FILE__, line, format("status %d, \"%s\"; expected %d, \"...%s...\"", status, err, expected, message));
    }
}
#define CHECK_REFUSED(status, message, call) check_refused(status, message, [&](char *err, size_t len) { return call; }, __LINE__)

// ---- devices

void test_device() {
    tr_device_params p{};
    p.size = sizeof p;
    tr_device *d = nullptr, *other = nullptr;
    CHECK_REFUSED(TR_ERR_ARGUMENT, "tr_device_params is NULL", tr_device_open(nullptr, &d, err, len));
    CHECK_REFUSED(TR_ERR_ARGUMENT, "out is NULL", tr_device_open(&p, nullptr, err, len));
    p.kind = "cuda";
    CHECK_REFUSED(TR_ERR_UNSUPPORTED, "device kind \"cuda\"", tr_device_open(&p, &d, err, len));
    p.kind = "cpu";
    p.isa = "mmx";
    CHECK_REFUSED(TR_ERR_ARGUMENT, "isa is \"mmx\"; this build has: reference, avx2", tr_device_open(&p, &d, err, len));
    p.isa = nullptr;
    setenv("TR_CPU_ISA", "sse", 1);
    CHECK_REFUSED(TR_ERR_ARGUMENT, "environment variable TR_CPU_ISA is \"sse\"", tr_device_open(&p, &d, err, len));
    setenv("TR_CPU_ISA", "reference", 1);
    p.n_threads = 2;
    CHECK_EQUAL(TR_OK, tr_device_open(&p, &d, nullptr, 0));
    unsetenv("TR_CPU_ISA");
    tr_device_info info{};
    CHECK_REFUSED(TR_ERR_ARGUMENT, "tr_device_info.size is 0", tr_device_describe(d, &info, err, len));
    info.size = sizeof info;
    CHECK_REFUSED(TR_ERR_ARGUMENT, "device is NULL", tr_device_describe(nullptr, &info, err, len));
    CHECK_EQUAL(TR_OK, tr_device_describe(d, &info, nullptr, 0));
    CHECK_EQUAL(std::string("reference"), std::string(info.isa));
    CHECK_EQUAL(2, info.n_threads);

    p.n_threads = 3; // while a device of two threads is open
    CHECK_REFUSED(TR_ERR_ARGUMENT, "n_threads is 3, but the open device of this process runs on 2 threads", tr_device_open(&p, &other, err, len));
    p.n_threads = 0;
    CHECK_EQUAL(TR_OK, tr_device_open(&p, &other, nullptr, 0));
    CHECK_EQUAL(TR_OK, tr_device_describe(other, &info, nullptr, 0));
    CHECK_EQUAL(2, info.n_threads);
    tr_device_close(d);
    tr_device_close(other);
    p.n_threads = -1;
    CHECK_REFUSED(TR_ERR_ARGUMENT, "n_threads is -1", tr_device_open(&p, &d, err, len));
    p.n_threads = 3; // none is open any more
    CHECK_EQUAL(TR_OK, tr_device_open(&p, &d, nullptr, 0));
    tr_device_close(d);
}

// ---- loading

struct BadModel {
    tr_status status;
    const char *message;
    std::function<void(GgufWriter &)> change;
};

TensorRecord &tensor(GgufWriter &w, const std::string &name) {
    for (TensorRecord &t : w.tensors) if (t.name == name) return t;
    throw std::runtime_error("no tensor " + name);
}

GgufWriter with_u32(const char *key, uint32_t value) {
    GgufWriter w = TinyModel{}.writer();
    w.replace_u32(key, value);
    return w;
}

void test_bad_models() {
    const EngineOptions options{.n_threads = 1};
    const Engine good(TinyModel{}.bytes(), options);
    const auto check_load = [&](tr_status status, const char *message, const GgufWriter &w) {
        const TemporaryFile file(w.bytes());
        tr_model_params p{};
        p.size = sizeof p;
        tr_model *m = nullptr;
        CHECK_REFUSED(status, message, tr_model_load(good.device.get(), file.path(), &p, &m, err, len));
        CHECK(m == nullptr);
    };
    const std::vector<BadModel> changes = {
        {TR_ERR_FORMAT, "tensor \"blk.1.attn_q.bias\" is missing", [](auto &w) { tensor(w, "blk.1.attn_q.bias").name = "blk.1.attn_q.bios"; }},
        {TR_ERR_FORMAT, "tensor \"token_embd.weight\" is missing", [](auto &w) { tensor(w, "token_embd.weight").name = "token_embd"; }},
        {TR_ERR_UNSUPPORTED, "tensor \"blk.0.attn_q_norm.weight\" is not part of", [](auto &w) {
             w.tensors.push_back(tensor(w, "blk.0.attn_norm.weight"));
             w.tensors.back().name = "blk.0.attn_q_norm.weight";
         }},
        {TR_ERR_FORMAT, "tensor \"blk.0.ffn_up.weight\" is of shape [512, 256, 1, 1]; the metadata asks for [256, 512]",
         [](auto &w) { tensor(w, "blk.0.ffn_up.weight").dims = {512, 256}; }},
        {TR_ERR_UNSUPPORTED, "tensor \"output_norm.weight\" is of type Q8_0", [](auto &w) {
             TensorRecord &t = tensor(w, "output_norm.weight");
             t.type = static_cast<uint32_t>(quant::Type::Q8_0);
             t.data.resize(8 * sizeof(quant::BlockQ8_0));
         }},
        {TR_ERR_FORMAT, "tensor \"blk.0.ffn_norm.weight\" has weights that are not finite", [](auto &w) { std::memset(tensor(w, "blk.0.ffn_norm.weight").data.data(), 0xff, 4); }},
        {TR_ERR_FORMAT, "tensor \"blk.1.ffn_down.weight\" has weights that are not finite", [](auto &w) {
             const float infinite = INFINITY;
             std::memcpy(tensor(w, "blk.1.ffn_down.weight").data.data() + 40000, &infinite, sizeof infinite);
         }},
        {TR_ERR_UNSUPPORTED, "qwen2.rope.scaling.type is \"longrope\"", [](auto &w) {
             w.string("qwen2.rope.scaling.type", "longrope");
             w.f32("qwen2.rope.scaling.factor", 4);
         }},
        {TR_ERR_FORMAT, "\"qwen2.rope.scaling.original_context_length\" is missing", [](auto &w) {
             w.string("qwen2.rope.scaling.type", "yarn");
             w.f32("qwen2.rope.scaling.factor", 4);
         }},
        {TR_ERR_UNSUPPORTED, "qwen2.rope.scaling.factor is 0.5", [](auto &w) { w.f32("qwen2.rope.scaling.factor", 0.5); }},
        {TR_ERR_UNSUPPORTED, "qwen2.attention.sliding_window is 128", [](auto &w) { w.u32("qwen2.attention.sliding_window", 128); }},
        {TR_ERR_UNSUPPORTED, "qwen2.expert_count is 8", [](auto &w) { w.u32("qwen2.expert_count", 8); w.u32("qwen2.expert_used_count", 2); }},
        {TR_ERR_FORMAT, "\"qwen2.expert_used_count\" is 9; expected 1 to 8", [](auto &w) { w.u32("qwen2.expert_count", 8); w.u32("qwen2.expert_used_count", 9); }},
        {TR_ERR_UNSUPPORTED, "qwen2.final_logit_softcapping is 30", [](auto &w) { w.f32("qwen2.final_logit_softcapping", 30); }},
        {TR_ERR_UNSUPPORTED, "qwen2.attention.scale is 0.25", [](auto &w) { w.f32("qwen2.attention.scale", 0.25f); }},
        {TR_ERR_UNSUPPORTED, "qwen2.attention.kv_lora_rank is 512", [](auto &w) { w.u32("qwen2.attention.kv_lora_rank", 512); }},
        {TR_ERR_UNSUPPORTED, "values of 32 and 64 rotated dimensions", [](auto &w) { w.u32("qwen2.attention.value_length", 32); }},
        {TR_ERR_UNSUPPORTED, "32 rotated dimensions", [](auto &w) { w.u32("qwen2.rope.dimension_count", 32); }},
        {TR_ERR_UNSUPPORTED, "attention heads of 24 dimensions", [](auto &w) { w.u32("qwen2.attention.key_length", 24); w.u32("qwen2.rope.dimension_count", 24); }},
        {TR_ERR_FORMAT, "the vocabulary has 2 tokens, but tensor \"token_embd.weight\" has 300 rows", [](auto &w) { w.strings("tokenizer.ggml.tokens", {"a", "b"}); }},
        {TR_ERR_FORMAT, "\"tokenizer.ggml.eos_token_id\" is 300; expected 0 to 299", [](auto &w) { w.u32("tokenizer.ggml.eos_token_id", 300); }},
        {TR_ERR_UNSUPPORTED, "tensor \"output.weight\" is of type IQ2_XS", [](auto &w) { tensor(w, "output.weight").type = 17; }},
        {TR_ERR_FORMAT, "lies behind the end of the file", [](auto &w) { tensor(w, "blk.0.attn_k.weight").offset = 1 << 30; }},
    };
    for (const BadModel &bad : changes) {
        GgufWriter w = TinyModel{}.writer();
        bad.change(w);
        check_load(bad.status, bad.message, w);
    }
    check_load(TR_ERR_FORMAT, "4 attention heads cannot be shared out over 3", with_u32("qwen2.attention.head_count_kv", 3));
    check_load(TR_ERR_FORMAT, "an embedding of 256 cannot be shared out over 6", with_u32("qwen2.attention.head_count", 6));
    check_load(TR_ERR_FORMAT, "\"qwen2.block_count\" is 0; expected 1 to", with_u32("qwen2.block_count", 0));
    check_load(TR_ERR_FORMAT, "tensor \"blk.2.attn_norm.weight\" is missing", with_u32("qwen2.block_count", 3));
    check_load(TR_ERR_UNSUPPORTED, "is not part of", with_u32("qwen2.block_count", 1));
    check_load(TR_ERR_FORMAT, "\"qwen2.context_length\" is 0", with_u32("qwen2.context_length", 0));
    check_load(TR_ERR_FORMAT, "\"qwen2.embedding_length\" is 4294967295", with_u32("qwen2.embedding_length", UINT32_MAX));
    GgufWriter other;
    other.string("general.architecture", "mamba");
    check_load(TR_ERR_UNSUPPORTED, "architecture \"mamba\" is not supported; this build runs: gemma3, llama, qwen2, qwen3, qwen3moe", other);
    check_load(TR_ERR_FORMAT, "\"general.architecture\" is missing", GgufWriter{});

    tr_model_params p{};
    p.size = sizeof p;
    p.flags = 8;
    tr_model *m = nullptr;
    CHECK_REFUSED(TR_ERR_ARGUMENT, "flags is 0x8", tr_model_load(good.device.get(), "x", &p, &m, err, len));
    CHECK_REFUSED(TR_ERR_ARGUMENT, "path is NULL", tr_model_load(good.device.get(), nullptr, &p, &m, err, len));
    CHECK_REFUSED(TR_ERR_ARGUMENT, "device is NULL", tr_model_load(nullptr, "x", &p, &m, err, len));
}

void test_describe_and_progress() {
    const Engine e(TinyModel{}.bytes());
    CHECK_EQUAL(300, e.info.n_vocab);
    CHECK_EQUAL(256, e.info.n_embd);
    CHECK_EQUAL(2, e.info.n_layer);
    CHECK_EQUAL(4, e.info.n_head);
    CHECK_EQUAL(2, e.info.n_head_kv);
    CHECK_EQUAL(64, e.info.head_dim);
    CHECK_EQUAL(1024, e.info.n_ctx_train);
    CHECK_EQUAL(2u * 2 * 2 * 64 * 2, e.info.kv_bytes_per_token); // layers, keys and values, heads, dimensions, bytes
    CHECK_EQUAL(std::string("qwen2"), std::string(e.info.architecture));
    CHECK_EQUAL(std::string("tiny"), std::string(e.info.name));
    // Embedding and output 2*300*256, final norm 256; per layer q, o 2*256*256, k, v 2*256*128, feed-forward 3*256*512,
    // norms 2*256, biases 256+2*128.
    CHECK_EQUAL(153856u + 2 * (131072 + 65536 + 393216 + 512 + 512), e.info.n_params);

    const TemporaryFile file(TinyModel{}.bytes());
    int32_t progress = -1;
    tr_model_params p{sizeof p, 0, &progress};
    tr_model *m = nullptr;
    CHECK_EQUAL(TR_OK, tr_model_load(e.device.get(), file.path(), &p, &m, nullptr, 0));
    CHECK_EQUAL(1000, progress);
    tr_model_free(m);
}

// ---- arenas

void test_arena() {
    const Engine e(TinyModel{}.bytes());
    tr_arena *a = nullptr;
    const auto refused = [&](const char *message, tr_arena_params p) {
        CHECK_REFUSED(TR_ERR_ARGUMENT, message, tr_arena_create(e.model.get(), &p, &a, err, len));
    };
    refused("tr_arena_params.size is 4", {4, 1, 0, 0, 0});
    refused("n_pages is 0; expected 1 to", {sizeof(tr_arena_params), 0, 0, 0, 0});
    refused("n_pages is -1; expected 1 to", {sizeof(tr_arena_params), -1, 0, 0, 0});
    refused("max_tokens is -1", {sizeof(tr_arena_params), 1, -1, 0, 0});
    refused("max_rows is -5", {sizeof(tr_arena_params), 1, 0, -5, 0});
    refused("kv_type is 2; expected TR_KV_F16 (0) or TR_KV_Q8_0 (1)", {sizeof(tr_arena_params), 1, 0, 0, 2});
    TinyModel sixteen;
    sixteen.n_head = 16; // of 16 dimensions
    const Engine narrow(sixteen.bytes());
    const tr_arena_params q8{sizeof(tr_arena_params), 1, 0, 0, TR_KV_Q8_0};
    CHECK_REFUSED(TR_ERR_UNSUPPORTED, "heads of a multiple of 32 dimensions; this model's have 16: use F16", tr_arena_create(narrow.model.get(), &q8, &a, err, len));
    tr_arena_params huge{sizeof(tr_arena_params), INT32_MAX / TR_PAGE_TOKENS, 0, 0, 0}; // 67 million pages: 67 GiB for each of keys and values
    huge.max_rows = 1 << 20;                                                        // and more than 1 TiB for logits
    char err[256] = "";
    const tr_status status = tr_arena_create(e.model.get(), &huge, &a, err, sizeof err);
    CHECK(status == TR_OK || (status == TR_ERR_NO_MEMORY && std::strstr(err, "cannot allocate")));
    tr_arena_free(a);
    CHECK_REFUSED(TR_ERR_ARGUMENT, "page `from` is 64", tr_arena_copy_page(e.arena.get(), 64, 0, err, len));
    CHECK_REFUSED(TR_ERR_ARGUMENT, "page `to` is -1", tr_arena_copy_page(e.arena.get(), 0, -1, err, len));
    CHECK_REFUSED(TR_ERR_ARGUMENT, "arena is NULL", tr_arena_copy_page(nullptr, 0, 0, err, len));
}

// ---- batches

// A good batch of two segments and two rows, to be spoilt.
struct Batch {
    std::vector<int32_t> tokens = {1, 2, 3}, pages[2] = {{0, 1}, {2, 3}}, ids = {5, 6}, counts = {1, 1};
    std::vector<float> bias = {0.5f, 1};
    tr_sampling sampling{};
    tr_segment segments[2]{};
    tr_row rows[2]{};
    tr_batch batch{};

    Batch() {
        sampling.size = sizeof sampling;
        sampling.temperature = 1;
        for (int i = 0; i < 2; i++) {
            segments[i] = {sizeof(tr_segment), 0, tokens.data(), pages[i].data(), 3, 2};
            rows[i].size = sizeof(tr_row);
            rows[i].want = TR_WANT_TOKEN;
            rows[i].segment = i;
            rows[i].offset = 2;
            rows[i].sampling = &sampling;
        }
        batch = {sizeof batch, 2, 2, 0, segments, rows};
    }
};

void test_bad_batches() {
    const Engine e(TinyModel{}.bytes(), {.n_pages = 40, .max_tokens = 20, .max_rows = 4});
    const int32_t out_of_range[] = {5, 300}, twice[] = {5, 5}, zero_count[] = {1, 0};
    const float nan_bias[] = {0, NAN};
    struct Case {
        const char *message;
        std::function<void(Batch &)> change;
    };
    const std::vector<Case> cases = {
        {"tr_batch.size is 3", [](Batch &b) { b.batch.size = 3; }},
        {"n_segments is 0", [](Batch &b) { b.batch.n_segments = 0; }},
        {"n_segments is -1", [](Batch &b) { b.batch.n_segments = -1; }},
        {"reserved is 1", [](Batch &b) { b.batch.reserved = 1; }},
        {"n_rows is 5; the arena was made for 0 to 4", [](Batch &b) { b.batch.n_rows = 5; }},
        {"n_rows is -1", [](Batch &b) { b.batch.n_rows = -1; }},
        {"segments is NULL", [](Batch &b) { b.batch.segments = nullptr; }},
        {"rows is NULL", [](Batch &b) { b.batch.rows = nullptr; }},
        {"segment 1: size is 7", [](Batch &b) { b.segments[1].size = 7; }},
        {"segment 1: n_tokens is 0", [](Batch &b) { b.segments[1].n_tokens = 0; }},
        {"segment 0: tokens is NULL", [](Batch &b) { b.segments[0].tokens = nullptr; }},
        {"segment 0: pages is NULL", [](Batch &b) { b.segments[0].pages = nullptr; }},
        {"segment 0: position is -1", [](Batch &b) { b.segments[0].position = -1; }},
        {"3 tokens at position 1022 would pass the model's context length of 1024", [](Batch &b) { b.segments[0].position = 1022; }},
        {"3 tokens at position 2147483647 would pass", [](Batch &b) { b.segments[0].position = INT32_MAX; }},
        {"segment 0: its page table has 2 pages; 3 are needed for 65 tokens", [](Batch &b) { b.segments[0].position = 62; }},
        {"segment 0: its page table has 0 pages", [](Batch &b) { b.segments[0].n_pages = 0; }},
        {"segment 0: token 1 is 300; the model has ids 0 to 299", [](Batch &b) { b.tokens[1] = 300; }},
        {"segment 0: token 1 is -1", [](Batch &b) { b.tokens[1] = -1; }},
        {"segment 1: page 1 is 40; the arena has pages 0 to 39", [](Batch &b) { b.pages[1][1] = 40; }},
        {"segment 1: page 0 is -1", [](Batch &b) { b.pages[1][0] = -1; }},
        {"segment 1 writes page 0, which segment 0 writes too", [](Batch &b) { b.pages[1][0] = 0; }},
        {"segment 1 reads page 0, which segment 0 writes in the same step", [](Batch &b) { b.segments[1].position = 32; b.pages[1][0] = 0; }},
        {"segment 0 reads page 0, which segment 0 writes", [](Batch &b) { b.segments[0].position = 32; b.pages[0][1] = 0; }},
        {"segment 0 writes page 0, which segment 0 writes too", [](Batch &b) { b.segments[0].position = 31; b.pages[0][1] = 0; }},
        {"row 1: size is 0", [](Batch &b) { b.rows[1].size = 0; }},
        {"row 1: want is 0x9", [](Batch &b) { b.rows[1].want = 9; }},
        {"row 1: segment is 2", [](Batch &b) { b.rows[1].segment = 2; }},
        {"row 1: segment is -1", [](Batch &b) { b.rows[1].segment = -1; }},
        {"row 1: offset is 3; segment 1 has tokens 0 to 2", [](Batch &b) { b.rows[1].offset = 3; }},
        {"row 1: offset is -1", [](Batch &b) { b.rows[1].offset = -1; }},
        {"row 0: n_top is 129", [](Batch &b) { b.rows[0].n_top = 129; }},
        {"row 0: n_top is -1", [](Batch &b) { b.rows[0].n_top = -1; }},
        {"row 0: n_valid is 301", [](Batch &b) { b.rows[0].n_valid = 301; }},
        {"row 0: sampling is NULL", [](Batch &b) { b.rows[0].sampling = nullptr; }},
        {"row 0: sampling.size is 1", [](Batch &b) { b.sampling.size = 1; }},
        {"row 0: temperature is -1", [](Batch &b) { b.sampling.temperature = -1; }},
        {"row 0: temperature is nan", [](Batch &b) { b.sampling.temperature = NAN; }},
        {"row 0: temperature is inf", [](Batch &b) { b.sampling.temperature = INFINITY; }},
        {"row 0: top_k is -1", [](Batch &b) { b.sampling.top_k = -1; }},
        {"row 0: top_p is -0.5", [](Batch &b) { b.sampling.top_p = -0.5f; }},
        {"row 0: min_p is 1.5", [](Batch &b) { b.sampling.min_p = 1.5f; }},
        {"row 0: repetition_penalty is -1", [](Batch &b) { b.sampling.repetition_penalty = -1; }},
        {"row 0: presence_penalty is nan", [](Batch &b) { b.sampling.presence_penalty = NAN; }},
        {"row 0: frequency_penalty is inf", [](Batch &b) { b.sampling.frequency_penalty = INFINITY; }},
        {"row 0: bias_ids[1] is 300", [&](Batch &b) { b.sampling.bias_ids = out_of_range; b.sampling.bias = b.bias.data(); b.sampling.n_bias = 2; }},
        {"row 0: bias_ids[1] is 5, which is in the list already", [&](Batch &b) { b.sampling.bias_ids = twice; b.sampling.bias = b.bias.data(); b.sampling.n_bias = 2; }},
        {"row 0: a bias is nan", [&](Batch &b) { b.sampling.bias_ids = b.ids.data(); b.sampling.bias = nan_bias; b.sampling.n_bias = 2; }},
        {"row 0: bias_ids is NULL", [](Batch &b) { b.sampling.n_bias = 1; }},
        {"sampling.bias is NULL", [](Batch &b) { b.sampling.bias_ids = b.ids.data(); b.sampling.n_bias = 1; }},
        {"row 0: the number of bias_ids is -1", [](Batch &b) { b.sampling.n_bias = -1; }},
        {"row 0: seen_ids[1] is 5, which is in the list already", [&](Batch &b) { b.sampling.seen_ids = twice; b.sampling.seen_counts = b.counts.data(); b.sampling.n_seen = 2; }},
        {"sampling.seen_counts is NULL", [](Batch &b) { b.sampling.seen_ids = b.ids.data(); b.sampling.n_seen = 2; }},
        {"row 0: seen_counts[1] is 0", [&](Batch &b) { b.sampling.seen_ids = b.ids.data(); b.sampling.seen_counts = zero_count; b.sampling.n_seen = 2; }},
    };
    // After each refusal the good batch gives what it gave before: nothing was written, and no mark was left.
    Batch good;
    CHECK_EQUAL(TR_OK, tr_step(e.arena.get(), &good.batch, nullptr, 0));
    const int32_t token = good.rows[0].token;
    const float logsumexp = good.rows[0].logsumexp;
    CHECK(token >= 0 && token < 300 && good.rows[1].token == token);
    for (const Case &c : cases) {
        Batch bad;
        c.change(bad);
        CHECK_REFUSED(TR_ERR_ARGUMENT, c.message, tr_step(e.arena.get(), &bad.batch, err, len));
        Batch again;
        CHECK_EQUAL(TR_OK, tr_step(e.arena.get(), &again.batch, nullptr, 0));
        CHECK(again.rows[1].token == token && again.rows[1].logsumexp == logsumexp);
    }
    Batch b;
    CHECK_REFUSED(TR_ERR_ARGUMENT, "arena is NULL", tr_step(nullptr, &b.batch, err, len));
    CHECK_REFUSED(TR_ERR_ARGUMENT, "tr_batch is NULL", tr_step(e.arena.get(), nullptr, err, len));
    std::vector<int32_t> many(18, 1);
    b.segments[1].tokens = many.data();
    b.segments[1].n_tokens = 18;
    CHECK_REFUSED(TR_ERR_ARGUMENT, "append 21 tokens; the arena was made for steps of at most 20", tr_step(e.arena.get(), &b.batch, err, len));
}

// Steps are counted that succeed. On the processor none is recorded.
void test_counts() {
    const Engine e(TinyModel{}.bytes(), {.n_pages = 1});
    tr_arena_info info{};
    CHECK_REFUSED(TR_ERR_ARGUMENT, "tr_arena_info.size is 0", tr_arena_describe(e.arena.get(), &info, err, len));
    info.size = sizeof info;
    CHECK_REFUSED(TR_ERR_ARGUMENT, "arena is NULL", tr_arena_describe(nullptr, &info, err, len));
    step(e, {{0, {1, 2}, {0}, {1}}});
    Batch b;
    b.batch.n_segments = 0;
    CHECK_REFUSED(TR_ERR_ARGUMENT, "n_segments is 0", tr_step(e.arena.get(), &b.batch, err, len));
    info.graph_hits = info.graph_misses = 7;
    CHECK_EQUAL(TR_OK, tr_arena_describe(e.arena.get(), &info, nullptr, 0));
    CHECK_EQUAL(uint64_t{1}, info.steps);
    CHECK_EQUAL(0, info.has_graphs);
    CHECK_EQUAL(uint64_t{0}, info.graph_hits + info.graph_misses);
}

// A page table may repeat pages of context, but no sequence outgrows the arena.
void test_small_arena() {
    const Engine e(TinyModel{}.bytes(), {.n_pages = 2});
    const std::vector<int32_t> pages = {0, 0, 1};
    Batch b;
    b.segments[0] = {sizeof(tr_segment), 64, b.tokens.data(), pages.data(), 3, 3};
    b.batch.n_segments = b.batch.n_rows = 1;
    CHECK_REFUSED(TR_ERR_ARGUMENT, "67 tokens are more than the arena's 2 pages hold", tr_step(e.arena.get(), &b.batch, err, len));
}

// ---- life and threads

// A handle freed too early frees nothing in use.
void test_order_of_ends() {
    Engine e(TinyModel{}.bytes());
    e.device.reset();
    e.model.reset();
    CHECK_EQUAL(1u, step(e, {{0, {1, 2}, {0}, {1}}}).size());
}

// Many threads on one arena and on two: each gets what it would get alone.
void test_threads() {
    const Engine one(TinyModel{}.bytes()), two(TinyModel{}.bytes());
    const auto tokens = random_tokens(40, 300, 1);
    const auto expected = step(one, {{0, tokens, {0, 1}, {39}}});
    std::vector<std::thread> threads;
    std::vector<int> wrong(6);
    for (int32_t t = 0; t < 6; t++) {
        threads.emplace_back([&, t] {
            const Engine &e = t % 2 ? one : two;
            for (int i = 0; i < 20; i++) {
                // Answers point into the arena until its next step, so with several threads only the row's own fields count.
                tr_segment s{sizeof s, 0, tokens.data(), nullptr, 40, 2};
                const std::vector<int32_t> pages = {2 * t, 2 * t + 1};
                s.pages = pages.data();
                tr_row r{};
                r.size = sizeof r;
                r.offset = 39;
                const tr_batch b{sizeof b, 1, 1, 0, &s, &r};
                if (tr_step(e.arena.get(), &b, nullptr, 0) != TR_OK || r.logsumexp != expected[0].logsumexp) wrong[static_cast<size_t>(t)]++;
            }
        });
    }
    for (std::thread &t : threads) t.join();
    for (const int w : wrong) CHECK_EQUAL(0, w);
}

// What a row wants comes, and nothing else.
void test_wants() {
    const Engine e(TinyModel{}.bytes());
    Batch b;
    b.rows[0].want = 0;
    b.rows[1].want = TR_WANT_HIDDEN | TR_WANT_LOGITS;
    b.rows[1].n_top = 2;
    CHECK_EQUAL(TR_OK, tr_step(e.arena.get(), &b.batch, nullptr, 0));
    CHECK(b.rows[0].token == -1 && !b.rows[0].hidden && !b.rows[0].logits && !b.rows[0].top_ids && b.rows[0].entropy > 0);
    CHECK(b.rows[1].token == -1 && b.rows[1].hidden && b.rows[1].logits && b.rows[1].top_ids);
    CHECK_EQUAL(b.rows[1].top_logits[0], b.rows[1].logits[b.rows[1].top_ids[0]]);
    b.batch.n_rows = 0;
    CHECK_EQUAL(TR_OK, tr_step(e.arena.get(), &b.batch, nullptr, 0));
}

// Float activations on dequantized weights: near the integer path, and not the same.
void test_exact_float() {
    TinyModel model;
    model.type = mixed_types;
    const Engine coded(model.bytes()), exact(model.bytes(), {.flags = TR_MODEL_EXACT_FLOAT});
    const auto tokens = random_tokens(20, 300, 1);
    const auto a = step(coded, {{0, tokens, {0}, {19}}}), b = step(exact, {{0, tokens, {0}, {19}}});
    double error = 0, length = 0;
    for (size_t i = 0; i < 300; i++) {
        error += std::pow(a[0].logits[i] - b[0].logits[i], 2);
        length += std::pow(b[0].logits[i], 2);
    }
    CHECK(error > 0 && std::sqrt(error / length) < 0.05);
}

} // namespace

int main() {
    test_device();
    test_bad_models();
    test_describe_and_progress();
    test_arena();
    test_bad_batches();
    test_small_arena();
    test_counts();
    test_order_of_ends();
    test_threads();
    test_wants();
    test_exact_float();
    return report();
}
