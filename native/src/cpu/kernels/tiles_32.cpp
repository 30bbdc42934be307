// Formats with blocks of 32 weights.
#include "cpu/kernels/five_bits.h"
#include "cpu/kernels/nibbles.h"
#include "cpu/kernels/q8_0.h"

namespace tr::cpu::TR_ISA {

const TileFns kTilesQ4_0 = tile_fns<FormatQ4_0>();
const TileFns kTilesQ4_1 = tile_fns<FormatQ4_1>();
const TileFns kTilesQ5_0 = tile_fns<FormatQ5_0>();
const TileFns kTilesQ5_1 = tile_fns<FormatQ5_1>();
const TileFns kTilesQ8_0 = tile_fns<FormatQ8_0>();
const TileFns kTilesIQ4_NL = tile_fns<FormatIQ4_NL>();
const TileFns kTilesMXFP4 = tile_fns<FormatMXFP4>();

} // namespace tr::cpu::TR_ISA
