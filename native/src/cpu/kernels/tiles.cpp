#include "cpu/kernels/tile.h"

namespace tr::cpu::TR_ISA {

const TileFns &tile_fns_of(const Matrix &m) {
    if (m.layout == Layout::kFileRows) return kTilesExact;
    switch (m.type) {
    case quant::Type::Q4_K: return kTilesQ4K;
    case quant::Type::Q6_K: return kTilesQ6K;
    case quant::Type::Q5_0: return kTilesQ5_0;
    case quant::Type::Q8_0: return kTilesQ8_0;
    case quant::Type::F16: return kTilesF16;
    case quant::Type::F32: break;
    }
    return kTilesF32;
}

} // namespace tr::cpu::TR_ISA
