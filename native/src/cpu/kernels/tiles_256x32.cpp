// Formats with blocks of 256 weights in sub-blocks of 32.
#include "cpu/kernels/q4_k.h"

namespace tr::cpu::TR_ISA {

const TileFns kTilesQ4K = tile_fns<FormatQ4K>();
const TileFns kTilesQ5K = tile_fns<FormatQ5K>();
const TileFns kTilesIQ4XS = tile_fns<FormatIQ4XS>();

} // namespace tr::cpu::TR_ISA
