#include "cpu/kernels/tile.h"

namespace tr::cpu::TR_ISA {

const TileFns &tile_fns_of(const Matrix &m) {
    if (m.layout == Layout::kFileRows) return kTilesExact;
    switch (m.type) {
    case quant::Type::Q4_0: return kTilesQ4_0;
    case quant::Type::Q4_1: return kTilesQ4_1;
    case quant::Type::Q5_0: return kTilesQ5_0;
    case quant::Type::Q5_1: return kTilesQ5_1;
    case quant::Type::Q8_0: return kTilesQ8_0;
    case quant::Type::IQ4_NL: return kTilesIQ4_NL;
    case quant::Type::MXFP4: return kTilesMXFP4;
    case quant::Type::Q2_K: return kTilesQ2K;
    case quant::Type::Q3_K: return kTilesQ3K;
    case quant::Type::Q4_K: return kTilesQ4K;
    case quant::Type::Q5_K: return kTilesQ5K;
    case quant::Type::Q6_K: return kTilesQ6K;
    case quant::Type::IQ4_XS: return kTilesIQ4XS;
    case quant::Type::F16: return kTilesF16;
    case quant::Type::BF16: return kTilesBF16;
    case quant::Type::F32: break;
    }
    return kTilesF32;
}

} // namespace tr::cpu::TR_ISA
