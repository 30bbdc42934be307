#include "gguf/parts.h"

namespace tr::gguf {

namespace {

constexpr int64_t kMostParts = 99999; // five digits of a name

unsigned long long ull(uint64_t v) { return v; }

[[noreturn]] void fail_parts(const std::string &what) { fail(TR_ERR_FORMAT, "gguf: parts: %s", what.c_str()); }

std::string_view file_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

// "-00002-of-00003.gguf"
std::string suffix(uint32_t number, uint32_t count) { return format("-%05u-of-%05u.gguf", number + 1, count); }

uint64_t integer(const Metadata &m, std::string_view path, std::string_view key, uint64_t otherwise, int64_t most) {
    try {
        return static_cast<uint64_t>(m.find_integer(key, 0, most).value_or(static_cast<int64_t>(otherwise)));
    } catch (const Error &e) {
        fail_parts(quoted(file_name(path)) + ": " + e.what());
    }
}

// A part may repeat what the first says of the model, but not say something else.
void check_same(const Contents &part, const Contents &first, const char *key, const std::string &label) {
    const Value *here = part.metadata().find(key), *there = first.metadata().find(key);
    if (!here || !there || here->type != ValueType::String || there->type != ValueType::String || here->text == there->text) return;
    fail_parts(format("%s: %s is %s, but %s in the first part: it is part of another model", label.c_str(), key, quoted(here->text).c_str(),
                      quoted(there->text).c_str()));
}

} // namespace

std::string part_label(uint32_t number, uint32_t count, std::string_view path) {
    const std::string label = format("part %u of %u", number + 1, count);
    return path.empty() ? label : label + ", " + quoted(file_name(path));
}

Split read_split(const Contents &contents, std::string_view path) {
    const Metadata &m = contents.metadata();
    const std::string name = quoted(file_name(path));
    Split s;
    s.count = static_cast<uint32_t>(integer(m, path, "split.count", 1, kMostParts));
    if (s.count == 0) s.count = 1;
    s.number = static_cast<uint32_t>(integer(m, path, "split.no", 0, kMostParts));
    if (s.number >= s.count) fail_parts(format("%s: split.no is %u, expected less than split.count, which is %u", name.c_str(), s.number, s.count));
    if (m.find("split.tensors.count")) s.tensors = integer(m, path, "split.tensors.count", 0, INT64_MAX);
    else if (s.count > 1) fail_parts(format("%s is %s, but has no split.tensors.count", name.c_str(), part_label(s.number, s.count).c_str()));
    return s;
}

void check_first(const Split &s, const Contents &contents, std::string_view path) {
    const std::string_view name = file_name(path);
    const std::string own = suffix(s.number, s.count), first = suffix(0, s.count);
    if (s.number > 0) {
        const std::string wanted =
            name.ends_with(own) ? quoted(std::string(name.substr(0, name.size() - own.size())) + first) : "whose name ends in " + quoted(first);
        fail_parts(format("%s is %s of a model: name the first part, %s", quoted(name).c_str(), part_label(s.number, s.count).c_str(),
                          wanted.c_str()));
    }
    if (s.count > 1 && !name.ends_with(first)) {
        fail_parts(format("the file is %s, but its name %s does not end in %s: the others cannot be found",
                          part_label(0, s.count).c_str(), quoted(name).c_str(), quoted(first).c_str()));
    }
    if (s.count == 1 && s.tensors && *s.tensors != contents.tensors().size()) {
        fail_parts(format("the file has %zu tensors, but split.tensors.count is %llu", contents.tensors().size(), ull(*s.tensors)));
    }
}

std::string part_path(std::string_view first, uint32_t number, uint32_t count) {
    return std::string(first.substr(0, first.size() - suffix(0, count).size())) + suffix(number, count);
}

void check_part(const Contents &part, uint32_t number, const Split &split, const Contents &first, std::string_view path) {
    const std::string label = part_label(number, split.count, path);
    if (!part.metadata().find("split.count")) fail_parts(label + ": it has no split.count, so it is not part of a model");
    const Split s = read_split(part, path);
    if (s.count != split.count) fail_parts(format("%s: split.count is %u, but %u in the first part", label.c_str(), s.count, split.count));
    if (s.number != number) fail_parts(format("%s: split.no is %u, expected %u", label.c_str(), s.number, number));
    if (*s.tensors != *split.tensors) {
        fail_parts(format("%s: split.tensors.count is %llu, but %llu in the first part: it is part of another model", label.c_str(),
                          ull(*s.tensors), ull(*split.tensors)));
    }
    check_same(part, first, "general.architecture", label);
    check_same(part, first, "general.name", label);
}

} // namespace tr::gguf
