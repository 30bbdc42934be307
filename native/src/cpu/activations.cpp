#include "cpu/activations.h"

namespace tr::cpu {

namespace {

template <class Record> Buffer records(int64_t columns, int64_t k) {
    return allocate_buffer(static_cast<size_t>(columns * record_blocks<Record>(k)) * sizeof(Record));
}

} // namespace

Activations::Activations() : impl(std::make_shared<Impl>()) {}
Activations::Activations(Activations &&) noexcept = default;
Activations::~Activations() = default;

Activations Activations::from(int64_t first) const {
    Activations part(impl);
    part.first_column = first_column + first;
    return part;
}

void Activations::reserve(int64_t max_columns, int64_t max_k, uint32_t forms) {
    if (forms & kActF32) impl->f32 = records<RecordF32>(max_columns, max_k);
    if (forms & kActQ32) impl->q32 = records<RecordQ32>(max_columns, max_k);
    if (forms & kActQ256) {
        impl->q256 = records<RecordQ256>(max_columns, max_k);
        impl->remainders = records<RecordQ256>(max_columns, max_k);
        impl->marks = allocate_buffer(static_cast<size_t>(max_columns * record_blocks<RecordQ256>(max_k)));
    }
}

} // namespace tr::cpu
