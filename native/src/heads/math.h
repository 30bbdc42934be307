// Arithmetic of heads, the same on all devices: sums in double, of kSumLanes lanes each; everything else value by value.
#pragma once
#include <cmath>
#include <cstdint>

#include "base/host_device.h"

namespace tr::heads {

// Lane i of a sum takes values i, i + kSumLanes, ... in order; then lane i takes in lane i + 16, i + 8, i + 4, i + 2, i + 1.
constexpr int kSumLanes = 32;

// The error function, of rounded floats within 2e-7 of its value; the C library's differs between its releases. Polynomials: odd up to 1,
// around 1.5 and around 3 from there on; 1 from 4 on.
TR_HOST_DEVICE inline float error_function(float x) {
    const float t = x < 0 ? -x : x;
    if (t < 1) {
        const float s = t * t;
        float p = 0x1.4a9dacp-14f;
        p = p * s + -0x1.a46b4p-11f;
        p = p * s + 0x1.541636p-8f;
        p = p * s + -0x1.b7fb38p-6f;
        p = p * s + 0x1.ce2d18p-4f;
        p = p * s + -0x1.81273ep-2f;
        p = p * s + 0x1.20dd74p+0f;
        return x * p;
    }
    float p = 1;
    if (t < 2) {
        const float s = t - 1.5f;
        p = 0x1.93cf44p-10f;
        p = p * s + -0x1.3ad368p-9f;
        p = p * s + -0x1.341870p-8f;
        p = p * s + 0x1.3cc248p-6f;
        p = p * s + -0x1.e749acp-7f;
        p = p * s + -0x1.6d5bd2p-5f;
        p = p * s + 0x1.1c2a1ep-3f;
        p = p * s + -0x1.6d5a94p-3f;
        p = p * s + 0x1.e72372p-4f;
        p = p * s + 0x1.eea556p-1f;
    } else if (t < 4) {
        const float s = t - 3;
        p = -0x1.3daa2ep-17f;
        p = p * s + 0x1.73110ap-16f;
        p = p * s + 0x1.8f338ap-17f;
        p = p * s + -0x1.27f49ep-13f;
        p = p * s + 0x1.9ae9a8p-12f;
        p = p * s + -0x1.815a20p-11f;
        p = p * s + 0x1.0a60aap-10f;
        p = p * s + -0x1.11f5d4p-10f;
        p = p * s + 0x1.9dbe24p-11f;
        p = p * s + -0x1.b5fe50p-12f;
        p = p * s + 0x1.2407eap-13f;
        p = p * s + 0x1.fffd1ap-1f;
    } else if (!(t >= 4)) {
        return x; // not a number
    }
    return x < 0 ? -p : p;
}

TR_HOST_DEVICE inline float gelu(float x) { return 0.5f * x * (1 + error_function(x * 0.70710678f)); }
TR_HOST_DEVICE inline float relu(float x) { return x > 0 ? x : 0; }

// What a layer norm makes of a value: (x - mean) * scale * gain + bias.
TR_HOST_DEVICE inline double norm_scale(double variance) { return 1 / sqrt(variance + 1e-5); }
TR_HOST_DEVICE inline float normed(float x, double mean, double scale, float gain, float bias) {
    return static_cast<float>((static_cast<double>(x) - mean) * scale * static_cast<double>(gain) + static_cast<double>(bias));
}

} // namespace tr::heads
