// The scores of a step's rows by heads, on the processor.
#pragma once
#include "api/handles.h"

namespace tr::api {

class Scores final : public StepMemory {
public:
    // For the steps of an arena. Throws Error(TR_ERR_NO_MEMORY).
    explicit Scores(const tr_arena &arena);
    // Finds the rows of a batch that name a head; before run().
    void begin(const tr_batch &batch);
    // Scores them, once they are answered and their hidden states are in arena.hidden; called by all workers of a pool run. Joins.
    void run(const tr_arena &arena, const tr_batch &batch, cpu::Worker &worker);

private:
    void score(const tr_arena &arena, const tr_batch &batch, const int32_t *rows, int32_t n, cpu::Worker &worker);

    int32_t n_ = 0;
    Array<int32_t> rows_;               // [max_rows] that name a head, those of a head side by side
    Array<float> hidden_, top_logits_;  // [kMaxRows] of a head's rows, as heads::Inputs has them
    Array<int32_t> tokens_;
    Array<float> scores_;
};

} // namespace tr::api
