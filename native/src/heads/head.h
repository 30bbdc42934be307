// Router heads: small networks that score a row of a step. Each is a GGUF file of its own (docs/heads.md has the format), runs on
// the device of its model, and scores all rows of a step that name it together.
//
// Every sum of a row is taken in one order whatever the batch, so a score is as exact as the row that it is of. Float weights
// are multiplied in float32.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "arch/loader.h"
#include "arch/model.h"
#include "heads/operators.h"

namespace tr::heads {

// Rows that are scored at once.
constexpr int32_t kMaxRows = 64;

struct Source;

class Head {
public:
    explicit Head(const Source &source);
    virtual ~Head() = default;
    // scores[i] := the head's logit of row i, for i < n <= kMaxRows. Called by all workers of a pool run with the same
    // arguments; ends with all of them joined. One run at a time: the head has one working memory.
    virtual void score(cpu::Worker &worker, const Inputs &in, int32_t n, float *scores) = 0;

    std::string kind, name;
    int32_t n_embd = 0;
    int32_t n_top = 0;         // logits that a row must have asked for
    bool needs_token = false;  // whether a row must have asked for a token
    float threshold = 0;       // that the file recommends, of the logistic function of the score
    uint64_t n_params = 0, weight_bytes = 0;

protected:
    const arch::Backend backend_;
    const Operators &operators_;
};

// What a head is loaded from, for which model, and onto which device.
struct Source {
    const gguf::File &file;
    const arch::LoadOptions &options;
    const Operators &operators;
    std::shared_ptr<const arch::Model> model;
};

// Loads a head. Throws Error; TR_ERR_UNSUPPORTED names a kind that is not known.
std::unique_ptr<Head> load_head(const Source &source);

// One function per kind, each in the file of its name.
std::unique_ptr<Head> load_linear(const Source &source);
std::unique_ptr<Head> load_mlp(const Source &source);
std::unique_ptr<Head> load_residual(const Source &source);

} // namespace tr::heads
