#include "cpu/ops.h"

#include <cstring>

namespace tr::cpu {

namespace reference {
extern const Ops kTable;
}
#if defined(__x86_64__)
namespace avx2 {
extern const Ops kTable;
}
namespace avxvnni {
extern const Ops kTable;
}
namespace avx512vnni {
extern const Ops kTable;
}
#endif

namespace {

struct Entry {
    const Ops *ops;
    bool (*usable)();
};

#if defined(__x86_64__)
// __builtin_cpu_supports also asks whether the operating system saves the registers.
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"); }
bool has_avxvnni() { return has_avx2() && __builtin_cpu_supports("avxvnni"); }
bool has_avx512vnni() {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
}
#endif

// Fastest first.
const Entry kEntries[] = {
#if defined(__x86_64__)
    {&avx512vnni::kTable, has_avx512vnni},
    {&avxvnni::kTable, has_avxvnni},
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
