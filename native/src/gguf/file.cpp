#include "gguf/file.h"

namespace tr::gguf {

Contents File::open(const std::string &path) {
    Source source(path);
    Head head(source, kLargestHead);
    parts_.push_back({std::move(source), std::move(head)});
    Part &part = parts_.back();
    return Contents::parse(Cursor(part.head, part.source));
}

File::File(const char *path) {
    contents = open(path);
    const Split split = read_split(contents, path);
    check_first(split, contents, path);
    if (split.count > 1) add_parts(split);
}

void File::add_parts(const Split &split) {
    const std::string first = parts_[0].source.path();
    for (uint32_t i = 1; i < split.count; i++) {
        const std::string path = part_path(first, i, split.count);
        Contents part;
        try {
            part = open(path);
        } catch (const Error &e) {
            fail(e.status(), "gguf: parts: %s: %s", part_label(i, split.count, path).c_str(), e.what());
        }
        check_part(part, i, split, contents, path);
        if (const Tensor *twice = contents.add(part, i)) {
            fail(TR_ERR_FORMAT, "gguf: parts: %s: tensor %s is in part %u too", part_label(i, split.count, path).c_str(),
                 quoted(twice->name).c_str(), contents.find(twice->name)->part + 1);
        }
    }
    if (contents.tensors().size() != *split.tensors) {
        fail(TR_ERR_FORMAT, "gguf: parts: the %u parts have %zu tensors, but split.tensors.count is %llu: tensors are missing or too many",
             split.count, contents.tensors().size(), static_cast<unsigned long long>(*split.tensors));
    }
}

} // namespace tr::gguf
