// The table of the reference: compiled for the baseline processor, runs everywhere.
#include "cpu/panels.h"
#include "cpu/reference/reference.h"

namespace tr::cpu::reference {

namespace {

size_t packed_bytes(Matrix &m) { return cpu::packed_bytes(m, Layout::kFileRows); }

} // namespace

extern const Ops kTable;
const Ops kTable = {
    .isa = "reference",
    .packed_bytes = packed_bytes,
    .pack = cpu::pack,
    .prepare = prepare,
    .rms_norm = rms_norm,
    .add_norm = add_norm,
    .matmul = matmul,
    .matmul_add = matmul_add,
    .matmul_gated = matmul_gated,
    .rope_store = rope_store,
    .attention = attention,
    .softmax_stats = softmax_stats,
    .exp_shifted = exp_shifted,
};

} // namespace tr::cpu::reference
