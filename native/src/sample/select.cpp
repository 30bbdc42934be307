#include "sample/select.h"

namespace tr::sample {

namespace {

// Whether any logit of a whole group is above the bound. The plain loop is what compilers turn into vector compares.
bool any_above(const float *x, float bound) {
    int any = 0;
    for (int i = 0; i < Mask::kBits; i++) any |= x[i] > bound;
    return any != 0;
}

} // namespace

int32_t argmax(const float *logits, const Mask &mask) {
    int32_t best = -1;
    for_each_group(mask, [&](int32_t base, uint32_t bits) {
        if (best >= 0 && base + Mask::kBits <= mask.n && !any_above(logits + base, logits[best])) return;
        for_each_id(base, bits, [&](int32_t id) {
            if (best < 0 ? logits[id] == logits[id] : logits[id] > logits[best]) best = id;
        });
    });
    return best;
}

int32_t select_top(const float *logits, const Mask &mask, int32_t k, int32_t *ids, float *values) {
    if (k <= 0) return 0;
    int32_t filled = 0;
    for_each_group(mask, [&](int32_t base, uint32_t bits) {
        if (filled == k && base + Mask::kBits <= mask.n && !any_above(logits + base, values[k - 1])) return;
        for_each_id(base, bits, [&](int32_t id) {
            const float value = logits[id];
            if (value != value || (filled == k && !(value > values[k - 1]))) return;
            int32_t at = filled < k ? filled++ : k - 1;
            // Ids come in ascending order, so an equal logit stays behind those already there.
            for (; at > 0 && values[at - 1] < value; at--) {
                values[at] = values[at - 1];
                ids[at] = ids[at - 1];
            }
            values[at] = value;
            ids[at] = id;
        });
    });
    return filled;
}

} // namespace tr::sample
