// What the steps of an arena work in on a GPU, besides the model's workspace.
#pragma once
#include "api/handles.h"
#include "cuda/graphs.h"
#include "cuda/kernels/draw.h"
#include "cuda/operators.h"

namespace tr::cuda {

// n values in pinned memory.
template <class T> class Pinned {
public:
    Pinned() = default;
    explicit Pinned(size_t n) : memory_(allocate_pinned(n * sizeof(T))) {}
    T *data() const { return reinterpret_cast<T *>(memory_.get()); }

private:
    cpu::Buffer memory_{nullptr, nullptr};
};

// A batch as it goes in, in pinned memory and on the device: arrays of the arena's sizes, whose places graphs know, and behind them lists of
// any length, which the arrays point to.
class Description {
public:
    template <class T> struct Part {
        T *host, *device;
    };
    // Arrays for steps of `tokens` columns and `rows` rows.
    void set_sizes(size_t tokens, size_t rows);

    // Begins a batch whose lists take at most list_bytes. True if the arrays moved.
    bool begin(size_t list_bytes);
    Part<int32_t> ids() const { return part<int32_t>(0); }                     // [tokens]
    Part<int32_t> row_columns() const { return part<int32_t>(rows_at_); }      // [rows] the column whose successor a row wants
    Part<sample::Wanted> wanted() const { return part<sample::Wanted>(wanted_at_); } // [rows]
    Part<Drawing> drawings() const { return part<Drawing>(drawings_at_); }     // [rows]
    Part<cpu::QueryToken> tokens() const { return part<cpu::QueryToken>(tokens_at_); } // [tokens]
    // Copies a list and returns where it will be on the device.
    template <class T> const T *append(const T *values, size_t n) {
        const Part<T> list = part<T>(used_);
        std::copy_n(values, n, list.host);
        used_ += list_bytes<T>(n);
        return list.device;
    }
    // Room on the device for a list that kernels write.
    template <class T> T *append_room(size_t n) {
        const Part<T> list = part<T>(used_);
        used_ += list_bytes<T>(n);
        return list.device;
    }
    template <class T> static size_t list_bytes(size_t n) { return aligned(n * sizeof(T)); }
    void send(cudaStream_t stream) const;

private:
    static size_t aligned(size_t n) { return (n + 15) / 16 * 16; }
    template <class T> Part<T> part(size_t at) const { return {reinterpret_cast<T *>(host_.get() + at), reinterpret_cast<T *>(device_.get() + at)}; }

    cpu::Buffer host_{nullptr, nullptr}, device_{nullptr, nullptr};
    size_t rows_at_ = 0, wanted_at_ = 0, drawings_at_ = 0, tokens_at_ = 0, lists_at_ = 0, used_ = 0, bytes_ = 0;
};

struct Memory final : api::StepMemory {
    Memory(const tr_arena &arena, const arch::Backend &backend);
    std::optional<api::GraphCounts> graph_counts() const override { return graphs.counts(); }

    StepState state;
    Graphs graphs;
    Description in;
    // Rows on the device, and as they come out: of a block of them at a time, but row_x and hidden.
    Array<float> row_x, hidden, logits, top_logits;
    Array<sample::Found> found;
    Array<int32_t> top_ids, tokens;
    Array<float> scores;            // [head of the step][row of the block]
    Pinned<float> hidden_out, logits_out, top_logits_out, scores_out;
    Pinned<sample::Found> found_out;
    Pinned<int32_t> top_ids_out;
    Pinned<int32_t> tokens_in;      // of rows whose tokens the processor draws
};

} // namespace tr::cuda
