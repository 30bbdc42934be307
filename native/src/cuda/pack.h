// Rows of a file's matrices as kernels read them; see kernels/layout.h.
#pragma once
#include <cstdint>

#include "cpu/ops.h"
#include "cuda/kernels/layout.h"

namespace tr::cuda {

// How the matrix lies in device memory. With exact_float it lies there as F32.
MatrixView view(const cpu::Matrix &m);
// The bytes of all its rows.
int64_t packed_bytes(const cpu::Matrix &m);
// Packs m.rows rows of the file at src into host memory.
void pack(const cpu::Matrix &m, const uint8_t *src, uint8_t *out);

} // namespace tr::cuda
