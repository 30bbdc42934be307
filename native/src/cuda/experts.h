// A mixture of experts on the device: which expert has which columns is never known to the host.
#pragma once
#include "arch/experts.h"
#include "arch/model.h"
#include "cuda/operators.h"

namespace tr::cuda {

// arch::Backend::add_experts.
void add_experts(StepState &state, const arch::Shape &shape, arch::ExpertWorkspace &ws, int64_t n, const arch::Experts &experts, const cpu::Activations &h, float *x);

} // namespace tr::cuda
