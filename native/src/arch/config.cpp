#include "arch/config.h"

#include "base/error.h"

namespace tr::arch {

namespace {

// Far above any model, far below where products of them leave 64 bits.
constexpr int64_t kMostLayers = 4096, kMostHeads = 4096, kMostWidth = 1 << 20, kMostContext = 1 << 28;

constexpr int32_t kHeadDimStep = 16; // of the attention operator

void read_heads(const gguf::Metadata &m, const std::string &p, Shape &s) {
    s.n_head = static_cast<int32_t>(m.integer(p + "attention.head_count", 1, kMostHeads));
    s.n_head_kv = static_cast<int32_t>(m.find_integer(p + "attention.head_count_kv", 1, kMostHeads).value_or(s.n_head));
    if (s.n_head % s.n_head_kv != 0) {
        fail(TR_ERR_FORMAT, "%d attention heads cannot be shared out over %d key-value heads", s.n_head, s.n_head_kv);
    }
    const auto key_length = m.find_integer(p + "attention.key_length", 1, kMostWidth);
    if (!key_length && s.n_embd % s.n_head != 0) {
        fail(TR_ERR_FORMAT, "an embedding of %d cannot be shared out over %d attention heads", s.n_embd, s.n_head);
    }
    s.head_dim = static_cast<int32_t>(key_length.value_or(s.n_embd / s.n_head));
    const int64_t value_length = m.find_integer(p + "attention.value_length", 1, kMostWidth).value_or(s.head_dim);
    const int64_t rotated = m.find_integer(p + "rope.dimension_count", 1, kMostWidth).value_or(s.head_dim);
    if (value_length != s.head_dim || rotated != s.head_dim) {
        fail(TR_ERR_UNSUPPORTED, "keys of %d, values of %lld and %lld rotated dimensions: this build runs models where all three are equal",
             s.head_dim, static_cast<long long>(value_length), static_cast<long long>(rotated));
    }
    if (s.head_dim % kHeadDimStep != 0 || s.head_dim > cpu::kMaxHeadDim) {
        fail(TR_ERR_UNSUPPORTED, "attention heads of %d dimensions are not supported; multiples of %d up to %d are", s.head_dim,
             kHeadDimStep, cpu::kMaxHeadDim);
    }
}

void check_positions(const gguf::Metadata &m, const std::string &p, const Shape &s) {
    const auto scaling = m.find_string(p + "rope.scaling.type");
    if (scaling && *scaling != "none") {
        fail(TR_ERR_UNSUPPORTED, "rotary scaling of type %s is not supported; this build runs models without", quoted(*scaling).c_str());
    }
    if (const auto linear = m.find_number(p + "rope.scale_linear", 0, 1e9); linear && *linear != 0 && *linear != 1) {
        fail(TR_ERR_UNSUPPORTED, "linear rotary scaling by %g is not supported; this build runs models without", *linear);
    }
    const auto window = m.find_integer(p + "attention.sliding_window", 0, INT64_MAX);
    if (window && *window > 0 && *window < s.n_ctx_train) {
        fail(TR_ERR_UNSUPPORTED, "a sliding attention window of %lld tokens is not supported", static_cast<long long>(*window));
    }
}

} // namespace

Shape read_shape(const gguf::Contents &file, const std::string &prefix) {
    const gguf::Metadata &m = file.metadata();
    const std::string p = prefix + ".";
    Shape s{};
    s.n_layer = static_cast<int32_t>(m.integer(p + "block_count", 1, kMostLayers));
    s.n_embd = static_cast<int32_t>(m.integer(p + "embedding_length", 1, kMostWidth));
    s.n_ff = static_cast<int32_t>(m.integer(p + "feed_forward_length", 1, kMostWidth));
    s.n_ctx_train = static_cast<int32_t>(m.integer(p + "context_length", 1, kMostContext));
    s.norm_eps = static_cast<float>(m.number(p + "attention.layer_norm_rms_epsilon", 0, 0.1));
    s.rope_base = static_cast<float>(m.find_number(p + "rope.freq_base", 1, 1e12).value_or(10000));
    read_heads(m, p, s);
    check_positions(m, p, s);

    const gguf::Tensor *embedding = file.find("token_embd.weight");
    if (!embedding) fail(TR_ERR_FORMAT, "tensor \"token_embd.weight\" is missing");
    if (embedding->dims[1] > INT32_MAX) {
        fail(TR_ERR_FORMAT, "tensor \"token_embd.weight\" has %llu rows, more ids than 31 bits can count",
             static_cast<unsigned long long>(embedding->dims[1]));
    }
    s.n_vocab = static_cast<int32_t>(embedding->dims[1]);
    check_vocabulary(m, s.n_vocab);
    return s;
}

void check_vocabulary(const gguf::Metadata &m, int32_t n_vocab) {
    const auto tokens = m.find_array_size("tokenizer.ggml.tokens");
    if (tokens && *tokens != static_cast<uint64_t>(n_vocab)) {
        fail(TR_ERR_FORMAT, "the vocabulary has %llu tokens, but tensor \"token_embd.weight\" has %d rows",
             static_cast<unsigned long long>(*tokens), n_vocab);
    }
    for (const auto &[key, value] : m) {
        if (key.starts_with("tokenizer.ggml.") && key.ends_with("_token_id")) m.integer(key, 0, n_vocab - 1);
    }
}

} // namespace tr::arch
