#include "gguf/contents.h"

#include <algorithm>
#include <bit>

#include "gguf/types.h"

namespace tr::gguf {

namespace {

// Smallest pair: key length, one byte of key, type, one byte of value. Smallest tensor: name length, one byte of name, number
// of dimensions, one dimension, type, offset.
constexpr uint64_t kSmallestPair = 8 + 1 + 4 + 1, kSmallestTensor = 8 + 1 + 4 + 8 + 4 + 8;

unsigned long long ull(uint64_t v) { return v; }

void check_version(Cursor &cursor) {
    const uint8_t *magic = cursor.take(4, "the magic", "not a GGUF file: ");
    if (std::memcmp(magic, "GGUF", 4) != 0) {
        const std::string found = quoted({reinterpret_cast<const char *>(magic), 4});
        cursor.fail(TR_ERR_FORMAT, "not a GGUF file: it begins with the bytes %s, expected \"GGUF\"", found.c_str());
    }
    const auto version = cursor.scalar<uint32_t>("the version");
    if (const uint32_t swapped = __builtin_bswap32(version); swapped == 2 || swapped == 3) {
        cursor.fail(TR_ERR_UNSUPPORTED, "the file is big-endian, expected little-endian: convert it");
    }
    if (version != 2 && version != 3) {
        cursor.fail(TR_ERR_UNSUPPORTED, "version is %u, expected 2 or 3: convert the model again with current tools", version);
    }
}

// A number of entries that the file has room for.
uint64_t read_count(Cursor &cursor, const char *what, uint64_t least) {
    const auto n = cursor.scalar<uint64_t>(what, "the number of ");
    if (n > cursor.remaining() / least) {
        cursor.fail(TR_ERR_FORMAT, "the file has %llu %s of at least %llu bytes each, but %llu bytes are left: it is truncated or the number is wrong",
                    ull(n), what, ull(least), ull(cursor.remaining()));
    }
    return n;
}

uint64_t alignment_of(const Metadata &metadata) {
    constexpr std::string_view kKey = "general.alignment";
    const Value *value = metadata.find(kKey);
    if (!value) return kDefaultAlignment;
    if (value->type != ValueType::U32) {
        fail_at(key_place(kKey), value->offset, TR_ERR_FORMAT, "is of type " + value->type_name() + ", expected uint32");
    }
    uint32_t alignment;
    std::memcpy(&alignment, value->bytes, sizeof alignment);
    if (!std::has_single_bit(alignment) || alignment > kLargestAlignment) {
        fail_at(key_place(kKey), value->offset, TR_ERR_FORMAT,
                "is " + std::to_string(alignment) + ", expected a power of two up to " + std::to_string(kLargestAlignment));
    }
    return alignment;
}

void read_shape(Cursor &cursor, Tensor &t) {
    t.n_dims = cursor.scalar<uint32_t>("the number of dimensions");
    if (t.n_dims < 1 || t.n_dims > kMostDims) cursor.fail(TR_ERR_FORMAT, "it has %u dimensions, expected 1 to %u", t.n_dims, kMostDims);
    std::fill(std::begin(t.dims), std::end(t.dims), 1);
    t.elements = 1;
    for (uint32_t i = 0; i < t.n_dims; i++) {
        t.dims[i] = cursor.scalar<uint64_t>("a dimension");
        if (t.dims[i] == 0) cursor.fail(TR_ERR_FORMAT, "dimension %u is 0", i);
        if (__builtin_mul_overflow(t.elements, t.dims[i], &t.elements) || t.elements > INT64_MAX) {
            cursor.fail(TR_ERR_FORMAT, "dimension %u is %llu: the number of elements overflows", i, ull(t.dims[i]));
        }
    }
}

void read_storage(Cursor &cursor, Tensor &t, uint64_t alignment) {
    const auto id = cursor.scalar<uint32_t>("the type");
    const Storage *s = storage(id);
    if (!s) cursor.fail(TR_ERR_FORMAT, "unknown tensor type %u: this build does not know the format", id);
    t.type = static_cast<quant::Type>(id);
    if (t.dims[0] % s->block != 0) {
        cursor.fail(TR_ERR_FORMAT, "a row has %llu elements, expected a multiple of the %u of a %s block", ull(t.dims[0]), s->block, s->name);
    }
    if (__builtin_mul_overflow(t.elements / s->block, uint64_t{s->bytes}, &t.bytes) || t.bytes > INT64_MAX) {
        cursor.fail(TR_ERR_FORMAT, "%llu elements of type %s: the number of bytes overflows", ull(t.elements), s->name);
    }
    t.offset = cursor.scalar<uint64_t>("the offset");
    if (t.offset % alignment != 0) {
        cursor.fail(TR_ERR_FORMAT, "its offset %llu is no multiple of the alignment %llu", ull(t.offset), ull(alignment));
    }
    if (t.offset > cursor.file_size()) {
        cursor.fail(TR_ERR_FORMAT, "its offset %llu lies behind the end of the file of %llu bytes", ull(t.offset), ull(cursor.file_size()));
    }
}

} // namespace

Contents Contents::parse(Cursor cursor) {
    Contents contents;
    cursor.in_header();
    check_version(cursor);
    const uint64_t n_tensors = read_count(cursor, "tensors", kSmallestTensor);
    const uint64_t n_pairs = read_count(cursor, "metadata pairs", kSmallestPair);
    contents.metadata_.read(cursor, n_pairs);
    const uint64_t alignment = alignment_of(contents.metadata_);
    contents.read_tensors(cursor, n_tensors, alignment);
    contents.place_tensors(cursor, alignment);
    return contents;
}

const Tensor *Contents::find(std::string_view name) const {
    const auto it = index_.find(name);
    return it == index_.end() ? nullptr : &tensors_[it->second];
}

const Tensor *Contents::add(const Contents &other, uint32_t part) {
    for (const Tensor &t : other.tensors_) {
        if (!index_.emplace(t.name, tensors_.size()).second) return &t;
        tensors_.push_back(t);
        tensors_.back().part = part;
    }
    return nullptr;
}

void Contents::read_tensors(Cursor &cursor, uint64_t count, uint64_t alignment) {
    tensors_.reserve(count);
    for (uint64_t i = 0; i < count; i++) {
        Tensor t{};
        t.entry = cursor.position();
        cursor.in_tensor(i);
        t.name = cursor.string(kLongestTensorName, "the name");
        if (t.name.empty()) cursor.fail(TR_ERR_FORMAT, "the name is empty");
        if (!is_utf8(t.name)) cursor.fail(TR_ERR_FORMAT, "the name %s is not UTF-8", quoted(t.name).c_str());
        cursor.in_named_tensor(t.name);
        if (!index_.emplace(t.name, i).second) cursor.fail(TR_ERR_FORMAT, "the name occurs twice");
        read_shape(cursor, t);
        read_storage(cursor, t, alignment);
        tensors_.push_back(t);
    }
}

// Makes offsets those of the file; every tensor lies in it, and no two overlap.
void Contents::place_tensors(const Cursor &cursor, uint64_t alignment) {
    const uint64_t start = (cursor.position() + alignment - 1) / alignment * alignment; // cannot wrap: both are small beside 2^64
    std::vector<const Tensor *> order;
    order.reserve(tensors_.size());
    for (Tensor &t : tensors_) {
        t.offset += start; // both are at most the size of a file and an alignment
        if (t.offset > cursor.file_size() || t.bytes > cursor.file_size() - t.offset) {
            fail_at(tensor_place(t.name), t.entry, TR_ERR_FORMAT,
                    format("its data of %llu bytes begins at byte %llu, but the file has only %llu bytes: "
                           "the file is truncated (download it again) or the offset is wrong", ull(t.bytes), ull(t.offset), ull(cursor.file_size())));
        }
        order.push_back(&t);
    }
    std::stable_sort(order.begin(), order.end(), [](const Tensor *a, const Tensor *b) { return a->offset < b->offset; });
    for (size_t i = 1; i < order.size(); i++) {
        const Tensor &a = *order[i - 1], &b = *order[i];
        if (a.offset + a.bytes > b.offset) {
            fail_at(tensor_place(b.name), b.entry, TR_ERR_FORMAT,
                    format("its data at byte %llu overlaps that of tensor %s, which ends at byte %llu", ull(b.offset), quoted(a.name).c_str(),
                           ull(a.offset + a.bytes)));
        }
    }
}

} // namespace tr::gguf
