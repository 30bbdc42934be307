// A GPU as a device of the C ABI.
#include "api/host.h"
#include "cuda/heads.h"
#include "cuda/step.h"

namespace tr::cuda {

namespace {

using namespace api;

class Gpu final : public Device {
public:
    Gpu(const Host &host, int32_t number) : Device(host.pool, host.ops, cuda::backend(), kHeadOperators), number_(number) {}
    void enter() const override { choose_device(number_); }
    const char *kind() const override { return "cuda"; }
    const char *isa() const override { return ops->isa; }
    std::unique_ptr<api::StepMemory> allocate(const tr_arena &arena) const override { return std::make_unique<Memory>(arena, backend); }
    void run(tr_arena &arena, const tr_batch &batch) const override { run_step(arena, batch); }
    void copy_page(tr_arena &arena, int32_t from, int32_t to) const override {
        const arch::Shape &s = arena.model->shape;
        const int64_t n = s.page_bytes(arena.workspace->kv_type);
        const Stream &stream = static_cast<Memory &>(*arena.memory).state.stream;
        for (int32_t i = 0; i < s.n_layer; i++) {
            const cpu::KvLayer kv = arena.workspace->layer(s, i);
            within_device(kv.k + to * n, kv.k + from * n, static_cast<size_t>(n), stream);
            within_device(kv.v + to * n, kv.v + from * n, static_cast<size_t>(n), stream);
        }
        stream.wait();
    }

private:
    const int32_t number_;
};

std::shared_ptr<const Device> open(const tr_device_params &params, int32_t number) {
    choose_device(number);
    return std::make_shared<Gpu>(open_host(params), number);
}

[[maybe_unused]] const bool registered = register_kind({"cuda", open});

} // namespace

} // namespace tr::cuda
