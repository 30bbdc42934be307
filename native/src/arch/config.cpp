#include "arch/config.h"

#include "base/error.h"

namespace tr::arch {

namespace {

// Far above any model, far below where products of them leave 64 bits.
constexpr int64_t kMostLayers = 4096, kMostHeads = 4096, kMostWidth = 1 << 20, kMostContext = 1 << 28, kMostExperts = 4096;

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

// Settings of other models that change what is computed: fine if absent or of the value that does nothing.
void refuse_settings(const gguf::Metadata &m, const std::string &p) {
    struct Number {
        const char *key;
        double neutral; // 0 is neutral, too
    };
    static constexpr Number kNumbers[] = {
        {"attn_logit_softcapping", 0},  {"final_logit_softcapping", 0},      {"logit_scale", 1},         {"embedding_scale", 1},
        {"residual_scale", 1},          {"attention.clamp_kqv", 0},          {"attention.scale", 0},     {"expert_weights_scale", 1},
        {"attention.max_alibi_bias", 0}, {"attention.temperature_scale", 0},
    };
    for (const Number &n : kNumbers) {
        const auto value = m.find_number(p + n.key, -1e30, 1e30);
        if (!value || *value == 0 || *value == n.neutral) continue;
        fail(TR_ERR_UNSUPPORTED, "%s%s is %g: this build does not compute that", p.c_str(), n.key, *value);
    }
    static constexpr const char *kCounts[] = {
        "expert_shared_count",    "expert_group_count",     "leading_dense_block_count",
        "attention.q_lora_rank",  "attention.kv_lora_rank", "ssm.conv_kernel",
    };
    for (const char *key : kCounts) {
        const auto value = m.find_integer(p + key, 0, INT64_MAX);
        if (!value || *value == 0) continue;
        fail(TR_ERR_UNSUPPORTED, "%s%s is %lld: this build does not compute that", p.c_str(), key, static_cast<long long>(*value));
    }
}

// A mixture of experts, if the file has one.
void read_experts(const gguf::Metadata &m, const std::string &p, Shape &s) {
    s.n_expert = static_cast<int32_t>(m.find_integer(p + "expert_count", 0, kMostExperts).value_or(0));
    if (s.n_expert == 0) return;
    s.n_expert_used = static_cast<int32_t>(m.integer(p + "expert_used_count", 1, s.n_expert));
    s.n_ff_expert = static_cast<int32_t>(m.find_integer(p + "expert_feed_forward_length", 1, kMostWidth).value_or(s.n_ff));
}

} // namespace

void refuse_window(const gguf::Metadata &m, const std::string &prefix, const Shape &s) {
    const std::string key = prefix + ".attention.sliding_window";
    const auto window = m.find_integer(key, 0, INT64_MAX);
    if (window && *window > 0 && *window < s.n_ctx_train) {
        fail(TR_ERR_UNSUPPORTED, "%s is %lld: sliding attention windows are not supported for this architecture", key.c_str(),
             static_cast<long long>(*window));
    }
}

void refuse_experts(const gguf::Metadata &m, const std::string &prefix) {
    const std::string key = prefix + ".expert_count";
    const auto count = m.find_integer(key, 0, INT64_MAX);
    if (count && *count > 0) {
        fail(TR_ERR_UNSUPPORTED, "%s is %lld: mixtures of experts are not supported for this architecture", key.c_str(),
             static_cast<long long>(*count));
    }
}

void require_experts(const gguf::Metadata &m, const std::string &prefix, const Shape &s) {
    const std::string p = prefix + ".";
    if (s.n_expert == 0) fail(TR_ERR_FORMAT, "%sexpert_count is missing or 0: a mixture of experts needs experts", p.c_str());
    const auto gating = m.find_integer(p + "expert_gating_func", 0, INT32_MAX); // 0: not stated, 1: softmax
    if (gating && *gating > 1) {
        fail(TR_ERR_UNSUPPORTED, "%sexpert_gating_func is %lld; this build runs routers with a softmax (1)", p.c_str(),
             static_cast<long long>(*gating));
    }
}

Shape read_shape(const gguf::Contents &file, const std::string &prefix) {
    const gguf::Metadata &m = file.metadata();
    const std::string p = prefix + ".";
    Shape s{};
    s.n_layer = static_cast<int32_t>(m.integer(p + "block_count", 1, kMostLayers));
    s.n_embd = static_cast<int32_t>(m.integer(p + "embedding_length", 1, kMostWidth));
    s.n_ff = static_cast<int32_t>(m.integer(p + "feed_forward_length", 1, kMostWidth));
    s.n_ctx_train = static_cast<int32_t>(m.integer(p + "context_length", 1, kMostContext));
    s.norm_eps = static_cast<float>(m.number(p + "attention.layer_norm_rms_epsilon", 1e-12, 0.1));
    read_heads(m, p, s);
    read_experts(m, p, s);
    refuse_settings(m, p);

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
