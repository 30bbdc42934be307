// Formats with blocks of 256 weights in sub-blocks of 16.
#include "cpu/kernels/q6_k.h"
#include "cpu/kernels/two_bits.h"

namespace tr::cpu::TR_ISA {

const TileFns kTilesQ2K = tile_fns<FormatQ2K>();
const TileFns kTilesQ3K = tile_fns<FormatQ3K>();
const TileFns kTilesQ6K = tile_fns<FormatQ6K>();

} // namespace tr::cpu::TR_ISA
