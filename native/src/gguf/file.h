// A model's GGUF file, or files: large models come in parts, NAME-00001-of-00003.gguf and so on, each a GGUF file with some
// of the tensors; the first has the metadata.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "gguf/contents.h"
#include "gguf/parts.h"
#include "gguf/source.h"

namespace tr::gguf {

// Open as long as this lives: the tensors' bytes are read from it.
class File {
public:
    // `path` is that of the file or of the first part. Throws Error naming the file that is at fault.
    explicit File(const char *path);

    Contents contents; // of all parts

    // Reads bytes [from, from+n) of a tensor into `to`. Any thread may call. Throws Error(TR_ERR_IO).
    void read(const Tensor &t, uint64_t from, size_t n, void *to) const { parts_[t.part].source.read(t.offset + from, n, to); }
    // Says that a tensor will be read soon.
    void will_need(const Tensor &t) const { parts_[t.part].source.will_need(t.offset, t.bytes); }
    size_t n_parts() const { return parts_.size(); }

private:
    struct Part {
        Source source;
        Head head; // what contents points into
    };
    Contents open(const std::string &path);
    void add_parts(const Split &split);

    std::vector<Part> parts_;
};

} // namespace tr::gguf
