#include "cuda/operators.h"

#include <vector>

#include "cpu/activations.h"
#include "cuda/experts.h"
#include "cuda/kernels/launch.h"
#include "cuda/pack.h"

namespace tr::cuda {

namespace {

thread_local StepState *running = nullptr;

cudaStream_t stream() { return step_stream(); }

// ---- activations: the buffers of cpu::Activations hold device memory, laid out as QuantizedView says

uint8_t *column_at(const cpu::Buffer &b, const cpu::Activations &a, int64_t column_bytes) { return b.get() + a.first_column * column_bytes; }

Forms forms_of(const cpu::Activations &a, int64_t k, uint32_t forms) {
    const cpu::Activations::Impl &impl = *a.impl;
    const int64_t f32 = k * static_cast<int64_t>(sizeof(float));
    return {forms & cpu::kActF32 ? reinterpret_cast<float *>(column_at(impl.f32, a, f32)) : nullptr,
            forms & cpu::kActQ32 ? column_at(impl.q32, a, QuantizedView::bytes(k, 32)) : nullptr,
            forms & cpu::kActQ256 ? column_at(impl.q256, a, QuantizedView::bytes(k, 256)) : nullptr};
}

void reserve(cpu::Activations &a, int64_t n, int64_t k, uint32_t forms) {
    if (forms & cpu::kActF32) a.impl->f32 = allocate_device(static_cast<size_t>(n * k) * sizeof(float));
    if (forms & cpu::kActQ32) a.impl->q32 = allocate_device(static_cast<size_t>(n * QuantizedView::bytes(k, 32)));
    if (forms & cpu::kActQ256) a.impl->q256 = allocate_device(static_cast<size_t>(n * QuantizedView::bytes(k, 256)));
}

void prepare_all(cpu::Worker &, const float *x, int64_t n, int64_t k, uint32_t forms, cpu::Activations &acts) {
    prepare(x, n, k, forms_of(acts, k, forms), stream());
}

void norm_all(cpu::Worker &, const float *x, int64_t n, int64_t k, const float *gain, float eps, float *y, uint32_t forms, cpu::Activations &acts) {
    rms_norm(x, n, k, gain, eps, y, forms_of(acts, k, forms), stream());
}

void add_norm_all(cpu::Worker &, const float *y, int64_t n, int64_t k, const float *gain, float eps, float *x) { add_norm(y, n, k, gain, eps, x, stream()); }

// ---- products

void multiply(const cpu::Matrix &m, const cpu::Activations &acts, int64_t n, const float *bias, float *out, int64_t stride, Finish finish) {
    const Product p{view(m), n, bias, out, stride, finish};
    const Forms forms = forms_of(acts, m.cols, m.form());
    if (m.form() == cpu::kActF32) multiply_floats(p, forms.f32, stream());
    else if (m.form() == cpu::kActQ32) multiply_quantized(p, {forms.q32, m.cols, 32}, stream());
    else multiply_quantized(p, {forms.q256, m.cols, 256}, stream());
}

void matmul(cpu::Worker &, const cpu::Matrix &m, const cpu::Activations &acts, int64_t n, const float *bias, float *out, int64_t stride) {
    multiply(m, acts, n, bias, out, stride, Finish::kStore);
}

void matmul_add(cpu::Worker &, const cpu::Matrix &m, const cpu::Activations &acts, int64_t n, float *out, int64_t stride) {
    multiply(m, acts, n, nullptr, out, stride, Finish::kAdd);
}

void matmul_gated(cpu::Worker &, const cpu::Matrix &gate, const cpu::Matrix &up, cpu::Gate kind, const cpu::Activations &acts, int64_t n, float *out, int64_t stride) {
    multiply(gate, acts, n, nullptr, out, stride, Finish::kStore);
    multiply(up, acts, n, nullptr, out, stride, kind == cpu::Gate::kGelu ? Finish::kGelu : Finish::kSilu);
}

// ---- positions

void rope_store_all(cpu::Worker &, const cpu::AttentionShape &shape, const cpu::QueryToken *tokens, int64_t n, float *q, float *k, const float *v,
                    const cpu::Rotation &rotation, cpu::KvLayer kv) {
    rope_store(shape, {tokens, n}, q, k, v, rotation, kv, stream());
}

void attention(cpu::Worker &, const cpu::AttentionShape &shape, const cpu::QueryToken *tokens, int64_t n, const float *q, cpu::KvLayer kv,
               cpu::AttentionScratch &, float *out) {
    const int64_t segments = running->segments;
    const auto floats = static_cast<size_t>(n * shape.n_head * segments * (shape.head_dim + 2));
    float *partials = segments > 1 && floats <= running->partial_floats ? reinterpret_cast<float *>(running->partials.get()) : nullptr;
    attend({shape, kv, {tokens, n}, q, out, segments, partials}, stream());
}

// ---- loading

size_t packed_size(cpu::Matrix &m) {
    m.layout = cpu::Layout::kFileRows;
    return static_cast<size_t>(packed_bytes(m));
}

void pack_and_put(cpu::Worker &, cpu::Matrix &m, const void *src) {
    std::vector<uint8_t> packed(static_cast<size_t>(packed_bytes(m)));
    pack(m, static_cast<const uint8_t *>(src), packed.data());
    put(m.data.get(), packed.data(), packed.size());
}

void embed_all(cpu::Worker &, const cpu::Matrix &m, const int32_t *ids, int64_t n, float scale, float *x) { embed(view(m), ids, n, scale, x, stream()); }

void add_experts_all(const cpu::Ops &, cpu::Worker &, const arch::Shape &shape, arch::ExpertWorkspace &ws, int64_t n, const arch::Experts &experts,
                     const cpu::Activations &h, float *x) {
    add_experts(*running, shape, ws, n, experts, h, x);
}

} // namespace

cudaStream_t step_stream() { return running->stream; }

Running::Running(StepState &state) { running = &state; }
Running::~Running() { running = nullptr; }

const cpu::Ops kOperators{"cuda", packed_size, pack_and_put, prepare_all, norm_all, add_norm_all, matmul, matmul_add, matmul_gated, rope_store_all, attention,
                          nullptr, nullptr}; // rows of logits are looked at by the processor

arch::Backend backend() { return {kOperators, false, allocate_device, put, reserve, embed_all, add_experts_all}; }

} // namespace tr::cuda
