// The operators of a forward pass on a GPU, behind the CPU's table: same arguments, pointers to device memory, same bits. Each queues its
// kernels on the stream of the running thread's step.
#pragma once
#include "arch/backend.h"
#include "cuda/runtime.h"

namespace tr::cuda {

// What the operators of one arena work in besides the model's workspace.
struct StepState {
    Stream stream;
    int64_t segments = 1;                       // KV segments that the batch's longest sequence has
    cpu::Buffer partials{nullptr, nullptr};     // of attention whose segments are shared out among blocks
    size_t partial_floats = 0;
};

// Makes the state that of this thread for as long as it lives.
class Running {
public:
    explicit Running(StepState &state);
    ~Running();
    Running(const Running &) = delete;
    Running &operator=(const Running &) = delete;
};

// That of the running thread's step.
cudaStream_t step_stream();

extern const cpu::Ops kOperators;

arch::Backend backend();

} // namespace tr::cuda
