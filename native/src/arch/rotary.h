// Rotary position embeddings (Su et al., "RoFormer", section 3.2.2) with the scalings that GGUF files ask for.
#pragma once
#include <string>
#include <vector>

#include "base/memory.h"
#include "gguf/file.h"

namespace tr::arch {

// The angles of one kind of layer: pair i of a head is rotated by position * frequency[i], and multiplied by magnitude.
struct Rotary {
    std::vector<double> frequency; // [head_dim/2]
    double magnitude = 1;
};

// frequency[i] = base^(-2i/head_dim).
Rotary plain_rotary(int32_t head_dim, double base);

// As the keys of `prefix` ("llama") say: the base, and none, linear or YaRN scaling. Throws Error; a scaling that this build does not
// compute is TR_ERR_UNSUPPORTED.
Rotary read_rotary(const gguf::Metadata &m, const std::string &prefix, int32_t head_dim);

// Divides each frequency by its factor ("rope_freqs.weight", what Llama 3.1 and later scale with). Throws Error for a factor
// that is not above 0.
void divide_frequencies(Rotary &rotary, const Array<float> &factors);

} // namespace tr::arch
