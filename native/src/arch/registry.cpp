#include "arch/registry.h"

#include "base/error.h"
#include "gguf/vocabulary.h"

namespace tr::arch {

namespace {

struct Architecture {
    const char *name; // general.architecture
    std::unique_ptr<Model> (*load)(const gguf::File &, const LoadOptions &);
};
constexpr Architecture kArchitectures[] = {
    {"gemma3", load_gemma3}, {"llama", load_llama}, {"qwen2", load_qwen2}, {"qwen3", load_qwen3}, {"qwen3moe", load_qwen3moe},
};

} // namespace

std::unique_ptr<Model> load_model(const gguf::File &file, const LoadOptions &options) {
    const std::string_view name = file.contents.metadata().string("general.architecture");
    for (const Architecture &a : kArchitectures) {
        if (name != a.name) continue;
        gguf::check_vocabulary_lists(file.contents.metadata());
        auto model = a.load(file, options);
        model->architecture = a.name;
        model->name = file.contents.metadata().find_string("general.name").value_or("");
        return model;
    }
    std::string known;
    for (const Architecture &a : kArchitectures) known += std::string(known.empty() ? "" : ", ") + a.name;
    fail(TR_ERR_UNSUPPORTED, "architecture %s is not supported; this build runs: %s", quoted(name).c_str(), known.c_str());
}

} // namespace tr::arch
