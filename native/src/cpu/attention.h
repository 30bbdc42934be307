// How attention divides its work. All tables share it; the arithmetic is in kernels/attention.h and reference/.
//
// Consecutive query tokens of one sequence form a block, and a block's (token, head) pairs that read the same kv head are the
// rows of an item: what is loaded of K and V serves them all. A row's result over a KV segment is (max, sum, vector); those of its
// segments are merged in order. With few tokens every (item, segment) is a piece of work of its own, whose results go to
// the scratch and are merged by whoever finishes the item's last; with many tokens an item is one piece. Same bits.
#pragma once
#include <atomic>

#include "cpu/activations.h"
#include "cpu/memory.h"
#include "cpu/ops.h"

namespace tr::cpu {

constexpr int kMaxRows = 32;              // rows of an item
constexpr int64_t kPartialSlots = 4096;   // (row, segment) results that the scratch holds

// One row over one segment: m = max of scores, l = sum of exp(score - m), o = sum of exp(score - m) * value.
struct PartialView {
    float *m, *l, *o; // o: head_dim floats
};

struct AttentionScratch::Impl {
    Buffer slots{nullptr, nullptr};       // [kPartialSlots][slot_floats]
    int64_t slot_floats = 0;
    std::atomic<int32_t> done[kPartialSlots]; // segments finished, per item; zero between calls

    TR_ALWAYS_INLINE PartialView slot(int64_t i) {
        float *p = reinterpret_cast<float *>(slots.get()) + i * slot_floats;
        return {p, p + 1, p + 16};
    }
};

// Rows of one item.
struct AttentionItem {
    int64_t token, tokens;      // first query token and count
    int32_t head, heads;        // first query head and count; row = token * heads + head
    int32_t head_kv;
    int64_t segments;           // KV segments that its tokens see, from first_segment on
    int64_t first_segment;      // the first one that the first token sees
    int64_t slot;               // first slot: [row][segment]
    int64_t index;              // of the item
};

// The first position that a token at `position` sees.
TR_ALWAYS_INLINE int64_t first_seen(const AttentionShape &shape, int64_t position) {
    return shape.window > 0 && position >= shape.window ? position + 1 - shape.window : 0;
}

// Walks the items of a batch in order. Every worker walks for itself, forwards only.
class AttentionWalk {
public:
    TR_ALWAYS_INLINE AttentionWalk(const AttentionShape &shape, const QueryToken *tokens, int64_t n)
        : shape_(shape), all_(tokens), n_(n), group_(shape.n_head / shape.n_head_kv), heads_(group_ < kMaxRows ? group_ : kMaxRows),
          spans_((group_ + heads_ - 1) / heads_), block_(kMaxRows / heads_) {}

    TR_ALWAYS_INLINE bool next(AttentionItem &item) {
        if (span_ == static_cast<int64_t>(shape_.n_head_kv) * spans_) {
            span_ = 0;
            token_ += tokens_;
            tokens_ = 0;
        }
        if (token_ == n_) return false;
        if (tokens_ == 0) measure_block();
        const int32_t head_kv = static_cast<int32_t>(span_ / spans_), first = static_cast<int32_t>(span_ % spans_) * heads_;
        const int32_t heads = group_ - first < heads_ ? group_ - first : heads_;
        item = {token_, tokens_, head_kv * group_ + first, heads, head_kv, segments_, first_segment_, slot_, index_};
        slot_ += tokens_ * heads * segments_;
        index_++;
        span_++;
        return true;
    }

private:
    TR_ALWAYS_INLINE void measure_block() {
        tokens_ = 1;
        while (tokens_ < block_ && token_ + tokens_ < n_ && all_[token_ + tokens_].pages == all_[token_].pages &&
               all_[token_ + tokens_].position == all_[token_].position + tokens_)
            tokens_++;
        first_segment_ = first_seen(shape_, all_[token_].position) / kKvSegment;
        segments_ = all_[token_ + tokens_ - 1].position / kKvSegment + 1 - first_segment_;
    }

    const AttentionShape &shape_;
    const QueryToken *all_;
    int64_t n_;
    int32_t group_, heads_, spans_;
    int64_t block_, token_ = 0, tokens_ = 0, segments_ = 0, first_segment_ = 0, span_ = 0, slot_ = 0, index_ = 0;
};

// Pieces of work of a batch, and whether they are (item, segment) pairs or whole items.
struct AttentionPlan {
    int64_t pieces;
    bool split;
};
TR_ALWAYS_INLINE AttentionPlan plan_attention(const AttentionShape &shape, const QueryToken *tokens, int64_t n) {
    AttentionWalk walk(shape, tokens, n);
    AttentionItem item;
    int64_t items = 0, pieces = 0, slots = 0;
    while (walk.next(item)) {
        items++;
        pieces += item.segments;
        slots = item.slot + item.tokens * item.heads * item.segments;
    }
    const bool split = slots <= kPartialSlots;
    return {split ? pieces : items, split};
}

} // namespace tr::cpu
