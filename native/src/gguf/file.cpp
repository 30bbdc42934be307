#include "gguf/file.h"

#include <algorithm>

namespace tr::gguf {

namespace {

constexpr uint64_t kDefaultAlignment = 32, kLargestAlignment = 64 << 10;
constexpr uint32_t kMostDims = 4;
// Smallest tensor record: name length, one byte of name, number of dimensions, one dimension, type, offset.
constexpr uint64_t kSmallestTensor = 8 + 1 + 4 + 8 + 4 + 8;

unsigned long long ull(uint64_t v) { return v; }

void check_header(Cursor &cursor) {
    if (std::memcmp(cursor.take(4, "the magic"), "GGUF", 4) != 0) {
        fail(TR_ERR_FORMAT, "not a GGUF file: it does not begin with the four bytes \"GGUF\"");
    }
    const auto version = cursor.scalar<uint32_t>("the version");
    if (version == __builtin_bswap32(2) || version == __builtin_bswap32(3)) {
        fail(TR_ERR_UNSUPPORTED, "the file is a big-endian GGUF file; convert it to little-endian");
    }
    if (version != 2 && version != 3) {
        fail(TR_ERR_UNSUPPORTED, "GGUF version %u at byte 4 is not supported; versions 2 and 3 are", version);
    }
}

uint64_t alignment_of(const Metadata &metadata) {
    const Value *value = metadata.find("general.alignment");
    if (!value) return kDefaultAlignment;
    if (value->type != ValueType::U32) {
        fail(TR_ERR_FORMAT, "metadata key \"general.alignment\" is of type %s; expected u32", value_type_name(value->type));
    }
    uint32_t alignment;
    std::memcpy(&alignment, value->bytes, sizeof alignment);
    if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > kLargestAlignment) {
        fail(TR_ERR_FORMAT, "general.alignment is %u; expected a power of two of at most %llu", alignment, ull(kLargestAlignment));
    }
    return alignment;
}

void check_single_file(const Metadata &metadata) {
    const auto count = metadata.find_integer("split.count", 0, UINT16_MAX);
    if (count && *count > 1) {
        fail(TR_ERR_UNSUPPORTED, "the file is one of %lld parts of a split model; merge the parts into one file",
             static_cast<long long>(*count));
    }
}

// Fills the dimensions and what follows from them; every product is checked.
void read_dims(Cursor &cursor, Tensor &t) {
    t.n_dims = cursor.scalar<uint32_t>("a tensor's number of dimensions");
    if (t.n_dims < 1 || t.n_dims > kMostDims) {
        fail(TR_ERR_FORMAT, "tensor %s has %u dimensions; 1 to %u are allowed", quoted(t.name).c_str(), t.n_dims, kMostDims);
    }
    std::fill(std::begin(t.dims), std::end(t.dims), 1);
    t.elements = 1;
    for (uint32_t i = 0; i < t.n_dims; i++) {
        t.dims[i] = cursor.scalar<uint64_t>("a tensor's dimension");
        if (t.dims[i] == 0) fail(TR_ERR_FORMAT, "tensor %s has dimension %u of size 0", quoted(t.name).c_str(), i);
        if (__builtin_mul_overflow(t.elements, t.dims[i], &t.elements) || t.elements > INT64_MAX) {
            fail(TR_ERR_FORMAT, "tensor %s has more elements than 63 bits can count", quoted(t.name).c_str());
        }
    }
}

void read_type(Cursor &cursor, Tensor &t) {
    const auto id = cursor.scalar<uint32_t>("a tensor's type");
    const quant::TypeInfo *info = quant::type_info(id);
    if (!info) {
        fail(TR_ERR_UNSUPPORTED, "tensor %s is of type %s, which this build does not read; it reads %s", quoted(t.name).c_str(),
             quant::type_name(id), quant::supported_names().c_str());
    }
    t.type = info->type;
    if (t.dims[0] % info->block != 0) {
        fail(TR_ERR_FORMAT, "tensor %s has rows of %llu weights; type %s needs a multiple of %u", quoted(t.name).c_str(),
             ull(t.dims[0]), info->name, info->block);
    }
    if (__builtin_mul_overflow(t.elements / info->block, static_cast<uint64_t>(info->bytes), &t.bytes)) {
        fail(TR_ERR_FORMAT, "tensor %s has more bytes than 64 bits can count", quoted(t.name).c_str());
    }
}

} // namespace

