// Shares a long loop among the workers in pieces that shrink towards its end: long enough at first to read memory in long
// streams, one unit at last so that all workers finish together, whoever is slowed down by what else the machine does.
#pragma once
#include "cpu/activations.h"
#include "cpu/pool.h"

namespace tr::cpu {

class Chunks {
public:
    TR_ALWAYS_INLINE Chunks(Worker &worker, int64_t units) : worker_(worker), units_(units), parts_(2 * worker.count()) {
        for (int64_t begin = 0; begin < units_; begin += length(begin)) count_++;
    }

    // The next piece [*begin, *end) of [0, units); false when none is left.
    TR_ALWAYS_INLINE bool next(int64_t *begin, int64_t *end) {
        const int64_t i = worker_.next(count_);
        if (i == count_) return false;
        for (; index_ < i; index_++) begin_ += length(begin_);
        *begin = begin_;
        *end = begin_ + length(begin_);
        return true;
    }

private:
    TR_ALWAYS_INLINE int64_t length(int64_t begin) const {
        const int64_t n = (units_ - begin) / parts_;
        return n > 1 ? n : 1;
    }

    Worker &worker_;
    int64_t units_, parts_, count_ = 0;
    int64_t index_ = 0, begin_ = 0; // the piece reached last
};

} // namespace tr::cpu
