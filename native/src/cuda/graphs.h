// Steps as CUDA graphs: what a step of one shape queues is recorded once and launched as a whole from then on. A graph keeps the arguments of
// its kernels, so whatever differs between steps of a shape must be read from device memory.
#pragma once
#include <atomic>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "api/handles.h"
#include "cuda/runtime.h"

namespace tr::cuda {

// What the launches of a step depend on, each size rounded up by graph_size. How many sequences the columns belong to is none of it: each
// column knows its own pages.
struct GraphShape {
    int32_t columns, rows, segments;   // segments: of KV, that the longest sequence has
    std::vector<uint64_t> heads = {};  // ids of those that score the rows
    auto operator<=>(const GraphShape &) const = default;
};

// The smallest of 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 96, ... that is at least n: products take 32 columns at once, more sizes would save nothing.
int32_t graph_size(int32_t n);

// The graphs of an arena.
class Graphs {
public:
    // Queues what `queue` does. A shape's first step queues it as it is: many shapes come once only, and a kernel's first launch loads it,
    // which is not to happen in a recording. Its second step records it. Throws Error.
    void run(const GraphShape &shape, cudaStream_t stream, const std::function<void()> &queue);
    // To be called for a step that has no shape.
    void count_miss() { misses_++; }
    // Forgets all graphs: memory that they name has moved.
    void clear() { known_.clear(); }

    // Steps whose graph was there, and others. From any thread.
    api::GraphCounts counts() const { return {hits_, misses_}; }

    bool enabled = true; // or every step runs without

private:
    class Graph {
    public:
        Graph() = default;
        Graph(cudaStream_t stream, const std::function<void()> &queue);
        Graph(Graph &&other) noexcept : executable_(std::exchange(other.executable_, nullptr)) {}
        Graph &operator=(Graph &&other) noexcept {
            std::swap(executable_, other.executable_);
            return *this;
        }
        ~Graph();
        explicit operator bool() const { return executable_ != nullptr; }
        void launch(cudaStream_t stream) const;

    private:
        cudaGraphExec_t executable_ = nullptr;
    };
    struct Known {
        Graph graph;            // none after the first step
        uint64_t last_used = 0; // in steps
    };
    void forget_oldest();

    std::map<GraphShape, Known> known_;
    std::atomic<uint64_t> hits_ = 0, misses_ = 0;
    uint64_t steps_ = 0;
};

} // namespace tr::cuda
