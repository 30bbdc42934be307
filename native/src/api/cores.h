#pragma once
#include <cstdint>

namespace tr::api {

// Cores this process may use, at least 1: those of its affinity mask, less if its control group has a smaller CPU quota.
int32_t usable_cores();

} // namespace tr::api
