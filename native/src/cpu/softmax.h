#pragma once

namespace tr::cpu {

// softmax_stats takes x - max to be at least this: the exponential there is 0 already, and 0 times it is 0, where 0 times
// minus infinity would not be a number.
constexpr float kStatsFloor = -1000.0f;

} // namespace tr::cpu
