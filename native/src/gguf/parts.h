// What the files of a model in parts say of each other (keys split.*) and how they are named.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gguf/contents.h"

namespace tr::gguf {

// The keys split.* of one file.
struct Split {
    uint32_t number = 0;             // split.no, from 0
    uint32_t count = 1;              // split.count, at least 1
    std::optional<uint64_t> tensors; // split.tensors.count, of all parts together
};

// `path` is for the faults. They begin with "gguf: parts: ", as all here do.
Split read_split(const Contents &contents, std::string_view path);

// Checks the keys of the file that the user named, which is the whole model or its first part.
void check_first(const Split &split, const Contents &contents, std::string_view path);

// The path of part `number` (from 0), next to the first part at `first`. The name ends as check_first has seen.
std::string part_path(std::string_view first, uint32_t number, uint32_t count);

// Checks part `number` against the first one.
void check_part(const Contents &part, uint32_t number, const Split &split, const Contents &first, std::string_view path);

// "part 2 of 3", and the file's name without its directory where there is a path.
std::string part_label(uint32_t number, uint32_t count, std::string_view path = {});

} // namespace tr::gguf
