#include "api/cores.h"

#include <algorithm>
#include <cstdio>
#include <sched.h>
#include <thread>

namespace tr::api {

namespace {

int32_t cores_of_affinity() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    return static_cast<int32_t>(std::thread::hardware_concurrency()); // more cores than the fixed-size set holds
}

// The quota of control groups version 2, "QUOTA PERIOD" in microseconds or "max PERIOD", rounded up; INT32_MAX if none.
int32_t cores_of_quota() {
    std::FILE *file = std::fopen("/sys/fs/cgroup/cpu.max", "re");
    if (!file) return INT32_MAX;
    long long quota = 0, period = 0;
    const bool limited = std::fscanf(file, "%lld %lld", &quota, &period) == 2 && quota > 0 && period > 0;
    std::fclose(file);
    return limited ? static_cast<int32_t>(std::min<long long>((quota + period - 1) / period, INT32_MAX)) : INT32_MAX;
}

} // namespace

int32_t usable_cores() { return std::max(1, std::min(cores_of_affinity(), cores_of_quota())); }

} // namespace tr::api
