#include "arch/backend.h"

#include <cstring>

#include "arch/experts.h"

namespace tr::arch {

namespace {

void put(void *to, const void *from, size_t bytes) { std::memcpy(to, from, bytes); }

void reserve(cpu::Activations &acts, int64_t n, int64_t k, uint32_t forms) { acts.reserve(n, k, forms); }

void embed(cpu::Worker &w, const cpu::Matrix &m, const int32_t *ids, int64_t n, float scale, float *x) {
    for (int64_t i; (i = w.next(n)) < n;) {
        float *row = x + i * m.cols;
        cpu::embedding_row(m, ids[i], row);
        if (scale == 1) continue;
        for (int64_t d = 0; d < m.cols; d++) row[d] *= scale;
    }
    w.join();
}

} // namespace

Backend host_backend(const cpu::Ops &ops) { return {ops, true, cpu::allocate_buffer, put, reserve, embed, add_experts}; }

} // namespace tr::arch
