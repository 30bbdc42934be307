// The operators of a forward pass on the CPU.
//
// Every operator is called by all workers of a pool run with the same arguments; it divides its work among them and does
// NOT join: the caller joins before it reads what the operator wrote. None allocates. One table per instruction set
// (`Ops`), all from the same kernel sources.
//
// Exactness. Each output element has one sequence of floating-point operations that depends on nothing but its own
// inputs: not on the batch, not on the worker, not on the instruction set. All tables give the same bits, the reference
// (plain loops over std::fma) included.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include "cpu/pool.h"
#include "quant/types.h"

namespace tr::cpu {

// Forms of an activation that matrices multiply with.
enum ActForm : uint32_t {
    kActF32 = 1,   // float weights and the exact float path
    kActQ32 = 2,   // int8 codes in -127..127 with a float scale per 32: formats with blocks of 32
    kActQ256 = 4,  // int8 codes in -127..127 with a float scale per 256: formats with blocks of 256
};

// How a matrix lies in memory. Chosen by Ops::pack.
enum class Layout : uint8_t {
    kFileRows,  // as in the file: the reference and the exact float path
    kTiles16,   // tiles of 16 rows, one panel each (panels.h)
    kTiles32,   // tiles of 32 rows, two panels each, interleaved by block
};

// A weight matrix of [rows, cols] (rows outputs, cols inputs), repacked for the kernels of one table.
// rows need not be a multiple of a tile (padded with zeros); cols must be a multiple of the format's block.
struct Matrix {
    quant::Type type = quant::Type::F32;
    bool exact_float = false;      // multiply as dequantized float32 (the blocked float path), whatever the type
    Layout layout = Layout::kFileRows;
    int64_t rows = 0, cols = 0;
    std::unique_ptr<uint8_t[], void (*)(uint8_t *)> data{nullptr, nullptr}; // 64-byte aligned, huge pages advised
    size_t bytes = 0;
    ActForm form() const;
    void allocate(size_t n);       // sets data and bytes; throws std::bad_alloc
};

// Columns of activations in the forms asked for. Memory is allocated by reserve(), at load. What a table prepared, only
// that table's products can read.
struct Activations {
    Activations();
    Activations(Activations &&) noexcept;
    ~Activations();
    void reserve(int64_t max_columns, int64_t max_k, uint32_t forms); // throws std::bad_alloc
    // The memory from a column on, for a batch of its own beside others. All of them must have the same k.
    Activations from(int64_t first_column) const;
    struct Impl;
    std::shared_ptr<Impl> impl;
    int64_t first_column = 0;

private:
    explicit Activations(std::shared_ptr<Impl> shared) : impl(std::move(shared)) {}
};

// One query token of the ragged batch.
struct QueryToken {
    int32_t position;          // absolute position
    const int32_t *pages;      // page table of its sequence
};

// How keys and values are stored.
enum class KvType : uint8_t { kF16, kQ8_0 };

// The KV cache of one layer. Keys lie transposed within their page, so that a vector holds one dimension of many tokens and
// scores need no sums across lanes. [page][kv head] of
//   F16   k: [head_dim][token in page]  v: [token in page][head_dim], half floats
//   Q8_0  the same of int8 codes; then the scales of each token's blocks of 32 dimensions, half floats:
//         k: [head_dim/32][token in page]  v: [token in page][head_dim/32]
struct KvLayer {
    uint8_t *k, *v;
    KvType type;
};

struct AttentionShape {
    int32_t n_head, n_head_kv, head_dim; // n_head a multiple of n_head_kv; head_dim a multiple of 16, at most kMaxHeadDim
    int32_t page_tokens;                 // TR_PAGE_TOKENS (= kPageTokens)
    float scale;                         // of the scores; 1/sqrt(head_dim) as a rule
    int32_t window = 0;                  // positions that a token sees, its own included; 0: all
};

// What happens to queries and keys before they meet.
struct Rotation {
    const float *cos, *sin;              // tables [position][head_dim/2] of the rotary embedding
    const float *q_gain = nullptr, *k_gain = nullptr; // [head_dim], or null: an RMS norm of every head before it is rotated
    float eps = 0;                       // of these norms
};

// The function that a feed-forward network's gate goes through.
enum class Gate : uint8_t {
    kSilu, // x / (1 + exp(-x))
    kGelu, // x / (1 + exp(-2u)), u = sqrt(2/pi) (x + 0.044715 x^3): x/2 (1 + tanh u), the usual approximation of GELU
};

constexpr int32_t kPageTokens = 32;
constexpr int32_t kMaxHeadDim = 256;
constexpr int32_t kKvBlock = 32; // dimensions of a block of Q8_0: head_dim is a multiple

// Bytes of the keys (or values) of one page of one kv head. Always inlined: see activations.h.
inline __attribute__((always_inline)) int64_t kv_page_bytes(KvType type, int32_t head_dim) {
    return type == KvType::kF16 ? int64_t{2} * head_dim * kPageTokens : (int64_t{head_dim} + head_dim / kKvBlock * 2) * kPageTokens;
}

// Working memory of attention: partial results of KV segments that different workers reduce. One per concurrent step.
struct AttentionScratch {
    AttentionScratch();
    ~AttentionScratch();
    void reserve(int32_t max_head_dim); // throws std::bad_alloc
    struct Impl;
    std::unique_ptr<Impl> impl;
};

struct Ops {
    const char *isa;

