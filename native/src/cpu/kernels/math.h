#pragma once
#include "cpu/exp.h"
#include "cpu/simd/simd.h"

namespace tr::cpu::TR_ISA {
namespace {

TR_INLINE VecF exp(VecF value) {
    const VecF x = min(max(value, set(kExpLow)), set(kExpHigh));
    const VecF n = round_even(mul(x, set(kLog2e)));
    VecF r = fnma(n, set(kLn2High), x);
    r = fnma(n, set(kLn2Low), r);
    VecF p = set(kExpPoly[4]);
    for (int i = 3; i >= 0; i--) p = fma(p, r, set(kExpPoly[i]));
    p = fma(p, r, set(1.0f));
    p = fma(p, r, set(1.0f));
    const VecF power = from_bits(shift_left32<23>(add32(to_int(n), set32(127))));
    return zero_where_less(mul(p, power), value, set(kExpLow));
}

TR_INLINE VecF silu(VecF x) { return div(x, add(set(1.0f), exp(sub(zero(), x)))); }
TR_INLINE VecF gelu(VecF x) {
    const VecF u2 = mul(x, fma(mul(x, x), set(kGeluCubic), set(kGeluLinear)));
    return div(x, add(set(1.0f), exp(sub(zero(), u2))));
}

// Sum of 16 lanes held in memory, as a tree: lane i takes in lane i+8, then i+4, i+2, i+1. The one order in which sums over
// lanes are taken.
template <class T> TR_INLINE T sum_tree16(T *lane) {
    for (int width = 8; width > 0; width /= 2)
        for (int i = 0; i < width; i++) lane[i] = lane[i] + lane[i + width];
    return lane[0];
}

} // namespace
} // namespace tr::cpu::TR_ISA
