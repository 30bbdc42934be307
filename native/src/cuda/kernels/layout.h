// How weights, activations and the KV cache lie in a device's memory: what the host writes and kernels read.
#pragma once
#include <cstdint>

#include "base/host_device.h"
#include "cpu/ops.h"
#include "quant/types.h"

namespace tr::cuda {

// A unit is what a format scales as one: 32 or 256 weights (1 for floats). A row of a matrix holds the codes of all its units, then
// the parameters of all of them; both begin at a multiple of kPlane bytes. Floats have codes only: themselves.
constexpr int64_t kPlane = 16;
TR_HOST_DEVICE constexpr int64_t in_planes(int64_t bytes) { return (bytes + kPlane - 1) / kPlane * kPlane; }

struct MatrixView {
    const uint8_t *data;
    quant::Type type;
    int64_t rows, cols;
    int64_t row_bytes, params_at; // bytes of a row, and from its begin to the parameters
};

// A column of activations in integers of blocks of `unit` values: k codes, then a float scale per block, then the sum of the codes of
// every 16 values. With blocks of 256 the same follows for the remainders of blocks that have one (cpu/quantize.h), which is
// `part` 1, and at last a byte per block: 1 where there is one.
struct QuantizedView {
    const uint8_t *data;
    int64_t k, unit;

    TR_HOST_DEVICE static constexpr int64_t padded(int64_t k, int64_t unit) { return (k + unit - 1) / unit * unit; }
    TR_HOST_DEVICE static constexpr int64_t scales_at(int64_t k, int64_t unit) { return in_planes(padded(k, unit)); }
    TR_HOST_DEVICE static constexpr int64_t sums_at(int64_t k, int64_t unit) { return scales_at(k, unit) + in_planes(padded(k, unit) / unit * 4); }
    TR_HOST_DEVICE static constexpr int64_t part_bytes(int64_t k, int64_t unit) { return sums_at(k, unit) + in_planes(padded(k, unit) / 16 * 4); }
    TR_HOST_DEVICE static constexpr int64_t bytes(int64_t k, int64_t unit) {
        return unit < 256 ? part_bytes(k, unit) : 2 * part_bytes(k, unit) + in_planes(padded(k, unit) / unit);
    }

    TR_HOST_DEVICE const uint8_t *at(int64_t column, int64_t part) const { return data + column * bytes(k, unit) + part * part_bytes(k, unit); }
    TR_HOST_DEVICE const int8_t *codes(int64_t column, int64_t part = 0) const { return reinterpret_cast<const int8_t *>(at(column, part)); }
    TR_HOST_DEVICE const float *scales(int64_t column, int64_t part = 0) const {
        return reinterpret_cast<const float *>(at(column, part) + scales_at(k, unit));
    }
    TR_HOST_DEVICE const int32_t *sums(int64_t column, int64_t part = 0) const {
        return reinterpret_cast<const int32_t *>(at(column, part) + sums_at(k, unit));
    }
    TR_HOST_DEVICE const uint8_t *marks(int64_t column) const { return at(column, 2); } // with blocks of 256
};

// Where prepared columns go: NULL for forms that are not wanted.
struct Forms {
    float *f32;                 // [column][k]
    uint8_t *q32, *q256;        // of QuantizedView
};

// What becomes of a product.
enum class Finish : uint8_t {
    kStore,     // out := product (+ bias)
    kAdd,       // out += product
    kSilu,      // out := silu(out) * product
    kGelu,      // out := gelu(out) * product
};

struct Product {
    MatrixView m;
    int64_t n;                  // columns
    const float *bias;          // [rows] or NULL
    float *out;                 // [column * stride + row]
    int64_t stride;
    Finish finish;
    const int32_t *part = nullptr; // or, where n is only the most there can be: columns part[0] to part[1] of all, of x and of out
};

// The columns of a product that there are.
struct Part {
    int64_t first, n;
};

// A step's tokens on the device. Those of a sequence that follow each other share its page table. A token at position kNowhere only fills a
// graph's shape: it stores nothing, attends to nothing, and nobody looks at what becomes of it.
constexpr int32_t kNowhere = -1;
struct Tokens {
    const cpu::QueryToken *tokens;
    int64_t n;
};

// [page][kv head] of what cpu::KvLayer describes.
struct Attention {
    cpu::AttentionShape shape;
    cpu::KvLayer kv;
    Tokens tokens;
    const float *q;             // [n][n_head * head_dim]
    float *out;                 // the same
    int64_t segments;           // at most so many segments are seen by any token
    float *partials;            // [n][n_head][segments][head_dim + 2], or NULL: each token's segments are reduced one after the other
};

} // namespace tr::cuda
