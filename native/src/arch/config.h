// Metadata that all decoder architectures share, read and checked.
#pragma once
#include <string>

#include "arch/model.h"
#include "gguf/file.h"

namespace tr::arch {

// The shape that the keys of `prefix` ("qwen2") state. Every number is checked for sanity and against the others. Throws
// Error; a setting that no architecture of this build computes is TR_ERR_UNSUPPORTED and names the key.
Shape read_shape(const gguf::Contents &file, const std::string &prefix);

// Throws Error(TR_ERR_UNSUPPORTED) if the file asks for a sliding attention window below its context length: for
// architectures that have none.
void refuse_window(const gguf::Metadata &metadata, const std::string &prefix, const Shape &shape);

// Throws Error(TR_ERR_UNSUPPORTED) if the file is a mixture of experts: for architectures of which this build runs only the dense form.
void refuse_experts(const gguf::Metadata &metadata, const std::string &prefix);
// Throws Error unless the file is a mixture of experts with a softmax router whose chosen weights sum to 1.
void require_experts(const gguf::Metadata &metadata, const std::string &prefix, const Shape &shape);

// Checks that the tokenizer in the file, if there is one, fits the n_vocab rows of the embedding.
void check_vocabulary(const gguf::Metadata &metadata, int32_t n_vocab);

} // namespace tr::arch
