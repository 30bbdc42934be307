// Brings a file's tensors into a model: by name, with their shapes checked, packed for the operators.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/memory.h"
#include "cpu/ops.h"
#include "gguf/file.h"

namespace tr::arch {

// What a model is loaded with.
struct LoadOptions {
    const cpu::Ops &ops;
    cpu::Pool &pool;
    bool exact_float;     // Matrix::exact_float for every matrix
    int32_t *progress;    // NULL, or where thousandths done are stored atomically
};

// First every tensor is claimed, then finish() reads them all. Every method throws Error naming the tensor.
class Loader {
public:
    Loader(const gguf::File &file, const LoadOptions &options) : file_(file), options_(options) {}

    bool has(const std::string &name) const { return file_.contents.find(name) != nullptr; }
    // A matrix of `inputs` times `outputs` weights. `m` must stay where it is until finish().
    void matrix(cpu::Matrix &m, const std::string &name, int64_t inputs, int64_t outputs);
    // A vector of floats, stored as F32, F16 or BF16.
    void vector(Array<float> &v, const std::string &name, int64_t n);
    // Packs all matrices that were claimed. A tensor of the file that nobody claimed is an error: the model would not be
    // what the file means.
    void finish();

    uint64_t n_params() const { return n_params_; }
    uint64_t weight_bytes() const { return weight_bytes_; }

private:
    struct Claim {
        cpu::Matrix *matrix;
        const gguf::Tensor *tensor;
    };
    const gguf::Tensor &claim(const std::string &name, int64_t inputs, int64_t outputs);
    void check_all_claimed() const;
    void pack(const Claim &claim);
    void check_type(const gguf::Tensor &t) const;
    void report(uint64_t done, uint64_t total) const;

    const gguf::File &file_;
    const LoadOptions &options_;
    std::vector<Claim> claims_;
    std::unordered_set<const gguf::Tensor *> claimed_;
    std::vector<std::vector<uint8_t>> staging_; // per worker, what it has read of the file and not packed yet
    uint64_t n_params_ = 0, weight_bytes_ = 0;
};

} // namespace tr::arch
