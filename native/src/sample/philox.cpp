#include "sample/philox.h"

namespace tr::sample {

std::array<uint32_t, 4> philox4x32_10(std::array<uint32_t, 4> c, std::array<uint32_t, 2> key) {
    // Multipliers and Weyl increments of the paper's table 2 and section 4.3.
    constexpr uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57, kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = uint64_t{kMultiplier0} * c[0], p1 = uint64_t{kMultiplier1} * c[2];
        c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(p1),
             static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(p0)};
        key[0] += kWeyl0;
        key[1] += kWeyl1;
    }
    return c;
}

double uniform(uint64_t seed, uint32_t choice, uint32_t position, uint32_t stream) {
    const auto words = philox4x32_10({position, choice, stream, 0}, {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
    const uint64_t bits = uint64_t{words[0]} << 32 | words[1];
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

} // namespace tr::sample
