// One step on a GPU. Per step one description of the batch goes in, and what rows want comes out, both through pinned memory.
#pragma once
#include "cuda/memory.h"

namespace tr::cuda {

// Runs a batch that was checked; arena.memory is a Memory. Throws Error; nothing that was queued runs any more then.
void run_step(tr_arena &arena, const tr_batch &batch);

} // namespace tr::cuda
