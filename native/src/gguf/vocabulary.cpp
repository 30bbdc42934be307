#include "gguf/vocabulary.h"

namespace tr::gguf {

namespace {

constexpr const char *kTokens = "tokenizer.ggml.tokens";

void check_as_many(const Metadata &m, const char *key, uint64_t tokens) {
    const auto n = m.find_array_size(key);
    if (n && *n != tokens) {
        fail(TR_ERR_FORMAT, "metadata key \"%s\" has %llu entries, but %s has %llu: they must be equally many", key,
             static_cast<unsigned long long>(*n), kTokens, static_cast<unsigned long long>(tokens));
    }
}

// "left right", neither of them empty.
bool is_merge(std::string_view text) {
    const size_t space = text.find(' ');
    return space != 0 && space < text.size() - 1 && text.find(' ', space + 1) == text.npos;
}

} // namespace

void check_vocabulary_lists(const Metadata &m) {
    const auto tokens = m.find_array_size(kTokens);
    if (!tokens) return; // a model without its tokenizer
    m.each_string(kTokens, [](uint64_t, std::string_view) {});
    check_as_many(m, "tokenizer.ggml.token_type", *tokens);
    check_as_many(m, "tokenizer.ggml.scores", *tokens);
    m.each_string("tokenizer.ggml.merges", [](uint64_t i, std::string_view text) {
        if (is_merge(text)) return;
        fail(TR_ERR_FORMAT, "metadata key \"tokenizer.ggml.merges\": merge %llu is %s, expected two tokens with a space between",
             static_cast<unsigned long long>(i), quoted(text).c_str());
    });
}

} // namespace tr::gguf
