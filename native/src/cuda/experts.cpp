#include "cuda/experts.h"

#include "cpu/activations.h"
#include "cuda/kernels/experts.h"
#include "cuda/kernels/launch.h"
#include "cuda/pack.h"

namespace tr::cuda {

void add_experts(StepState &state, const arch::Shape &shape, arch::ExpertWorkspace &ws, int64_t n, const arch::Experts &experts, const cpu::Activations &h, float *x) {
    const int64_t n_embd = shape.n_embd, n_ff = shape.n_ff_expert, n_used = shape.n_expert_used, pairs = n * n_used;
    const cudaStream_t stream = state.stream;
    cpu::Worker alone = cpu::Worker::alone();
    kOperators.matmul(alone, experts.router, h, n, nullptr, ws.scores.data(), shape.n_expert);
    const Choice choice{ws.chosen.data(), ws.weight.data(), ws.pair_at.data(), ws.begin.data(), ws.column.data(), n, shape.n_expert, shape.n_expert_used};
    choose_experts(choice, ws.scores.data(), stream);
    arrange_pairs(choice, stream);
    gather(ws.normed.data(), 0, n, n_embd, ws.column.data(), pairs, ws.gathered.data(), stream);

    // Each expert's products are queued for as many columns as it could have; kernels look up which it has.
    const auto each = [&](const std::vector<cpu::Matrix> &matrices, const cpu::Activations &acts, float *out, int64_t stride, Finish finish) {
        for (size_t e = 0; e < matrices.size(); e++) {
            const cpu::Matrix &m = matrices[e];
            const Product p{view(m), n, nullptr, out, stride, finish, ws.begin.data() + e};
            const cpu::Activations::Impl &impl = *acts.impl;
            if (m.form() == cpu::kActF32) multiply_floats(p, reinterpret_cast<const float *>(impl.f32.get()), stream);
            else if (m.form() == cpu::kActQ32) multiply_quantized(p, {impl.q32.get(), m.cols, 32}, stream);
            else multiply_quantized(p, {impl.q256.get(), m.cols, 256}, stream);
        }
    };
    kOperators.prepare(alone, ws.gathered.data(), pairs, n_embd, experts.gate[0].form() | experts.up[0].form(), ws.inputs);
    each(experts.gate, ws.inputs, ws.hidden.data(), n_ff, Finish::kStore);
    each(experts.up, ws.inputs, ws.hidden.data(), n_ff, Finish::kSilu);
    kOperators.prepare(alone, ws.hidden.data(), pairs, n_ff, experts.down[0].form(), ws.gated);
    each(experts.down, ws.gated, ws.gathered.data(), n_embd, Finish::kStore);
    add_pairs(choice, ws.gathered.data(), n_embd, x, stream);
}

} // namespace tr::cuda
