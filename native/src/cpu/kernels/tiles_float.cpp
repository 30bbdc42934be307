#include "cpu/kernels/floats.h"

namespace tr::cpu::TR_ISA {

const TileFns kTilesF32 = tile_fns<FormatF32>();
const TileFns kTilesF16 = tile_fns<FormatF16<load_half>>();
const TileFns kTilesBF16 = tile_fns<FormatF16<load_bfloat>>();
const TileFns kTilesExact = exact_fns(std::make_integer_sequence<int, kMaxColumns>());

} // namespace tr::cpu::TR_ISA
