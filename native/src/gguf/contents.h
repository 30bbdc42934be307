// What one GGUF file says, versions 2 and 3 (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md), checked and read in
// place. After `parse` returned, every tensor's bytes are known to lie in the file, aligned and apart from each other.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gguf/metadata.h"
#include "quant/types.h"

namespace tr::gguf {

// Limits against files that are made to exhaust memory; those of models/gguf/limits.go.
constexpr uint64_t kLargestHead = 256 << 20; // metadata and tensor table together, in bytes
constexpr uint64_t kLongestTensorName = 64;
constexpr uint32_t kMostDims = 4;
constexpr uint64_t kDefaultAlignment = 32, kLargestAlignment = 64 << 10;

struct Tensor {
    std::string_view name;
    quant::Type type;      // any format that GGUF has; quant::type_info says whether this build runs it
    uint32_t n_dims;
    uint64_t dims[kMostDims]; // dims[0] is the fastest: the inputs of a matrix; absent ones are 1
    uint64_t elements;     // their product
    uint64_t bytes;
    uint64_t offset;       // of the bytes in their file
    uint32_t part;         // which file of the model they are in
    uint64_t entry;        // offset of the entry in the tensor table
};

// Points into the bytes it was parsed from.
class Contents {
public:
    // Throws Error: TR_ERR_FORMAT for a broken file, TR_ERR_UNSUPPORTED for a version that is not read.
    static Contents parse(std::span<const uint8_t> bytes) { return parse(Cursor(bytes)); }
    static Contents parse(Cursor cursor);

    const Metadata &metadata() const { return metadata_; }
    const std::vector<Tensor> &tensors() const { return tensors_; }
    const Tensor *find(std::string_view name) const;

    // Takes in the tensors of part number `part` of the same model. Gives the one of them whose name is here already, else NULL.
    const Tensor *add(const Contents &other, uint32_t part);

private:
    void read_tensors(Cursor &cursor, uint64_t count, uint64_t alignment);
    void place_tensors(const Cursor &cursor, uint64_t alignment);

    Metadata metadata_;
    std::vector<Tensor> tensors_;
    std::unordered_map<std::string_view, size_t> index_;
};

} // namespace tr::gguf
