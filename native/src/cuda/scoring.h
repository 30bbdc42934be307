// The heads of a step, and what they make of its rows. All heads that rows of a block name score all rows of it: which row belongs to which
// is then no part of what is queued, and graphs serve any mixture.
#pragma once
#include <vector>

#include "cuda/memory.h"

namespace tr::cuda {

class Scoring {
public:
    // Holds the batch's heads for itself until its end: each has one working memory.
    Scoring(tr_arena &arena, const tr_batch &batch);

    // What follows is about the rows [begin, begin + n), a block of them.
    void set_block(int32_t begin, int32_t n);
    // The ids of its heads, rising.
    std::vector<uint64_t> ids() const;
    // Whether heads wait for a token that the processor draws.
    bool waits() const { return waits_; }

    // Queues the scores of `rows` rows, the block's and those that fill it up, from what look() has left on the device.
    void queue(int32_t rows) const;
    // The same, after the processor has drawn.
    void queue_drawn() const;
    // Queues the way of the scores out of the device.
    void queue_out() const;
    // Gives the rows their scores, once they are answered and the stream has been waited for.
    void answer() const;

private:
    int32_t stride() const;
    const float *hidden() const;
    void queue_heads(int32_t rows) const;

    tr_arena &a_;
    const tr_batch &batch_;
    Memory &m_;
    std::vector<std::unique_lock<std::mutex>> held_;
    int32_t begin_ = 0, n_ = 0;
    std::vector<const tr_head *> heads_; // of the block, by id
    bool waits_ = false;
};

} // namespace tr::cuda
