#include "support/gguf_writer.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <unistd.h>

namespace tr::test {

void append(Bytes &out, const void *bytes, size_t n) {
    if (n == 0) return;
    const size_t at = out.size();
    out.resize(at + n);
    std::memcpy(out.data() + at, bytes, n);
}

void put_string(Bytes &out, std::string_view text) {
    put<uint64_t>(out, text.size());
    append(out, text.data(), text.size());
}

void GgufWriter::pair(std::string_view key, gguf::ValueType type, const Bytes &value) {
    put_string(pairs_, key);
    put(pairs_, static_cast<uint32_t>(type));
    append(pairs_, value.data(), value.size());
    n_pairs_++;
}

void GgufWriter::string(std::string_view key, std::string_view value) {
    Bytes bytes;
    put_string(bytes, value);
    pair(key, gguf::ValueType::String, bytes);
}

void GgufWriter::strings(std::string_view key, const std::vector<std::string> &values) {
    Bytes bytes;
    put(bytes, static_cast<uint32_t>(gguf::ValueType::String));
    put<uint64_t>(bytes, values.size());
    for (const std::string &v : values) put_string(bytes, v);
    pair(key, gguf::ValueType::Array, bytes);
}

void GgufWriter::replace_u32(std::string_view key, uint32_t value) {
    Bytes head; // all of the pair but the value
    put_string(head, key);
    put(head, static_cast<uint32_t>(gguf::ValueType::U32));
    const auto at = std::search(pairs_.begin(), pairs_.end(), head.begin(), head.end());
    if (at == pairs_.end()) throw std::runtime_error("no pair " + std::string(key));
    std::memcpy(&*at + head.size(), &value, sizeof value);
}

Bytes GgufWriter::bytes() const {
    Bytes out;
    append(out, magic.data(), magic.size());
    put(out, version);
    put<uint64_t>(out, tensors.size() + extra_tensors);
    put<uint64_t>(out, n_pairs_ + extra_pairs);
    append(out, pairs_.data(), pairs_.size());
    const auto round_up = [this](uint64_t n) { return (n + alignment - 1) / alignment * alignment; };
    uint64_t offset = 0;
    for (const TensorRecord &t : tensors) {
        put_string(out, t.name);
        put(out, static_cast<uint32_t>(t.dims.size()));
        for (const uint64_t d : t.dims) put(out, d);
        put(out, t.type);
        put(out, t.offset == UINT64_MAX ? offset : t.offset);
        offset += round_up(t.data.size());
    }
    for (const TensorRecord &t : tensors) {
        out.resize(round_up(out.size()));
        append(out, t.data.data(), t.data.size());
    }
    return out;
}

TemporaryFile::TemporaryFile(const Bytes &bytes) {
    const char *directory = std::getenv("TMPDIR");
    path_ = std::string(directory ? directory : "/tmp") + "/tokenrouter-XXXXXX";
    const int fd = mkstemp(path_.data());
    if (fd < 0) throw std::runtime_error("cannot make a temporary file " + path_);
    std::FILE *file = fdopen(fd, "wb");
    const bool good = bytes.empty() || std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    if (std::fclose(file) != 0 || !good) throw std::runtime_error("cannot write " + path_);
}

TemporaryFile::~TemporaryFile() { unlink(path_.c_str()); }

} // namespace tr::test
