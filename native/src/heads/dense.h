// Parts of heads.
#pragma once
#include "arch/loader.h"

namespace tr::heads {

// y = W x + b for up to kMaxRows columns.
class Dense {
public:
    // Claims `name`.weight [inputs, outputs] and `name`.bias [outputs] of the file.
    void load(arch::Loader &loader, const std::string &name, int64_t inputs, int64_t outputs);
    // Allocates what run() works in; after loading. Throws Error(TR_ERR_NO_MEMORY).
    void reserve(const arch::Backend &backend);
    // y := W x + b for n columns of x, `inputs` apart; those of y are `stride` apart. Joins.
    void run(const cpu::Ops &ops, cpu::Worker &w, const float *x, int64_t n, float *y, int64_t stride);

    int64_t inputs() const { return weight_.cols; }
    int64_t outputs() const { return weight_.rows; }

private:
    cpu::Matrix weight_;
    Array<float> bias_;
    cpu::Activations acts_;
};

// The rows of the matrix `name` in the file, and its columns: sizes of a head follow from its tensors. Throws Error if it is missing.
struct Size {
    int64_t inputs, outputs;
};
Size size_of(const gguf::File &file, const std::string &name);

} // namespace tr::heads
