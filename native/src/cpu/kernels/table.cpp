// The table of one instruction set.
#include "cpu/kernels/operators.h"
#include "cpu/panels.h"

#define TR_TEXT_OF(name) #name
#define TR_TEXT(name) TR_TEXT_OF(name)

namespace tr::cpu::TR_ISA {

namespace {

size_t packed_bytes(Matrix &m) { return cpu::packed_bytes(m, TR_VECTOR_BITS == 512 ? Layout::kTiles32 : Layout::kTiles16); }

} // namespace

extern const Ops kTable;
const Ops kTable = {
    .isa = TR_TEXT(TR_ISA),
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

} // namespace tr::cpu::TR_ISA
