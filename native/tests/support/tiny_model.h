// qwen2 models of random weights, small enough to run thousands of steps.
#pragma once
#include <functional>

#include "support/gguf_writer.h"

namespace tr::test {

struct TinyModel {
    // Small, but with every part of a real one: several layers, grouped heads, blocks of 256 in every row.
    uint32_t n_vocab = 300, n_embd = 256, n_layer = 2, n_head = 4, n_head_kv = 2, n_ff = 512, n_ctx = 1024;
    bool tied = false;
    uint32_t seed = 1;
    // What channel 7 of the first feed-forward network's input is times the others, more or less, if not 1. At 250 about half of the
    // tokens have massive activations there (cpu/quantize.h).
    float massive = 1;
    // The type of a matrix by its name; all F32 if not set.
    std::function<quant::Type(const std::string &)> type;

    GgufWriter writer() const;
    Bytes bytes() const { return writer().bytes(); }
};

// One layer, as narrow as they come: for what happens behind the layers.
TinyModel narrow_model(uint32_t n_vocab);

// Several types, each in the roles it has in real files.
quant::Type mixed_types(const std::string &name);

} // namespace tr::test
