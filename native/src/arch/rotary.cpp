#include "arch/rotary.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace tr::arch {

namespace {

// Peng et al., "YaRN: Efficient Context Window Extension of Large Language Models", section 3: frequencies that turn often
// within the original context stay, those that turn less than once are divided by the factor, a ramp lies between.
void scale_yarn(Rotary &r, const gguf::Metadata &m, const std::string &p, double base, double factor) {
    const auto context = static_cast<double>(m.integer(p + "rope.scaling.original_context_length", 1, INT32_MAX));
    const double beta_fast = m.find_number(p + "rope.scaling.yarn_beta_fast", 0, 1e6).value_or(32);
    const double beta_slow = m.find_number(p + "rope.scaling.yarn_beta_slow", 0, 1e6).value_or(1);
    const double extrapolated = m.find_number(p + "rope.scaling.yarn_ext_factor", 0, 1).value_or(1);
    const double attention = m.find_number(p + "rope.scaling.yarn_attn_factor", 1e-3, 1e3)
                                 .value_or(m.find_number(p + "rope.scaling.attn_factor", 1e-3, 1e3).value_or(1));
    if (beta_fast <= beta_slow || beta_slow <= 0) {
        fail(TR_ERR_FORMAT, "YaRN scaling from %g down to %g turns makes no ramp", beta_fast, beta_slow);
    }
    const auto dims = static_cast<double>(2 * r.frequency.size());
    // The pair that turns `turns` times within the original context.
    const auto pair_of = [&](double turns) { return dims * std::log(context / (turns * 2 * std::numbers::pi)) / (2 * std::log(base)); };
    const double low = std::max(0.0, std::floor(pair_of(beta_fast))), high = std::min(dims - 1, std::ceil(pair_of(beta_slow)));
    for (size_t i = 0; i < r.frequency.size(); i++) {
        const double ramp = std::clamp((static_cast<double>(i) - low) / std::max(0.001, high - low), 0.0, 1.0);
        const double keep = (1 - ramp) * extrapolated;
        r.frequency[i] *= keep + (1 - keep) / factor;
    }
    r.magnitude = attention * (1 + 0.1 * std::log(factor)); // equation 22: the temperature of the attention logits
}

} // namespace

Rotary plain_rotary(int32_t head_dim, double base) {
    Rotary r;
    for (int32_t i = 0; i < head_dim / 2; i++) r.frequency.push_back(std::pow(base, -2.0 * i / head_dim));
    return r;
}

Rotary read_rotary(const gguf::Metadata &m, const std::string &prefix, int32_t head_dim) {
    const std::string p = prefix + ".";
    const double base = m.find_number(p + "rope.freq_base", 1, 1e12).value_or(10000);
    Rotary r = plain_rotary(head_dim, base);
    const auto type = m.find_string(p + "rope.scaling.type");
    // Files of 2023 state a linear factor without a type.
    const auto linear = m.find_number(p + "rope.scale_linear", 0, 1e6);
    const double factor = m.find_number(p + "rope.scaling.factor", 0, 1e6).value_or(linear.value_or(1));
    if (factor == 0 || factor == 1) return r; // nothing is scaled; 0 is how old files say so
    if (factor < 1) fail(TR_ERR_UNSUPPORTED, "%srope.scaling.factor is %g; this build stretches positions, by 1 or more", p.c_str(), factor);
    if (!type ? linear.has_value() : *type == "linear") {
        for (double &f : r.frequency) f /= factor;
    } else if (type && *type == "yarn") {
        if (base <= 1) fail(TR_ERR_FORMAT, "%srope.freq_base is %g: YaRN scaling needs one above 1", p.c_str(), base);
        scale_yarn(r, m, p, base, factor);
    } else if (type && *type != "none") {
        fail(TR_ERR_UNSUPPORTED, "%srope.scaling.type is %s, which is not supported; none, linear and yarn are", p.c_str(), quoted(*type).c_str());
    }
    return r;
}

void divide_frequencies(Rotary &rotary, const Array<float> &factors) {
    for (size_t i = 0; i < rotary.frequency.size(); i++) {
        const auto factor = static_cast<double>(factors[i]);
        if (!(factor > 0)) fail(TR_ERR_FORMAT, "tensor \"rope_freqs.weight\" has %g as factor %zu; factors are above 0", factor, i);
        rotary.frequency[i] /= factor;
    }
}

} // namespace tr::arch
