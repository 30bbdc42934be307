// Arithmetic that kernels share: the CPU's operations in the CPU's order. The compiler may fuse nothing by itself (-fmad=false).
#pragma once
#include "cpu/exp.h"
#include "cpu/quantize.h"
#include "cuda/kernels/device.h"

namespace tr::cuda {

__device__ __forceinline__ int lane_id() { return static_cast<int>(threadIdx.x % 32); }
__device__ __forceinline__ int warp_id() { return static_cast<int>(threadIdx.x / 32); }

// As cpu/exp.h describes.
__device__ __forceinline__ float exponential(float value) {
    constexpr float kLow = cpu::kExpLow, kHigh = cpu::kExpHigh, kScale = cpu::kLog2e, kLn2High = cpu::kLn2High, kLn2Low = cpu::kLn2Low;
    constexpr float q0 = cpu::kExpPoly[0], q1 = cpu::kExpPoly[1], q2 = cpu::kExpPoly[2], q3 = cpu::kExpPoly[3], q4 = cpu::kExpPoly[4];
    const float above = value > kLow ? value : kLow; // also what is not a number
    const float x = above < kHigh ? above : kHigh;
    const int n = __float2int_rn(x * kScale);
    const auto turns = static_cast<float>(n);
    const float r = __fmaf_rn(-turns, kLn2Low, __fmaf_rn(-turns, kLn2High, x));
    float p = __fmaf_rn(q4, r, q3);
    p = __fmaf_rn(p, r, q2);
    p = __fmaf_rn(p, r, q1);
    p = __fmaf_rn(p, r, q0);
    p = __fmaf_rn(p, r, 1.0f);
    p = __fmaf_rn(p, r, 1.0f);
    return value < kLow ? 0.0f : p * __int_as_float((n + 127) << 23);
}

// The gate's function of g, as cpu::Gate describes.
template <bool kGelu> __device__ __forceinline__ float gated(float g) {
    constexpr float kLinear = cpu::kGeluLinear, kCubic = cpu::kGeluCubic;
    const float argument = kGelu ? g * __fmaf_rn(g * g, kCubic, kLinear) : g;
    return __fdiv_rn(g, 1.0f + exponential(0.0f - argument));
}

// The sum over 16 neighbouring lanes, in all of them: lane i takes in lane i+8, then i+4, i+2, i+1.
template <class T> __device__ __forceinline__ T sum_tree16(T v) {
    for (int step = 8; step > 0; step /= 2) v += __shfl_xor_sync(kAllLanes, v, step, 16);
    return v;
}

// 1/sqrt(mean(x^2) + eps) of k values, in all lanes; a whole warp calls.
__device__ __forceinline__ float norm_scale(const float *x, int64_t k, float eps) {
    float sum = 0; // the upper half of the warp does what the lower one does
    for (int64_t i = lane_id() % 16; i < k; i += 16) sum = __fmaf_rn(x[i], x[i], sum);
    const float mean = __fdiv_rn(sum_tree16(sum), static_cast<float>(k));
    return __fdiv_rn(1.0f, __fsqrt_rn(mean + eps));
}

// A block of values that a warp quantizes, a lane kPer of them.
struct Quantizer {
    float scale, factor; // factor 0: all codes are 0
};
template <int kPer> __device__ __forceinline__ Quantizer make_quantizer(const float (&v)[kPer]) {
    constexpr uint32_t kInfinity = cpu::kInfinityBits;
    constexpr float kTiny = cpu::kQuantizeTiny;
    uint32_t largest = 0;
    for (int i = 0; i < kPer; i++) {
        const uint32_t bits = __float_as_uint(v[i]) & 0x7fffffff;
        largest = bits > largest ? bits : largest;
    }
    for (int step = 16; step > 0; step /= 2) {
        const uint32_t other = __shfl_xor_sync(kAllLanes, largest, step);
        largest = other > largest ? other : largest;
    }
    if (largest >= kInfinity) return {__uint_as_float(0x7fc00000), 0};
    const float magnitude = __uint_as_float(largest);
    if (magnitude < kTiny) return {0, 0};
    return {__fdiv_rn(magnitude, 127.0f), __fdiv_rn(127.0f, magnitude)};
}
__device__ __forceinline__ int8_t quantize(const Quantizer &q, float v) {
    return q.factor == 0 ? static_cast<int8_t>(0) : static_cast<int8_t>(__float2int_rn(v * q.factor));
}

} // namespace tr::cuda
