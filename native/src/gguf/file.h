// A GGUF file, versions 2 and 3 (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md): mapped, checked, read in
// place. After `parse` returned, every tensor's bytes are known to lie in the file, aligned and apart from each other.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gguf/mapping.h"
#include "gguf/metadata.h"
#include "quant/types.h"

namespace tr::gguf {

struct Tensor {
    std::string_view name;
    quant::Type type;
    uint32_t n_dims;
    uint64_t dims[4];      // dims[0] is the fastest: the inputs of a matrix; absent ones are 1
    uint64_t elements;     // their product
    uint64_t bytes;
    const uint8_t *data;
};

// What a GGUF file says. Points into the bytes it was parsed from.
class Contents {
public:
    // Throws Error: TR_ERR_FORMAT for a broken file, TR_ERR_UNSUPPORTED for a valid one that this build does not read.
    static Contents parse(std::span<const uint8_t> bytes);

    const Metadata &metadata() const { return metadata_; }
    const std::vector<Tensor> &tensors() const { return tensors_; }
    const Tensor *find(std::string_view name) const;

private:
    void read_tensors(Cursor &cursor, uint64_t count);
    void place_tensors(std::span<const uint8_t> bytes, uint64_t after_records);

    Metadata metadata_;
    std::vector<Tensor> tensors_;
    std::vector<uint64_t> offsets_; // of tensors_, from the start of the data section
    std::unordered_map<std::string_view, size_t> index_;
};

// A mapped file and its contents. The mapping lives as long as this.
struct File {
    explicit File(const char *path) : mapping(path), contents(Contents::parse(mapping.bytes())) {}
    Mapping mapping;
    Contents contents;
};

} // namespace tr::gguf
