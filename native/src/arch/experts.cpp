#include "arch/experts.h"

#include <algorithm>
#include <cstring>

#include "arch/decoder.h"

namespace tr::arch {

void choose_experts(const cpu::Ops &ops, const float *scores, int32_t n_expert, int32_t n_used, int32_t *chosen, float *weight) {
    // Insertion into a short list. What is not a number is never larger, and makes the weights so.
    int32_t n = 0;
    for (int32_t e = 0; e < n_expert; e++) {
        int32_t at = n;
        while (at > 0 && scores[e] > scores[chosen[at - 1]]) at--;
        if (at == n_used) continue;
        n = std::min(n + 1, n_used);
        for (int32_t i = n - 1; i > at; i--) chosen[i] = chosen[i - 1];
        chosen[at] = e;
    }
    const float largest = scores[chosen[0]];
    std::sort(chosen, chosen + n_used);
    for (int32_t i = 0; i < n_used; i++) weight[i] = scores[chosen[i]];
    ops.exp_shifted(weight, n_used, largest, 1, weight); // the kernels' own: the C library's differs from machine to machine
    double sum = 0;
    for (int32_t i = 0; i < n_used; i++) sum += static_cast<double>(weight[i]);
    for (int32_t i = 0; i < n_used; i++) weight[i] = static_cast<float>(static_cast<double>(weight[i]) / sum);
}

void Decoder::load_experts(Loader &loader, const std::string &b, Experts &e) {
    const Shape &s = shape;
    loader.matrix(e.router, b + "ffn_gate_inp.weight", s.n_embd, s.n_expert);
    loader.matrices(e.gate, b + "ffn_gate_exps.weight", s.n_embd, s.n_ff_expert, s.n_expert);
    loader.matrices(e.up, b + "ffn_up_exps.weight", s.n_embd, s.n_ff_expert, s.n_expert);
    loader.matrices(e.down, b + "ffn_down_exps.weight", s.n_ff_expert, s.n_embd, s.n_expert);
    forms_.normed |= e.router.form();
    forms_.expert_inputs |= e.gate[0].form() | e.up[0].form();
    forms_.expert_gated |= e.down[0].form();
}

namespace {

// Sorts the pairs of a batch by expert: counts, then places. One worker does it.
void arrange(ExpertWorkspace &ws, int64_t n, int32_t n_expert, int32_t n_used) {
    int32_t *begin = ws.begin.data();
    std::fill_n(begin, n_expert + 1, 0);
    for (int64_t i = 0; i < n * n_used; i++) begin[ws.chosen.data()[i] + 1]++;
    for (int32_t e = 0; e < n_expert; e++) begin[e + 1] += begin[e];
    for (int64_t i = 0; i < n * n_used; i++) {
        const int32_t pair = begin[ws.chosen.data()[i]]++;
        ws.pair_at.data()[i] = pair;
        ws.column.data()[pair] = static_cast<int32_t>(i / n_used);
    }
    for (int32_t e = n_expert; e > 0; e--) begin[e] = begin[e - 1]; // each was moved to its end
    begin[0] = 0;
}

} // namespace

void Decoder::add_experts(cpu::Worker &w, Workspace &ws, int64_t n, const Experts &experts, const cpu::Activations &h) const {
    backend_.add_experts(ops_, w, shape, ws.experts, n, experts, h, ws.x.data());
}

void add_experts(const cpu::Ops &ops, cpu::Worker &w, const Shape &shape, ExpertWorkspace &ws, int64_t n, const Experts &experts, const cpu::Activations &h,
                 float *out) {
    const int64_t n_embd = shape.n_embd, n_ff = shape.n_ff_expert, n_used = shape.n_expert_used, pairs = n * n_used;
    float *gathered = ws.gathered.data(), *hidden = ws.hidden.data();
    // Calls body(expert, first pair, pairs) for every expert that a column has chosen.
    const auto for_each_expert = [&](auto &&body) {
        for (int32_t e = 0; e < shape.n_expert; e++) {
            const int64_t first = ws.begin.data()[e], count = ws.begin.data()[e + 1] - first;
            if (count > 0) body(static_cast<size_t>(e), first, count);
        }
    };

    ops.matmul(w, experts.router, h, n, nullptr, ws.scores.data(), shape.n_expert);
    w.join();
    for (int64_t i; (i = w.next(n)) < n;)
        choose_experts(ops, ws.scores.data() + i * shape.n_expert, shape.n_expert, shape.n_expert_used, ws.chosen.data() + i * n_used,
                       ws.weight.data() + i * n_used);
    w.join();
    for (int64_t i; (i = w.next(1)) < 1;) arrange(ws, n, shape.n_expert, shape.n_expert_used);
    w.join();

    for (int64_t i; (i = w.next(pairs)) < pairs;)
        std::memcpy(gathered + i * n_embd, ws.normed.data() + ws.column.data()[i] * n_embd, static_cast<size_t>(n_embd) * sizeof(float));
    w.join();
    for_each_expert([&](size_t e, int64_t first, int64_t count) {
        cpu::Activations part = ws.inputs.from(first);
        ops.prepare(w, gathered + first * n_embd, count, n_embd, experts.gate[e].form() | experts.up[e].form(), part);
    });
    w.join();
    for_each_expert([&](size_t e, int64_t first, int64_t count) {
        ops.matmul_gated(w, experts.gate[e], experts.up[e], cpu::Gate::kSilu, ws.inputs.from(first), count, hidden + first * n_ff, n_ff);
    });
    w.join();
    for_each_expert([&](size_t e, int64_t first, int64_t count) {
        cpu::Activations part = ws.gated.from(first);
        ops.prepare(w, hidden + first * n_ff, count, n_ff, experts.down[e].form(), part);
    });
    w.join();
    for_each_expert([&](size_t e, int64_t first, int64_t count) {
        ops.matmul(w, experts.down[e], ws.gated.from(first), count, nullptr, gathered + first * n_embd, n_embd);
    });
    w.join();

    // Each column takes in its experts in their order, whatever the batch.
    for (int64_t i; (i = w.next(n)) < n;) {
        float *x = out + i * n_embd;
        for (int64_t j = 0; j < n_used; j++) {
            const float weight = ws.weight.data()[i * n_used + j];
            const float *y = gathered + ws.pair_at.data()[i * n_used + j] * n_embd;
            for (int64_t d = 0; d < n_embd; d++) x[d] += weight * y[d];
        }
    }
    w.join();
}

} // namespace tr::arch
