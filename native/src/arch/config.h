// Metadata that all decoder architectures share, read and checked.
#pragma once
#include <string>

#include "arch/model.h"
#include "gguf/file.h"

namespace tr::arch {

// The shape that the keys of `prefix` ("qwen2") state. Every number is checked for sanity and against the others. Throws
// Error; a setting that this build does not compute (a rotary scaling, a sliding window) is TR_ERR_UNSUPPORTED.
Shape read_shape(const gguf::Contents &file, const std::string &prefix);

// Checks that the tokenizer in the file, if there is one, fits the n_vocab rows of the embedding.
void check_vocabulary(const gguf::Metadata &metadata, int32_t n_vocab);

} // namespace tr::arch
