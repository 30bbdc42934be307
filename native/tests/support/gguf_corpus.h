// The corpus of tiny GGUF files, good and bad, that both readers of the project are tested with (tests/testdata/gguf, made by
// internal/ggufcorpus), and a good file to change.
#pragma once
#include <string>
#include <vector>

#include "support/gguf_writer.h"

namespace tr::test {

// A line of the index. Verdicts: "good" and "whole" (a model that loads) are read; "container" is a fault at a byte of one
// file, "parts" between the files of a model, "model" a file that is read but makes no model.
struct CorpusCase {
    std::string path;    // to open
    std::string verdict;
    int64_t offset;      // of a container fault; else -1
    std::vector<std::string> words; // all are in the message
};

std::vector<CorpusCase> gguf_corpus();

Bytes read_file(const std::string &path);

// One metadata pair of every kind and two tensors, Q8_0 and F32.
GgufWriter good_writer();

} // namespace tr::test
