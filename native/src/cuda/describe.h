// A batch as it goes to a GPU.
#pragma once
#include "cuda/memory.h"

namespace tr::cuda {

// Whether a row is answered where its logits are: all that do not ask for them.
bool answered_on_device(const tr_row &row, int32_t n_vocab);

// Queues what the device needs to know of a batch of n_columns, arranged in the arena; filled up to `shape` unless NULL.
void describe(tr_arena &arena, const tr_batch &batch, int32_t n_columns, const GraphShape *shape);

} // namespace tr::cuda
