#include "cpu/ops.h"

#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tr::cpu {

namespace reference {
extern const Ops kTable;
}
namespace avx2 {
extern const Ops kTable;
}
namespace avxvnni {
extern const Ops kTable;
}
namespace avx512vnni {
extern const Ops kTable;
}

namespace {

struct Entry {
    const Ops *ops;
    bool (*usable)();
};

#if defined(__x86_64__)
// Features that not every compiler's __builtin_cpu_supports knows. Both work on registers whose saving by the operating system
// the check for AVX2 has asked for.
bool has_f16c() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
[[maybe_unused]] bool has_avxvnni_bit() {
    constexpr unsigned kAvxVnni = 1 << 4; // leaf 7, subleaf 1, EAX
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & kAvxVnni);
}

// Not all are in every build (TR_ISAS). __builtin_cpu_supports also asks whether the operating system saves the registers.
[[maybe_unused]] bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c(); }
[[maybe_unused]] bool has_avxvnni() { return has_avx2() && has_avxvnni_bit(); }
[[maybe_unused]] bool has_avx512vnni() {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
}
#endif

// Fastest first.
const Entry kEntries[] = {
#if defined(TR_HAS_avx512vnni)
    {&avx512vnni::kTable, has_avx512vnni},
#endif
#if defined(TR_HAS_avxvnni)
    {&avxvnni::kTable, has_avxvnni},
#endif
#if defined(TR_HAS_avx2)
    {&avx2::kTable, has_avx2},
#endif
    {&reference::kTable, [] { return true; }},
};

const Entry *find(const char *isa) {
    for (const Entry &e : kEntries)
        if (isa && std::strcmp(e.ops->isa, isa) == 0) return &e;
    return nullptr;
}

} // namespace

const Ops *ops_by_name(const char *isa) {
    const Entry *e = find(isa);
    return e ? e->ops : nullptr;
}

bool isa_usable(const char *isa) {
    const Entry *e = find(isa);
    return e && e->usable();
}

const Ops *best_ops() {
    for (const Entry &e : kEntries)
        if (e.usable()) return e.ops;
    return &reference::kTable;
}

} // namespace tr::cpu
