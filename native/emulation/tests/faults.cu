#include "emulation/tests/faults.h"

#include "cuda/kernels/device.h"

namespace tr::emulation::test {

namespace {

using cuda::kAllLanes;

__global__ void sum_kernel(const int *in, int *out, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    int v = in[i];
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(kAllLanes, v, step);
    if (i % 32 == 0) out[i / 32] = v;
}

__global__ void reverse_kernel(const int *in, int *out) {
    TR_DYNAMIC_SHARED(int, values);
    TR_SHARED(int, first, 1);
    const int n = static_cast<int>(blockDim.x), i = static_cast<int>(threadIdx.x);
    if (i == 0) first[0] = static_cast<int>(blockIdx.x) * n;
    __syncthreads();
    values[i] = in[first[0] + i];
    __syncthreads();
    out[first[0] + i] = values[n - 1 - i];
}

template <bool kSwapped> __global__ void multiply_kernel(const int8_t *a, const int8_t *b, int *out) {
    const int lane = static_cast<int>(threadIdx.x), g = lane / 4, t = lane % 4;
    const auto word = [](const int8_t *p) { return *reinterpret_cast<const uint32_t *>(p); };
    uint32_t x[4], y[2];
    for (int i = 0; i < 4; i++) x[i] = word(a + (g + i % 2 * 8) * 32 + 4 * t + i / 2 * 16);
    for (int i = 0; i < 2; i++) y[i] = word(b + g * 32 + 4 * t + i * 16);
    if (kSwapped) {
        const uint32_t kept = x[1];
        x[1] = x[2];
        x[2] = kept;
    }
    const uint32_t x16[2] = {x[0], x[1]}, y16[1] = {y[0]};
    int d[4] = {}, d16[4] = {};
    cuda::multiply_16x8x32(d, x, y);
    cuda::multiply_16x8x16(d16, x16, y16);
    for (int i = 0; i < 4; i++) {
        const int at = (g + i / 2 * 8) * 8 + 2 * t + i % 2;
        out[at] = d[i];
        out[128 + at] = d16[i];
    }
}

template <bool kBrain, bool kSwapped> __global__ void multiply_halves_kernel(const uint16_t *a, const uint16_t *b, float *d) {
    const int lane = static_cast<int>(threadIdx.x), g = lane / 4, t = lane % 4;
    const auto word = [](const uint16_t *p) { return *reinterpret_cast<const uint32_t *>(p); };
    uint32_t x[4], y[2];
    for (int i = 0; i < 4; i++) x[i] = word(a + (g + i % 2 * 8) * 16 + 2 * t + i / 2 * 8);
    for (int i = 0; i < 2; i++) y[i] = word(b + g * 16 + 2 * t + (kSwapped ? 1 - i : i) * 8);
    float sum[4];
    for (int i = 0; i < 4; i++) sum[i] = d[(g + i / 2 * 8) * 8 + 2 * t + i % 2];
    cuda::multiply_halves<kBrain>(sum, x, y);
    for (int i = 0; i < 4; i++) d[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = sum[i];
}

template <bool kBefore, bool kAfter> __global__ void add_all_kernel(const int *in, int *out) {
    TR_SHARED(double, sum, 1);
    if (threadIdx.x == 0) sum[0] = 0;
    if (kBefore) __syncthreads();
    atomicAdd(&sum[0], static_cast<double>(in[threadIdx.x]));
    if (kAfter) __syncthreads();
    if (threadIdx.x == 0) out[0] = static_cast<int>(sum[0]);
}

__global__ void exchange_kernel(const int *in, int *out) {
    const int i = static_cast<int>(threadIdx.x), v = in[i];
    out[3 * i] = __shfl_down_sync(kAllLanes, v, 4);
    out[3 * i + 1] = __shfl_xor_sync(kAllLanes, v, 3, 8);
    // The halves of a warp, each with a mask of its own.
    const uint32_t half = i % 32 < 16 ? 0xffff : 0xffff0000;
    out[3 * i + 2] = static_cast<int>(__ballot_sync(half, v & 1) >> i % 32 & 1);
}

// ---- faults

__global__ void read_kernel(const int *in, int *out, int at) { out[threadIdx.x] = in[threadIdx.x + static_cast<unsigned>(at)]; }

__global__ void misaligned_kernel(const int *in, int *out) { out[threadIdx.x] = static_cast<int>(cuda::load_vector<uint4>(in + 1).x); }

// Without the barrier before the read, or without the one before the array is written again.
template <bool kBeforeRead, bool kBeforeWrite> __global__ void barrier_kernel(const int *in, int *out) {
    TR_SHARED(int, values, 64);
    const unsigned i = threadIdx.x;
    int sum = 0;
    for (int round = 0; round < 2; round++) {
        values[i] = in[i] + round;
        if (kBeforeRead) __syncthreads();
        sum += values[63 - i];
        if (kBeforeWrite) __syncthreads();
    }
    out[i] = sum;
}

__global__ void syncwarp_kernel(const int *in, int *out) {
    TR_SHARED(int, values, 32);
    values[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = values[threadIdx.x ^ 1];
}

__global__ void global_race_kernel(const int *in, int *out) {
    out[threadIdx.x] = in[threadIdx.x];
    out[64 + threadIdx.x] = out[63 - threadIdx.x]; // which another thread writes
}

__global__ void block_race_kernel(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x]; }

__global__ void shared_end_kernel(int *out) {
    TR_DYNAMIC_SHARED(int, values);
    values[threadIdx.x] = 1;
    out[threadIdx.x] = values[threadIdx.x];
}

__global__ void uninitialised_shared_kernel(int *out) {
    TR_SHARED(int, values, 64);
    out[threadIdx.x] = values[threadIdx.x];
}

__global__ void skip_shuffle_kernel(const int *in, int *out) {
    int v = in[threadIdx.x];
    if (threadIdx.x % 32 != 31) v = __shfl_xor_sync(kAllLanes, v, 1);
    out[threadIdx.x] = v;
}

__global__ void not_in_mask_kernel(const int *in, int *out) { out[threadIdx.x] = __shfl_xor_sync(0xffff, in[threadIdx.x], 1); }

__global__ void skip_barrier_kernel(const int *in, int *out) {
    if (threadIdx.x < 32) __syncthreads();
    out[threadIdx.x] = in[threadIdx.x];
}

__global__ void different_barriers_kernel(const int *in, int *out) {
    if (threadIdx.x < 32) __syncthreads(); // of the first warp
    else
        __syncthreads();
    out[threadIdx.x] = in[threadIdx.x];
}

__global__ void local_kernel(const int *in, int *out) {
    TR_SHARED(const int *, where, 1);
    const int mine[2] = {in[threadIdx.x], 0};
    if (threadIdx.x == 0) where[0] = mine;
    __syncthreads();
    out[threadIdx.x] = where[0][threadIdx.x % 2];
}

__attribute__((noinline)) int use_stack(const int *in, int depth) {
    volatile char bytes[8192];
    bytes[0] = static_cast<char>(in[0]);
    bytes[8191] = bytes[0];
    return depth > 0 ? use_stack(in, depth - 1) + bytes[8191] : bytes[8191];
}
__global__ void stack_kernel(const int *in, int *out) { out[threadIdx.x] = use_stack(in, 32); }

} // namespace

void sum_by_warps(const int *in, int *out, int n, cudaStream_t stream) {
    cuda::launch(sum_kernel, cuda::Grid(static_cast<unsigned>(n + 127) / 128, 128, stream), in, out, n);
}
void reverse(const int *in, int *out, int n, int stretches, cudaStream_t stream) {
    const auto threads = static_cast<unsigned>(n);
    cuda::launch(reverse_kernel, cuda::Grid(static_cast<unsigned>(stretches), threads, stream, threads * sizeof(int)), in, out);
}
void multiply(const int8_t *a, const int8_t *b, int *out, cudaStream_t stream) { cuda::launch(multiply_kernel<false>, cuda::Grid(1, 32, stream), a, b, out); }
void multiply_halves(const uint16_t *a, const uint16_t *b, float *d, bool brain, cudaStream_t stream) {
    cuda::launch(brain ? multiply_halves_kernel<true, false> : multiply_halves_kernel<false, false>, cuda::Grid(1, 32, stream), a, b, d);
}
void exchange(const int *in, int *out, cudaStream_t stream) { cuda::launch(exchange_kernel, cuda::Grid(1, 64, stream), in, out); }

void add_all(const int *in, int *out, int n, cudaStream_t stream) {
    cuda::launch(add_all_kernel<true, true>, cuda::Grid(1, static_cast<unsigned>(n), stream), in, out);
}

void run_fault(Fault fault, const int *in, int *out, cudaStream_t stream) {
    const cuda::Grid one(1, 64, stream);
    switch (fault) {
    case Fault::kReadBeyondEnd: return cuda::launch(read_kernel, one, in, out, 1);
    case Fault::kReadFreed:
    case Fault::kReadUninitialised:
    case Fault::kReadHost: return cuda::launch(read_kernel, one, in, out, 0);
    case Fault::kMisalignedVector: return cuda::launch(misaligned_kernel, one, in, out);
    case Fault::kMissingBarrierBeforeRead: return cuda::launch(barrier_kernel<false, true>, one, in, out);
    case Fault::kMissingBarrierBeforeWrite: return cuda::launch(barrier_kernel<true, false>, one, in, out);
    case Fault::kMissingSyncWarp: return cuda::launch(syncwarp_kernel, cuda::Grid(1, 32, stream), in, out);
    case Fault::kGlobalRaceInBlock: return cuda::launch(global_race_kernel, one, in, out);
    case Fault::kRaceBetweenBlocks: return cuda::launch(block_race_kernel, cuda::Grid(2, 64, stream), in, out);
    case Fault::kSharedBeyondEnd: return cuda::launch(shared_end_kernel, cuda::Grid(1, 64, stream, 63 * sizeof(int)), out);
    case Fault::kUninitialisedShared: return cuda::launch(uninitialised_shared_kernel, one, out);
    case Fault::kMissingBarrierBeforeAtomic: return cuda::launch(add_all_kernel<false, true>, one, in, out);
    case Fault::kMissingBarrierAfterAtomic: return cuda::launch(add_all_kernel<true, false>, one, in, out);
    case Fault::kLaneSkipsShuffle: return cuda::launch(skip_shuffle_kernel, one, in, out);
    case Fault::kLaneNotInMask: return cuda::launch(not_in_mask_kernel, one, in, out);
    case Fault::kWarpSkipsBarrier: return cuda::launch(skip_barrier_kernel, one, in, out);
    case Fault::kDifferentBarriers: return cuda::launch(different_barriers_kernel, one, in, out);
    case Fault::kOtherThreadsLocal: return cuda::launch(local_kernel, one, in, out);
    case Fault::kTooMuchStack: return cuda::launch(stack_kernel, one, in, out);
    case Fault::kWrongHalves: {
        const auto *halves = reinterpret_cast<const uint16_t *>(in);
        return cuda::launch(multiply_halves_kernel<false, true>, cuda::Grid(1, 32, stream), halves, halves, reinterpret_cast<float *>(out));
    }
    case Fault::kWrongFragment: return cuda::launch(multiply_kernel<true>, cuda::Grid(1, 32, stream), reinterpret_cast<const int8_t *>(in), reinterpret_cast<const int8_t *>(in), out);
    }
}

} // namespace tr::emulation::test
