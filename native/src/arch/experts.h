// A mixture of experts: a router picks a few of many feed-forward networks for each token (Shazeer et al., "Outrageously Large
// Neural Networks"; Qwen3's are without shared experts).
#pragma once
#include <vector>

#include "arch/model.h"

namespace tr::arch {

struct Experts {
    cpu::Matrix router;                        // n_embd -> n_expert
    std::vector<cpu::Matrix> gate, up, down;   // [n_expert] n_embd -> n_ff_expert, the same, n_ff_expert -> n_embd
};

// The n_used experts with the largest scores (ties go to the lower index), rising by index, and the softmax over their
// scores: what a softmax over all, taken for the chosen and divided by their sum, comes to.
void choose_experts(const cpu::Ops &ops, const float *scores, int32_t n_expert, int32_t n_used, int32_t *chosen, float *weight);

// Backend::add_experts of the processor.
void add_experts(const cpu::Ops &ops, cpu::Worker &w, const Shape &shape, ExpertWorkspace &ws, int64_t n, const Experts &experts, const cpu::Activations &h,
                 float *x);

} // namespace tr::arch
