#pragma once
#include "gguf/metadata.h"

namespace tr::gguf {

// Checks the lists of a file's tokenizer against each other: as many types and scores as tokens, merges of two tokens each. The
// library does not tokenize, but a model whose vocabulary is damaged is refused before its weights are read. Throws Error.
void check_vocabulary_lists(const Metadata &metadata);

} // namespace tr::gguf
