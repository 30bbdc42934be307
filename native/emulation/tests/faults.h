// Kernels for the tests of the emulation: right ones, and one for each fault that it must find.
#pragma once
#include "emulation/cuda.h"

namespace tr::emulation::test {

// out[i] := the sum of in[32i .. 32i+31], a warp each; n a multiple of 32.
void sum_by_warps(const int *in, int *out, int n, cudaStream_t stream);
// Each stretch of n of out := that of in backwards, through shared memory; n at most 1024, a multiple of 32.
void reverse(const int *in, int *out, int n, int stretches, cudaStream_t stream);
// out[0..127] := the product of a [16][32] and b [8][32] (columns), out[128..255] that of their first 16.
void multiply(const int8_t *a, const int8_t *b, int *out, cudaStream_t stream);
// d [16][8] += the product of a [16][16] and b [8][16] (columns), half floats or brain floats.
void multiply_halves(const uint16_t *a, const uint16_t *b, float *d, bool brain, cudaStream_t stream);
// out[3i..3i+2] for 64 threads: the value 4 lanes on, that of the lane with index xor 3, in groups of 8, and the bit of the ballot of odd ones.
void exchange(const int *in, int *out, cudaStream_t stream);

// out[0] := the sum of n values, by atomic additions in shared memory; n at most 1024, a multiple of 32.
void add_all(const int *in, int *out, int n, cudaStream_t stream);

enum class Fault {
    kReadBeyondEnd,      // one element past an allocation
    kReadFreed,
    kReadUninitialised,
    kReadHost,
    kMisalignedVector,
    kMissingBarrierBeforeRead,
    kMissingBarrierBeforeWrite,
    kMissingSyncWarp,
    kGlobalRaceInBlock,
    kRaceBetweenBlocks,
    kSharedBeyondEnd,
    kUninitialisedShared,
    kMissingBarrierBeforeAtomic,
    kMissingBarrierAfterAtomic,
    kLaneSkipsShuffle,
    kLaneNotInMask,
    kWarpSkipsBarrier,
    kDifferentBarriers,
    kOtherThreadsLocal,
    kTooMuchStack,
    kWrongFragment,      // give a wrong product
    kWrongHalves,
};
// Runs a kernel with the fault. in: 64 ints, out: 256.
void run_fault(Fault fault, const int *in, int *out, cudaStream_t stream);

} // namespace tr::emulation::test
