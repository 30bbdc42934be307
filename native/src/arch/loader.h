// Brings a file's tensors into a model: by name, with their shapes checked, packed for the operators.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "arch/backend.h"
#include "base/memory.h"
#include "cpu/ops.h"
#include "gguf/file.h"

namespace tr::arch {

// What a model is loaded with.
struct LoadOptions {
    const Backend &backend;
    cpu::Pool &pool;      // that reads and packs
    bool exact_float;     // Matrix::exact_float for every matrix
    int32_t *progress;    // NULL, or where thousandths done are stored atomically
    bool check_only = false; // claim and check the tensors, but do not read the matrices: the model is of no use
};

// In which order the rows of a matrix, or the values of a vector, are to lie in memory.
enum class Rows : uint8_t {
    kAsStored,
    kNeighboursToHalves, // within each head: rows 0, 2, 4, ... of the file first, then 1, 3, 5, ...
};

// First every tensor is claimed, then finish() reads them all. Every method throws Error naming the tensor.
class Loader {
public:
    // head_dim: of the heads that Rows speaks of.
    Loader(const gguf::File &file, const LoadOptions &options, int32_t head_dim) : file_(file), options_(options), head_dim_(head_dim) {}

    bool has(const std::string &name) const { return file_.contents.find(name) != nullptr; }
    // A matrix of `inputs` times `outputs` weights. `m` must stay where it is until finish().
    void matrix(cpu::Matrix &m, const std::string &name, int64_t inputs, int64_t outputs, Rows rows = Rows::kAsStored);
    // `count` matrices of that size in one tensor. The vector must stay where it is until finish().
    void matrices(std::vector<cpu::Matrix> &m, const std::string &name, int64_t inputs, int64_t outputs, int64_t count);
    // A vector of floats, stored as F32, F16 or BF16.
    void vector(Array<float> &v, const std::string &name, int64_t n, Rows rows = Rows::kAsStored);
    // The same, left in the processor's memory, whatever the backend.
    Array<float> numbers(const std::string &name, int64_t n, Rows rows = Rows::kAsStored);
    // Packs all matrices that were claimed. A tensor of the file that nobody claimed is an error: the model would not be
    // what the file means.
    void finish();

    uint64_t n_params() const { return n_params_; }
    uint64_t weight_bytes() const { return weight_bytes_; }

private:
    struct Claim {
        cpu::Matrix *matrix;
        const gguf::Tensor *tensor;
        uint64_t offset, bytes;     // of the matrix within the tensor
        Rows rows;
    };
    const gguf::Tensor &claim(const std::string &name, int64_t inputs, int64_t outputs, int64_t count = 1);
    void claim_matrix(cpu::Matrix &m, const gguf::Tensor &t, int64_t index, int64_t count, Rows rows);
    void check_all_claimed() const;
    std::vector<uint8_t> halves(const Claim &claim) const;
    void pack(const Claim &claim);
    void check_type(const gguf::Tensor &t) const;
    void report(uint64_t done, uint64_t total) const;

    const gguf::File &file_;
    const LoadOptions &options_;
    const int32_t head_dim_;
    std::vector<Claim> claims_;
    std::unordered_set<const gguf::Tensor *> claimed_;
    std::vector<std::vector<uint8_t>> staging_; // per worker, what it has read of the file and not packed yet
    uint64_t n_params_ = 0, weight_bytes_ = 0;
};

} // namespace tr::arch
