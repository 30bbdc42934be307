#include "cuda/graphs.h"

#include <algorithm>

namespace tr::cuda {

namespace {

// Shapes that are remembered; the one that was not used for longest is forgotten first.
constexpr size_t kMostShapes = 64;

// What a stream is asked for while this lives is recorded. Without take() the recording is thrown away.
class Recording {
public:
    explicit Recording(cudaStream_t stream) : stream_(stream) {
        // Other threads may allocate meanwhile.
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "recording a step");
    }
    ~Recording() {
        cudaGraph_t graph = nullptr;
        if (!taken_ && cudaStreamEndCapture(stream_, &graph) == cudaSuccess) cudaGraphDestroy(graph);
    }
    Recording(const Recording &) = delete;
    Recording &operator=(const Recording &) = delete;

    cudaGraph_t take() {
        taken_ = true;
        cudaGraph_t graph = nullptr;
        check(cudaStreamEndCapture(stream_, &graph), "recording a step");
        return graph;
    }

private:
    cudaStream_t stream_;
    bool taken_ = false;
};

} // namespace

int32_t graph_size(int32_t n) {
    constexpr int32_t kSmall[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
    if (n <= 0) return 0;
    const auto *at = std::lower_bound(std::begin(kSmall), std::end(kSmall), n);
    return at != std::end(kSmall) ? *at : (n + 31) / 32 * 32;
}

Graphs::Graph::Graph(cudaStream_t stream, const std::function<void()> &queue) {
    Recording recording(stream);
    queue();
    check_launches();
    cudaGraph_t graph = recording.take();
    const cudaError_t error = cudaGraphInstantiate(&executable_, graph, 0);
    cudaGraphDestroy(graph);
    check(error, "preparing a recorded step");
}

Graphs::Graph::~Graph() {
    if (executable_) cudaGraphExecDestroy(executable_);
}

void Graphs::Graph::launch(cudaStream_t stream) const { check(cudaGraphLaunch(executable_, stream), "running a recorded step"); }

void Graphs::run(const GraphShape &shape, cudaStream_t stream, const std::function<void()> &queue) {
    const auto at = known_.find(shape);
    if (at == known_.end()) {
        misses_++;
        if (known_.size() == kMostShapes) forget_oldest();
        known_[shape].last_used = ++steps_;
        return queue();
    }
    Known &known = at->second;
    known.last_used = ++steps_;
    if (known.graph) {
        hits_++;
    } else {
        misses_++;
        known.graph = Graph(stream, queue);
    }
    known.graph.launch(stream);
}

void Graphs::forget_oldest() {
    known_.erase(std::min_element(known_.begin(), known_.end(), [](const auto &a, const auto &b) { return a.second.last_used < b.second.last_used; }));
}

} // namespace tr::cuda
