// A batch with anything at all in its fields is refused as a wrong argument, or is answered with ids and numbers in range.
// Pointers are the caller's promise: where the header says that n items lie behind one, they do.
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tokenrouter.h"

namespace {

constexpr int32_t kVocab = 258, kContext = 64; // of the model
constexpr int32_t kPages = 4, kTokens = 48, kRows = 6;
constexpr size_t kItems = 320;                 // behind each pointer: more than there are distinct ids, and than the context

// The bytes of the input as fields; zeros when they are used up.
class Input {
public:
    Input(const uint8_t *data, size_t size) : data_(data), size_(size) {}
    template <class T> T take() {
        T value{};
        const size_t n = size_ < sizeof value ? size_ : sizeof value;
        if (n == 0) return value; // an empty input may have no address
        std::memcpy(&value, data_, n);
        data_ += n;
        size_ -= n;
        return value;
    }
    // Mostly in [base, base+n], at times -1 or anything. The fields of an input of zeros make a good call.
    int32_t near(int32_t n, int32_t base = 0) {
        const auto choice = take<uint8_t>();
        if (choice == 255) return take<int32_t>();
        return choice == 254 ? -1 : base + choice % (n + 1);
    }
    // Mostly what a call would have.
    float number() {
        const auto choice = take<uint8_t>();
        return choice >= 250 ? take<float>() : static_cast<float>(choice) / 256;
    }
    bool seldom() { return take<uint8_t>() == 255; }

private:
    const uint8_t *data_;
    size_t size_;
};

struct Segment {
    std::array<int32_t, kItems> tokens, pages;
    tr_segment fill(Input &in, int32_t index) {
        tr_segment s{};
        s.size = in.seldom() ? in.take<uint32_t>() : sizeof s;
        for (int32_t &t : tokens) t = 7;
        for (size_t i = 0; i < kItems; i++) pages[i] = static_cast<int32_t>(i + static_cast<size_t>(index)) % kPages;
        s.n_tokens = in.near(7, 1);
        for (int32_t i = 0; i < s.n_tokens && i < 8; i++) tokens[static_cast<size_t>(i)] = in.near(kVocab - 1);
        s.position = in.near(40);
        const bool none = in.seldom();
        s.n_pages = in.near(2, 1);
        if (!none && s.n_pages > static_cast<int32_t>(kItems)) s.n_pages = static_cast<int32_t>(kItems);
        for (int32_t i = 0; i < s.n_pages && i < 4; i++) pages[static_cast<size_t>(i)] = in.near(kPages - 1, (i + index) % kPages);
        s.tokens = in.seldom() ? nullptr : tokens.data();
        s.pages = none ? nullptr : pages.data();
        return s;
    }
};

struct Row {
    std::array<int32_t, kItems> ids, counts;
    std::array<float, kItems> bias;
    std::array<uint32_t, kItems> valid, allowed;
    tr_sampling sampling;

    tr_row fill(Input &in) {
        tr_row r{};
        r.size = in.seldom() ? in.take<uint32_t>() : sizeof r;
        r.want = in.seldom() ? in.take<uint32_t>() : in.take<uint8_t>() % 8u;
        r.segment = in.near(2);
        r.offset = in.near(4);
        r.n_top = in.near(12);
        r.n_valid = in.near(kVocab);
        valid.fill(in.take<uint32_t>());
        allowed.fill(in.take<uint32_t>());
        r.valid = in.take<uint8_t>() % 2 ? valid.data() : nullptr;
        fill_sampling(in);
        r.sampling = in.seldom() ? nullptr : &sampling;
        return r;
    }

