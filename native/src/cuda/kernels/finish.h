// What becomes of the products.
#pragma once
#include "cuda/kernels/layout.h"
#include "cuda/kernels/math.h"

namespace tr::cuda {

__device__ __forceinline__ Part part_of(const Product &p) { return p.part ? Part{p.part[0], p.part[1] - p.part[0]} : Part{0, p.n}; }

// Column `column` of all.
__device__ __forceinline__ void finish(const Product &p, int64_t row, int64_t column, float product) {
    float &out = p.out[column * p.stride + row];
    switch (p.finish) {
    case Finish::kStore: out = p.bias ? product + p.bias[row] : product; break;
    case Finish::kAdd: out += product; break;
    case Finish::kSilu: out = gated<false>(out) * product; break;
    case Finish::kGelu: out = gated<true>(out) * product; break;
    }
}

// Blocks of 32 go in pairs: an odd number of them is followed by one of zeros, which turns a sum of -0 into +0.
template <class F> __device__ __forceinline__ float whole_pairs(float sum, int64_t cols) {
    return F::kUnit == 32 && cols / 32 % 2 ? sum + 0.0f : sum;
}

} // namespace tr::cuda
