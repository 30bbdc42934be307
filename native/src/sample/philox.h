// Random numbers that are a pure function of what they are for: Philox4x32-10, a counter-based generator (Salmon, Moraes,
// Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
#pragma once
#include <array>
#include <cstdint>

namespace tr::sample {

// The ten-round block function: 128 random bits from a 128-bit counter and a 64-bit key.
std::array<uint32_t, 4> philox4x32_10(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// u in [0, 1) for the token at `position` of choice number `choice` drawn from stream `stream`: the top 53 bits of the
// block's first two words (first word high), with key = (seed's low half, high half) and counter = (position, choice,
// stream, 0).
double uniform(uint64_t seed, uint32_t choice, uint32_t position, uint32_t stream);

} // namespace tr::sample
