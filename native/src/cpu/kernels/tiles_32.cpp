#include "cpu/kernels/q5_0.h"
#include "cpu/kernels/q8_0.h"

namespace tr::cpu::TR_ISA {

const TileFns kTilesQ5_0 = tile_fns<FormatQ5_0>();
const TileFns kTilesQ8_0 = tile_fns<FormatQ8_0>();

} // namespace tr::cpu::TR_ISA
