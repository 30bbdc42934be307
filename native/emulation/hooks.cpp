// What g++ calls at each load and store under -fsanitize=thread. The names are those of its run-time library, which is not linked.
#include <cstddef>
#include <cstdint>

#include "emulation/device_memory.h"
#include "emulation/execution.h"
#include "emulation/report.h"
#include "emulation/tracking.h"

using namespace tr::emulation;

namespace {

void track_aligned(const void *p, size_t n, bool write, const void *pc) {
    if (reinterpret_cast<uintptr_t>(p) % n && in_kernel() && (device_memory().contains(p) || is_shared(p))) {
        fail_at(pc, nullptr, "a %s of %zu bytes at %p, which is not a multiple of that", write ? "write" : "read", n, p);
    }
    track(p, n, write, pc);
}

} // namespace

extern "C" {
void __tsan_init() { enable_tracking(); }
#define TR_HOOKS(n)                                                                                                     \
    void __tsan_read##n(void *p) { track_aligned(p, n, false, __builtin_return_address(0)); }                           \
    void __tsan_write##n(void *p) { track_aligned(p, n, true, __builtin_return_address(0)); }                           \
    void __tsan_volatile_read##n(void *p) { track_aligned(p, n, false, __builtin_return_address(0)); }                  \
    void __tsan_volatile_write##n(void *p) { track_aligned(p, n, true, __builtin_return_address(0)); }                  \
    void __tsan_unaligned_read##n(void *p) { track(p, n, false, __builtin_return_address(0)); }                         \
    void __tsan_unaligned_write##n(void *p) { track(p, n, true, __builtin_return_address(0)); }
TR_HOOKS(1)
TR_HOOKS(2)
TR_HOOKS(4)
TR_HOOKS(8)
TR_HOOKS(16)
void __tsan_read_range(void *p, size_t n) { track(p, n, false, __builtin_return_address(0)); }
void __tsan_write_range(void *p, size_t n) { track(p, n, true, __builtin_return_address(0)); }
}