    // ---- load time, single calls outside of the step's inner loop (pack divides its work too)
    // Packs rows*cols weights at src (file layout) into m. The caller has set type, rows, cols and exact_float, then
    // called m.allocate(packed_bytes(m)). packed_bytes also sets m.layout.
    size_t (*packed_bytes)(Matrix &m);
    void (*pack)(Worker &, Matrix &m, const void *src);

    // ---- activations. x is [n][k] floats, rows k apart.
    // acts := x in each of `forms`.
    void (*prepare)(Worker &, const float *x, int64_t n, int64_t k, uint32_t forms, Activations &acts);
    // y := x * gain / sqrt(mean(x^2) + eps) per row; acts := y in `forms`; y itself is stored when y != nullptr.
    void (*rms_norm)(Worker &, const float *x, int64_t n, int64_t k, const float *gain, float eps, float *y,
                     uint32_t forms, Activations &acts);
    // x += y * gain / sqrt(mean(y^2) + eps) per row: a norm after a part of a layer, and the residual sum.
    void (*add_norm)(Worker &, const float *y, int64_t n, int64_t k, const float *gain, float eps, float *x);

    // ---- matrix products over all n columns of acts: out[c*stride + r], r < m.rows
    // out := W acts (+ bias if not null)
    void (*matmul)(Worker &, const Matrix &m, const Activations &acts, int64_t n, const float *bias, float *out, int64_t stride);
    // out += W acts (the residual stream)
    void (*matmul_add)(Worker &, const Matrix &m, const Activations &acts, int64_t n, float *out, int64_t stride);
    // out := f(G acts) * (U acts), f as `kind` says
    void (*matmul_gated)(Worker &, const Matrix &gate, const Matrix &up, Gate kind, const Activations &acts, int64_t n, float *out,
                         int64_t stride);

    // ---- positions. Pairs (i, i + head_dim/2).
    // Norms (if asked for) and rotates q in place ([n][n_head*head_dim]) and k, then stores k and v ([n][n_head_kv*head_dim])
    // into the pages of their tokens. A block of Q8_0 has its largest magnitude / 127 as scale, and codes rounded to nearest even.
    void (*rope_store)(Worker &, const AttentionShape &, const QueryToken *tokens, int64_t n, float *q, float *k, const float *v,
                       const Rotation &rotation, KvLayer kv);
    // Causal attention of every query token over the positions of its own sequence up to its own, as stored in kv: all, or
    // the last shape.window. Segments of kKvSegment positions are reduced on their own and merged in order. out is [n][n_head*head_dim]. Consecutive tokens
    // of a sequence (same page table pointer, positions rising by one) share what they read.
    void (*attention)(Worker &, const AttentionShape &, const QueryToken *tokens, int64_t n, const float *q, KvLayer kv,
                      AttentionScratch &scratch, float *out);

    // ---- output rows
    // Over x[0..n): ids where `valid` (bitmask or null) is set. Fills *max (raw maximum), *sum (sum of exp(x-max)) and
    // *dot (sum of exp(x-max)*(x-max)) in double, in one fixed order. With no id in play: -inf, 0, 0. Single worker.
    void (*softmax_stats)(const float *x, int64_t n, const uint32_t *valid, float *max, double *sum, double *dot);
    // y[i] := exp((x[i]-shift)*inv_temperature), the kernel's own exp; used by sampling. Single worker.
    void (*exp_shifted)(const float *x, int64_t n, float shift, float inv_temperature, float *y);
};

constexpr int64_t kKvSegment = 256;

// The table of an instruction set by name ("reference", "avx2", "avxvnni", "avx512vnni"); nullptr if unknown.
const Ops *ops_by_name(const char *isa);
// True if this processor runs it.
bool isa_usable(const char *isa);
// The fastest table that this processor runs; "reference" at worst.
const Ops *best_ops();

// The embedding lookup: row `id` of m as floats, the same bits as dequantize() of the file's row. Any layout, since an
// embedding that is tied to the output exists once, packed.
void embedding_row(const Matrix &m, int64_t id, float *out);

} // namespace tr::cpu
