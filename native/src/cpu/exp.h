// Constants of the exponential that attention, gates and sampling use. One sequence of operations on every instruction
// set, see kernels/math.h and reference/math.h.
//
//   n = round(x log2 e), r = x - n ln 2 in two parts, exp(x) = 2^n (1 + r + r^2 q(r))
//
// q is the minimax polynomial of degree 4 for the relative error on |r| <= ln(2)/2: 3e-9 in exact arithmetic, 8e-8 as
// evaluated in float.
#pragma once

namespace tr::cpu {

constexpr float kExpLow = -87.0f;  // below: 0. The smallest normal float is exp(-87.34)
constexpr float kExpHigh = 88.0f;  // above: exp(88) = 1.65e38
constexpr float kLog2e = 0x1.715476p+0f;
constexpr float kLn2High = 0x1.63p-1f; // n * kLn2High is exact for |n| < 2^15
constexpr float kLn2Low = -0x1.bd0106p-13f;
constexpr float kExpPoly[5] = {0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558f2p-5f, 0x1.123a2p-7f, 0x1.6a23dp-10f};

// 2u of Gate::kGelu is x (kGeluLinear + kGeluCubic x^2).
constexpr float kGeluLinear = 1.5957691216057308f;  // 2 sqrt(2/pi)
constexpr float kGeluCubic = 0.07135481282553229f;  // 0.044715 times that

} // namespace tr::cpu
