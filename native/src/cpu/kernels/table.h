// Everything of one instruction set. The including file defines what simd/simd.h asks for, and the table's name.
#pragma once
#include "cpu/kernels/attention.h"
#include "cpu/kernels/matmul.h"
#include "cpu/kernels/quantize.h"
#include "cpu/kernels/rope.h"
#include "cpu/kernels/softmax.h"

namespace tr::cpu::TR_ISA {
namespace {

size_t packed_bytes(Matrix &m) { return cpu::packed_bytes(m, kTileRows == 32 ? Layout::kTiles32 : Layout::kTiles16); }

} // namespace

extern const Ops kTable;
const Ops kTable = {
    .isa = TR_ISA_NAME,
    .packed_bytes = packed_bytes,
    .pack = cpu::pack,
    .prepare = prepare,
    .rms_norm = rms_norm,
    .matmul = matmul,
    .matmul_add = matmul_add,
    .matmul_silu = matmul_silu,
    .rope_store = rope_store,
    .attention = attention,
    .softmax_stats = softmax_stats,
    .exp_shifted = exp_shifted,
};

} // namespace tr::cpu::TR_ISA
