// Writes GGUF files for tests, byte by byte, right or wrong as asked.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gguf/metadata.h"
#include "quant/types.h"

namespace tr::test {

using Bytes = std::vector<uint8_t>;

void append(Bytes &out, const void *bytes, size_t n);
template <class T> void put(Bytes &out, T value) { append(out, &value, sizeof value); }
void put_string(Bytes &out, std::string_view text);

struct TensorRecord {
    std::string name;
    std::vector<uint64_t> dims;
    uint32_t type;
    Bytes data;
    uint64_t offset = UINT64_MAX; // UINT64_MAX: where it belongs
};

class GgufWriter {
public:
    uint32_t version = 3;
    uint64_t alignment = 32;           // of the data; the key general.alignment is the caller's
    std::string magic = "GGUF";
    uint64_t extra_pairs = 0, extra_tensors = 0; // added to the counts of the header only
    std::vector<TensorRecord> tensors;

    void pair(std::string_view key, gguf::ValueType type, const Bytes &value);
    template <class T> void scalar(std::string_view key, gguf::ValueType type, T value) {
        Bytes bytes;
        put(bytes, value);
        pair(key, type, bytes);
    }
    void u32(std::string_view key, uint32_t value) { scalar(key, gguf::ValueType::U32, value); }
    void f32(std::string_view key, float value) { scalar(key, gguf::ValueType::F32, value); }
    void string(std::string_view key, std::string_view value);
    // Changes the value of a pair that u32() wrote.
    void replace_u32(std::string_view key, uint32_t value);
    void strings(std::string_view key, const std::vector<std::string> &values);

    Bytes bytes() const;

private:
    Bytes pairs_;
    uint64_t n_pairs_ = 0;
};

// A file with these bytes that is removed at the end.
class TemporaryFile {
public:
    explicit TemporaryFile(const Bytes &bytes);
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile &) = delete;
    TemporaryFile &operator=(const TemporaryFile &) = delete;
    const char *path() const { return path_.c_str(); }

private:
    std::string path_;
};

} // namespace tr::test
