// What the threads of a warp do together: every lane of the mask brings its part, the last one to come carries the operation out for
// all. A lane that is elsewhere, or asks for something else, is an error.
#pragma once
#include <cstdint>
#include <cstring>

#include "emulation/execution.h"

// Where a function is called. (As one parameter of a struct, GCC 12 takes the same place for all calls.)
#define TR_EMULATION_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

namespace tr::emulation {

struct Shuffle {
    uint64_t value, result;
    int source;
};
struct Ballot {
    uint32_t bit, result;
};
// Registers of one lane of a matrix product: D += A B, as PTX lays them out.
struct MatrixProduct {
    const uint32_t *a, *b;
    int32_t *d;
};
struct FloatProduct {
    const uint32_t *a, *b;
    float *d;
};
// What carries them out, see operations.cpp.
void nothing(void *const *lanes, uint32_t mask);
void shuffle(void *const *lanes, uint32_t mask);
void ballot(void *const *lanes, uint32_t mask);
void product_16x8x32(void *const *lanes, uint32_t mask);
void product_16x8x16(void *const *lanes, uint32_t mask);
// Half floats, brain floats. The 16 products and what was in D are added up in double, and rounded once: not the hardware's order, which
// NVIDIA does not state. What kernels compute with it agrees with a GPU's by tolerance.
void product_half(void *const *lanes, uint32_t mask);
void product_brain(void *const *lanes, uint32_t mask);

template <class T> T exchange(uint32_t mask, T value, int source, Place place) {
    static_assert(sizeof(T) <= 8);
    Shuffle s{0, 0, source};
    std::memcpy(&s.value, &value, sizeof value);
    together("a shuffle", mask, &s, shuffle, place);
    std::memcpy(&value, &s.result, sizeof value);
    return value;
}

} // namespace tr::emulation

// Returns what was there.
double atomicAdd(double *to, double value);

inline void __syncthreads(TR_EMULATION_HERE) { tr::emulation::block_barrier({file, line}); }
inline void __syncwarp(uint32_t mask = 0xffffffff, TR_EMULATION_HERE) {
    tr::emulation::together(tr::emulation::kSyncWarp, mask, nullptr, tr::emulation::nothing, {file, line});
}

// `width`, a power of two, divides the warp into groups that shuffle among themselves.
template <class T> T __shfl_sync(uint32_t mask, T value, int source, int width = 32, TR_EMULATION_HERE) {
    const int lane = tr::emulation::lane();
    return tr::emulation::exchange(mask, value, (lane & ~(width - 1)) | (source & (width - 1)), {file, line});
}
template <class T> T __shfl_xor_sync(uint32_t mask, T value, int other, int width = 32, TR_EMULATION_HERE) {
    const int lane = tr::emulation::lane(), source = lane ^ other;
    return tr::emulation::exchange(mask, value, (source & ~(width - 1)) > (lane & ~(width - 1)) ? lane : source, {file, line});
}
template <class T> T __shfl_down_sync(uint32_t mask, T value, unsigned delta, int width = 32, TR_EMULATION_HERE) {
    const int lane = tr::emulation::lane(), source = lane + static_cast<int>(delta);
    return tr::emulation::exchange(mask, value, source > (lane | (width - 1)) ? lane : source, {file, line});
}
inline uint32_t __ballot_sync(uint32_t mask, int predicate, TR_EMULATION_HERE) {
    tr::emulation::Ballot b{predicate != 0, 0};
    tr::emulation::together("a ballot", mask, &b, tr::emulation::ballot, {file, line});
    return b.result;
}
inline int __any_sync(uint32_t mask, int predicate, TR_EMULATION_HERE) { return __ballot_sync(mask, predicate, file, line) != 0; }