Contents Contents::parse(std::span<const uint8_t> bytes) {
    Contents contents;
    Cursor cursor(bytes);
    check_header(cursor);
    const auto n_tensors = cursor.scalar<uint64_t>("the number of tensors");
    const auto n_pairs = cursor.scalar<uint64_t>("the number of metadata pairs");
    contents.metadata_.read(cursor, n_pairs);
    check_single_file(contents.metadata_);
    contents.read_tensors(cursor, n_tensors);
    contents.place_tensors(bytes, cursor.position());
    return contents;
}

const Tensor *Contents::find(std::string_view name) const {
    const auto it = index_.find(name);
    return it == index_.end() ? nullptr : &tensors_[it->second];
}

void Contents::read_tensors(Cursor &cursor, uint64_t count) {
    if (count > cursor.remaining() / kSmallestTensor) {
        fail(TR_ERR_FORMAT, "the file claims %llu tensors, but only %llu bytes are left", ull(count), ull(cursor.remaining()));
    }
    tensors_.reserve(count);
    offsets_.reserve(count);
    for (uint64_t i = 0; i < count; i++) {
        Tensor t{};
        const uint64_t at = cursor.position();
        t.name = cursor.string(kLongestName, "a tensor's name");
        if (t.name.empty()) fail(TR_ERR_FORMAT, "the tensor name at byte %llu is empty", ull(at));
        read_dims(cursor, t);
        read_type(cursor, t);
        offsets_.push_back(cursor.scalar<uint64_t>("a tensor's offset"));
        if (!index_.emplace(t.name, i).second) fail(TR_ERR_FORMAT, "tensor %s at byte %llu occurs twice", quoted(t.name).c_str(), ull(at));
        tensors_.push_back(t);
    }
}

// Gives every tensor its bytes: within the file, aligned, and no two overlap.
void Contents::place_tensors(std::span<const uint8_t> bytes, uint64_t after_records) {
    const uint64_t alignment = alignment_of(metadata_);
    const uint64_t start = (after_records + alignment - 1) / alignment * alignment; // cannot wrap: both are small beside 2^64
    const uint64_t room = start <= bytes.size() ? bytes.size() - start : 0;
    for (size_t i = 0; i < tensors_.size(); i++) {
        Tensor &t = tensors_[i];
        const uint64_t offset = offsets_[i];
        if (offset % alignment != 0) {
            fail(TR_ERR_FORMAT, "tensor %s is at offset %llu, which is not a multiple of the alignment %llu",
                 quoted(t.name).c_str(), ull(offset), ull(alignment));
        }
        if (offset > room || t.bytes > room - offset) {
            fail(TR_ERR_FORMAT, "tensor %s needs %llu bytes at offset %llu of the data section, which has only %llu: the file "
                 "is cut short or its offset is wrong", quoted(t.name).c_str(), ull(t.bytes), ull(offset), ull(room));
        }
        t.data = bytes.data() + start + offset;
    }
    std::vector<const Tensor *> order(tensors_.size());
    std::transform(tensors_.begin(), tensors_.end(), order.begin(), [](const Tensor &t) { return &t; });
    std::sort(order.begin(), order.end(), [](const Tensor *a, const Tensor *b) { return a->data < b->data; });
    for (size_t i = 1; i < order.size(); i++) {
        if (order[i - 1]->data + order[i - 1]->bytes > order[i]->data) {
            fail(TR_ERR_FORMAT, "tensors %s and %s overlap in the file", quoted(order[i - 1]->name).c_str(),
                 quoted(order[i]->name).c_str());
        }
    }
}

} // namespace tr::gguf
