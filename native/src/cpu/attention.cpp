#include "cpu/attention.h"

namespace tr::cpu {

AttentionScratch::AttentionScratch() : impl(std::make_unique<Impl>()) {}
AttentionScratch::~AttentionScratch() = default;

void AttentionScratch::reserve(int32_t max_head_dim) {
    impl->slot_floats = (max_head_dim + 15) / 16 * 16 + 16; // max and sum, then the vector on cache lines of its own
    impl->slots = allocate_buffer(static_cast<size_t>(kPartialSlots * impl->slot_floats) * sizeof(float));
    for (auto &done : impl->done) done.store(0, std::memory_order_relaxed);
}

} // namespace tr::cpu
