// A model in each format decodes as its twin whose weights are those of the format as floats: bit for bit with float
// activations, and within the error of 8-bit activations as it is served.
#include <cmath>
#include <cstring>

#include "support/check.h"
#include "support/engine.h"
#include "support/tiny_model.h"

using namespace tr;
using namespace tr::test;

namespace {

// The same weights as F32.
Bytes float_twin(GgufWriter w) {
    for (TensorRecord &t : w.tensors) {
        const quant::TypeInfo &info = *quant::type_info(t.type);
        std::vector<float> weights(t.data.size() / info.bytes * info.block);
        quant::dequantize(info.type, t.data.data(), weights.data(), weights.size());
        t.type = static_cast<uint32_t>(quant::Type::F32);
        t.data.resize(weights.size() * sizeof(float));
        std::memcpy(t.data.data(), weights.data(), t.data.size());
    }
    return w.bytes();
}

// Prefill, then token by token.
std::vector<Answer> decode(const Engine &e) {
    constexpr int32_t kPrompt = 40, kLength = 60;
    const auto tokens = random_tokens(kLength, e.info.n_vocab, 5);
    auto answers = step(e, {{0, {tokens.begin(), tokens.begin() + kPrompt}, upto(2), upto(kPrompt)}});
    for (int32_t i = kPrompt; i < kLength; i++) answers.push_back(step(e, {{i, {tokens[static_cast<size_t>(i)]}, upto(2), {0}}})[0]);
    return answers;
}

// Root mean square difference of all logits over their standard deviation.
double distance(const std::vector<Answer> &a, const std::vector<Answer> &b) {
    double difference = 0, sum = 0, squares = 0, n = 0;
    for (size_t i = 0; i < a.size(); i++)
        for (size_t j = 0; j < a[i].logits.size(); j++, n++) {
            const double x = a[i].logits[j], y = b[i].logits[j];
            difference += (x - y) * (x - y);
            sum += x;
            squares += x * x;
        }
    return std::sqrt(difference / n / (squares / n - sum / n * (sum / n)));
}

void check(const quant::TypeInfo &info) {
    TinyModel model;
    model.type = [&](const std::string &) { return info.type; };
    const Bytes file = model.bytes();
    const auto twin = decode(Engine(float_twin(model.writer())));
    const auto exact = decode(Engine(file, {.flags = TR_MODEL_EXACT_FLOAT}));
    if (distance(twin, exact) != 0) failed(__FILE__, __LINE__, std::string(info.name) + " with float activations: " + std::to_string(distance(twin, exact)));

    // A code of 8 bits is off by 1/127 of the block's largest value over the square root of 12: half a percent of the values'
    // deviation. Every product of the two layers adds its part, some of them to the residual stream and some to factors.
    const double d = distance(twin, decode(Engine(file))), bound = info.block == 1 ? 0 : 0.04;
    std::printf("%-6s logits off by %.4f of their deviation\n", info.name, d);
    if (!(d <= bound)) failed(__FILE__, __LINE__, std::string(info.name) + ": " + std::to_string(d));

    model.seed++;
    const double other = distance(twin, decode(Engine(model.bytes())));
    if (other < 1) failed(__FILE__, __LINE__, std::string(info.name) + ": another model is only " + std::to_string(other) + " away");
}

} // namespace

int main() {
    for (const quant::TypeInfo &info : quant::supported_types()) check(info);
    return report();
}
