#include "cpu/kernels/q4_k.h"
#include "cpu/kernels/q6_k.h"

namespace tr::cpu::TR_ISA {

const TileFns kTilesQ4K = tile_fns<FormatQ4K>();
const TileFns kTilesQ6K = tile_fns<FormatQ6K>();

} // namespace tr::cpu::TR_ISA
