// What the tests of CUDA's operators share: memory of the device, and every mode that kernels are run in. The tests are built twice: for the
// emulation (TR_EMULATION), and for a GPU.
#pragma once
#include <functional>
#include <vector>

#include "cpu/fixtures.h"
#include "cuda/kernels/launch.h"
#include "cuda/pack.h"
#include "cuda/runtime.h"

#if defined(TR_EMULATION)
#include "emulation/execution.h"
#include "emulation/streams.h"
#include "emulation/tracking.h"
#endif

namespace tr::test {

// n values on the device.
template <class T> class OnDevice {
public:
    explicit OnDevice(size_t n) : memory_(cuda::allocate_device(n * sizeof(T))), n_(n) {}
    explicit OnDevice(const std::vector<T> &values) : OnDevice(values.size()) { cuda::put(memory_.get(), values.data(), n_ * sizeof(T)); }
    T *get() const { return reinterpret_cast<T *>(memory_.get()); }
    std::vector<T> values(const cuda::Stream &stream) const {
        std::vector<T> v(n_);
        cuda::to_host(v.data(), get(), n_ * sizeof(T), stream);
        stream.wait();
        return v;
    }

private:
    cpu::Buffer memory_;
    size_t n_;
};

// f() in the orders of threads and blocks, and the modes of streams, that the emulation has.
inline void in_every_mode(const std::function<void()> &f) {
#if defined(TR_EMULATION)
    for (const bool lazy : {false, true}) {
        emulation::set_lazy(lazy);
        emulation::set_order(lazy ? emulation::Order::kRandom : emulation::Order::kForward, 7);
        f();
    }
    emulation::set_order(emulation::Order::kBackward);
    f();
    emulation::set_order(emulation::Order::kForward);
    emulation::set_lazy(false);
#else
    f();
#endif
}

// Whether each load and store is checked, which takes long.
inline bool every_access_checked() {
#if defined(TR_EMULATION)
    return emulation::tracking();
#else
    return false;
#endif
}

// Of this process; 0 on a GPU, which cannot say.
inline size_t device_bytes_in_use() {
#if defined(TR_EMULATION)
    return emulation::device_bytes_in_use();
#else
    return 0;
#endif
}

inline cpu::Matrix on_device(const FileWeights &w, bool exact_float = false) {
    cpu::Matrix m;
    m.type = w.type;
    m.rows = w.rows;
    m.cols = w.cols;
    m.exact_float = exact_float;
    std::vector<uint8_t> packed(static_cast<size_t>(cuda::packed_bytes(m)));
    cuda::pack(m, w.bytes.data(), packed.data());
    m.bytes = packed.size();
    m.data = cuda::allocate_device(packed.size());
    cuda::put(m.data.get(), packed.data(), packed.size());
    return m;
}

inline const cpu::Ops &reference() { return *cpu::ops_by_name("reference"); }

} // namespace tr::test
