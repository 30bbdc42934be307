// Router heads of random weights, as files, and what they should make of a row.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/engine.h"
#include "support/gguf_writer.h"

namespace tr::test {

struct HeadFreer { void operator()(tr_head *h) const { tr_head_free(h); } };
using HeadPtr = std::unique_ptr<tr_head, HeadFreer>;

// Weights of a head by tensor name, for the file and for the check.
class Network {
public:
    // Matrices are of `type`; tensors of one value a row are F32.
    explicit Network(const char *kind, quant::Type type = quant::Type::F32, uint64_t seed = 1);
    void tensor(const std::string &name, std::vector<uint64_t> dims, float deviation, quant::Type type = quant::Type::F32);
    void dense(const std::string &name, uint64_t inputs, uint64_t outputs);
    // The values of an F32 tensor.
    const std::vector<float> &operator[](const std::string &name) const;

    GgufWriter file;

private:
    float uniform(); // in -1..1, the same on every machine
    quant::Type type_;
    uint64_t state_;
    std::vector<std::pair<std::string, std::vector<float>>> tensors_;
};

// One of each kind, for models of n_embd values. The defaults are of TinyModel, and sizes that are no multiple of a tile.
struct HeadSizes {
    uint64_t n_embd = 256, top = 20, width = 48, inner = 100;
    quant::Type type = quant::Type::F32;
    uint64_t seed = 1;
};
Network linear_head(const HeadSizes &sizes = {});
Network mlp_head(const HeadSizes &sizes = {});
Network residual_head(const HeadSizes &sizes = {});

// Throws std::runtime_error with the message of a failure.
HeadPtr load_head(const Engine &engine, const GgufWriter &file);

} // namespace tr::test
