#include "support/tiny_head.h"

#include <cmath>
#include <stdexcept>

namespace tr::test {

Network::Network(const char *kind, quant::Type type, uint64_t seed) : type_(type), state_(seed) {
    file.string("general.architecture", "router-head");
    file.string("general.name", "tiny head");
    file.string("router-head.kind", kind);
    file.f32("router-head.threshold", 0.75f);
}

void Network::tensor(const std::string &name, std::vector<uint64_t> dims, float deviation, quant::Type type) {
    uint64_t n = 1;
    for (uint64_t d : dims) n *= d;
    std::vector<float> values(n);
    for (float &v : values) v = deviation * uniform();
    Bytes bytes;
    for (float v : values) put(bytes, v);
    if (type != quant::Type::F32) {
        const quant::TypeInfo &info = *quant::type_info(static_cast<uint32_t>(type));
        Bytes coded(n / info.block * info.bytes);
        char err[256] = "";
        if (tr_convert(0, bytes.data(), bytes.size(), static_cast<uint32_t>(type), coded.data(), coded.size(), err, sizeof err) != TR_OK) throw std::runtime_error(err);
        bytes = coded;
    }
    file.tensors.push_back({name, std::move(dims), static_cast<uint32_t>(type), std::move(bytes)});
    tensors_.emplace_back(name, std::move(values));
}

void Network::dense(const std::string &name, uint64_t inputs, uint64_t outputs) {
    const bool whole = inputs % quant::type_info(static_cast<uint32_t>(type_))->block == 0;
    tensor(name + ".weight", {inputs, outputs}, 2 / std::sqrt(static_cast<float>(inputs)), whole ? type_ : quant::Type::F32);
    tensor(name + ".bias", {outputs}, 0.5f);
}

const std::vector<float> &Network::operator[](const std::string &name) const {
    for (const auto &[n, values] : tensors_)
        if (n == name) return values;
    throw std::runtime_error("no tensor " + name);
}

float Network::uniform() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(static_cast<int32_t>(state_ >> 40) - (1 << 23)) * 0x1p-23f;
}

Network linear_head(const HeadSizes &s) {
    Network n("linear", s.type, s.seed);
    n.tensor("out.weight", {s.n_embd}, 0.1f);
    return n;
}

Network mlp_head(const HeadSizes &s) {
    Network n("mlp", s.type, s.seed);
    n.dense("hidden", s.n_embd, s.inner);
    n.tensor("out.weight", {s.inner}, 0.3f);
    n.tensor("out.bias", {1}, 0.3f);
    return n;
}

Network residual_head(const HeadSizes &s) {
    Network n("residual", s.type, s.seed);
    n.dense("logits", s.top, s.n_embd);
    n.dense("combine", 3 * s.n_embd, s.width);
    n.dense("input", s.width, s.width);
    for (const char *b : {"block.0.", "block.1."}) {
        n.tensor(std::string(b) + "norm.weight", {s.width}, 1);
        n.tensor(std::string(b) + "norm.bias", {s.width}, 0.2f);
        n.dense(std::string(b) + "up", s.width, s.inner);
        n.dense(std::string(b) + "down", s.inner, s.width);
    }
    n.tensor("norm.weight", {s.width}, 1);
    n.tensor("norm.bias", {s.width}, 0.2f);
    n.tensor("out.weight", {s.width}, 0.3f);
    n.tensor("out.bias", {1}, 0.3f);
    return n;
}

HeadPtr load_head(const Engine &engine, const GgufWriter &file) {
    const TemporaryFile on_disk(file.bytes());
    char err[512] = "";
    tr_head *head = nullptr;
    if (tr_head_load(engine.model.get(), on_disk.path(), &head, err, sizeof err) != TR_OK) throw std::runtime_error(err);
    return HeadPtr(head);
}

} // namespace tr::test
