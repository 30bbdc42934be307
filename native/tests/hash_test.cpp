// The same bits on every machine: hashes of small models' answers, in every weight format and every architecture, are those of
// data/hashes.txt, on every instruction set that this processor has.
//
// hash_test --write writes the file anew; a change of it is a change of what the engine computes, and has to be meant.
#include <cinttypes>
#include <cstring>
#include <fstream>
#include <map>

#include "support/check.h"
#include "support/engine.h"
#include "support/tiny_model.h"

using namespace tr;
using namespace tr::test;

namespace {

const char *const kFile = TR_TEST_DATA "/hashes.txt";

// FNV-1a, 64 bits.
class Hash {
public:
    void add(const std::vector<float> &values) {
        for (const float v : values) {
            uint8_t bytes[sizeof v];
            std::memcpy(bytes, &v, sizeof v);
            for (const uint8_t b : bytes) state_ = (state_ ^ b) * 0x100000001b3;
        }
    }
    uint64_t value() const { return state_; }

private:
    uint64_t state_ = 0xcbf29ce484222325;
};

// Of the hidden states and logits of a prefill of 70 tokens, which crosses two pages, and of 6 more one by one.
uint64_t hash_of(const Engine &e) {
    constexpr int32_t kPrompt = 70, kLength = 76;
    const auto tokens = random_tokens(kLength, e.info.n_vocab, 11);
    Hash hash;
    const auto add = [&](const std::vector<Answer> &answers) {
        for (const Answer &a : answers) {
            hash.add(a.hidden);
            hash.add(a.logits);
        }
    };
    add(step(e, {{0, {tokens.begin(), tokens.begin() + kPrompt}, upto(3), {0, 31, 32, kPrompt - 1}}}));
    for (int32_t i = kPrompt; i < kLength; i++) add(step(e, {{i, {tokens[static_cast<size_t>(i)]}, upto(3), {0}}}));
    return hash.value();
}

using Hashes = std::map<std::string, uint64_t>;

Hashes compute(const char *isa) {
    Hashes all;
    for (uint32_t id = 0; id < 64; id++) {
        const quant::TypeInfo *info = quant::type_info(id);
        if (!info) continue;
        TinyModel model;
        model.type = [info](const std::string &) { return info->type; };
        all[info->name] = hash_of(Engine(model.bytes(), {.isa = isa}));
    }
    TinyModel mixed;
    mixed.type = mixed_types;
    mixed.tied = true;
    all["mixed"] = hash_of(Engine(mixed.bytes(), {.isa = isa}));
    mixed.massive = 250;
    all["massive"] = hash_of(Engine(mixed.bytes(), {.isa = isa}));
    for (const char *name : {"gemma3-tiny", "llama-tiny-linear", "llama-tiny-llama3", "qwen2-tiny-tied", "qwen3-tiny-tied", "qwen3-tiny-yarn", "qwen3moe-tiny"})
        all[name] = hash_of(Engine((std::string(TR_TEST_DATA) + "/" + name + ".gguf").c_str(), {.isa = isa}));
    return all;
}

std::string text_of(const Hashes &hashes) {
    std::string text;
    for (const auto &[name, hash] : hashes) {
        char line[80];
        std::snprintf(line, sizeof line, "%s %016" PRIx64 "\n", name.c_str(), hash);
        text += line;
    }
    return text;
}

} // namespace

int main(int argc, char **argv) {
    if (argc > 1 && std::strcmp(argv[1], "--write") == 0) {
        std::ofstream(kFile) << text_of(compute("reference"));
        return 0;
    }
    std::ifstream in(kFile);
    const std::string expected{std::istreambuf_iterator<char>(in), {}};
    for (const std::string &isa : usable_isas()) {
        std::printf("%s\n", isa.c_str());
        CHECK_EQUAL(expected, text_of(compute(isa.c_str())));
    }
    return report();
}
