// The architectures this build runs.
#pragma once
#include <memory>

#include "arch/loader.h"
#include "arch/model.h"

namespace tr::arch {

// Loads the model of a file. Throws Error; TR_ERR_UNSUPPORTED names an architecture that is not known.
std::unique_ptr<Model> load_model(const gguf::File &file, const LoadOptions &options);

// One function per architecture, each in the file of its name.
std::unique_ptr<Model> load_gemma3(const gguf::File &file, const LoadOptions &options);
std::unique_ptr<Model> load_llama(const gguf::File &file, const LoadOptions &options);
std::unique_ptr<Model> load_qwen2(const gguf::File &file, const LoadOptions &options);
std::unique_ptr<Model> load_qwen3(const gguf::File &file, const LoadOptions &options);
std::unique_ptr<Model> load_qwen3moe(const gguf::File &file, const LoadOptions &options);

} // namespace tr::arch