    void fill_sampling(Input &in) {
        tr_sampling &s = sampling;
        s = {};
        s.size = in.seldom() ? in.take<uint32_t>() : sizeof s;
        s.temperature = in.number();
        s.top_k = in.near(40);
        s.top_p = in.number();
        s.min_p = in.number();
        s.repetition_penalty = in.number();
        s.presence_penalty = in.number();
        s.frequency_penalty = in.number();
        s.seed = in.take<uint64_t>();
        for (size_t i = 0; i < kItems; i++) ids[i] = static_cast<int32_t>(i), counts[i] = 1, bias[i] = 0.5f;
        for (size_t i = 0; i < 4; i++) ids[i] = in.near(60, static_cast<int32_t>(i) * 64), counts[i] = in.near(5, 1), bias[i] = in.number();
        s.n_seen = in.near(5);
        s.n_bias = in.near(5);
        s.seen_ids = in.seldom() ? nullptr : ids.data();
        s.seen_counts = in.seldom() ? nullptr : counts.data();
        s.bias_ids = in.seldom() ? nullptr : ids.data();
        s.bias = in.seldom() ? nullptr : bias.data();
        s.allowed = in.take<uint8_t>() % 2 ? allowed.data() : nullptr;
    }
};

void demand(bool good, const char *what) {
    if (good) return;
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

tr_arena *open_arena() {
    tr_device_params device_params{};
    device_params.size = sizeof device_params;
    device_params.n_threads = 1;
    static tr_device *device = nullptr; // open until the end, as the arena is
    tr_model_params model_params{};
    model_params.size = sizeof model_params;
    static tr_model *model = nullptr;
    const tr_arena_params arena_params{sizeof(tr_arena_params), kPages, kTokens, kRows, TR_KV_F16};
    tr_arena *arena = nullptr;
    char err[512] = "";
    if (tr_device_open(&device_params, &device, err, sizeof err) != TR_OK ||
        tr_model_load(device, TR_GGUF_CORPUS "/whole-model.gguf", &model_params, &model, err, sizeof err) != TR_OK ||
        tr_arena_create(model, &arena_params, &arena, err, sizeof err) != TR_OK) {
        demand(false, err);
    }
    tr_model_info info{};
    info.size = sizeof info;
    demand(tr_model_describe(model, &info, err, sizeof err) == TR_OK && info.n_vocab == kVocab && info.n_ctx_train == kContext,
           "the model is not the one that this target was written for");
    return arena;
}

void check_answer(const tr_row &r) {
    demand(r.token >= -1 && r.token < kVocab, "a token is out of range");
    demand(!(r.entropy < -1e-3f), "an entropy is negative");
    for (int32_t i = 0; i < r.n_top; i++) demand(r.top_ids[i] >= -1 && r.top_ids[i] < kVocab, "an id of the largest is out of range");
    if (r.want & TR_WANT_LOGITS) demand(r.logits != nullptr && std::isfinite(r.logits[0]), "no logits");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static tr_arena *arena = open_arena();
    static std::array<Segment, 4> segments;
    static std::array<Row, 8> rows;
    Input in(data, size);
    std::array<tr_segment, 4> raw_segments{};
    std::array<tr_row, 8> raw_rows{};
    tr_batch batch{};
    batch.size = in.seldom() ? in.take<uint32_t>() : sizeof batch;
    batch.n_segments = 1 + in.take<uint8_t>() % 5;
    if (batch.n_segments == 5) batch.n_segments = 0;
    batch.n_rows = in.near(kRows);
    batch.reserved = in.seldom() ? in.take<int32_t>() : 0;
    for (int32_t i = 0; i < batch.n_segments; i++) raw_segments[static_cast<size_t>(i)] = segments[static_cast<size_t>(i)].fill(in, i);
    for (size_t i = 0; i < raw_rows.size(); i++) raw_rows[i] = rows[i].fill(in);
    batch.segments = in.seldom() ? nullptr : raw_segments.data();
    batch.rows = in.seldom() ? nullptr : raw_rows.data();

    char err[512] = "";
    const tr_status status = tr_step(arena, &batch, err, sizeof err);
    if (status == TR_OK) {
        for (int32_t i = 0; i < batch.n_rows; i++) check_answer(raw_rows[static_cast<size_t>(i)]);
    } else {
        demand(status == TR_ERR_ARGUMENT && err[0] != 0, err);
    }
    return 0;
}
