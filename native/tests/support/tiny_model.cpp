#include "support/tiny_model.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "quant/blocks.h"

namespace tr::test {

namespace {

using quant::Type;

// Random weights of about the given standard deviation, written in the layout of a type. The codes are drawn, not
// quantized from floats: any codes are a valid matrix.
class Weights {
public:
    explicit Weights(uint32_t seed) : random_(seed) {}

    Bytes floats(uint64_t n, float mean, float deviation) {
        Bytes out;
        for (uint64_t i = 0; i < n; i++) put(out, mean + deviation * normal());
        return out;
    }

    Bytes matrix(Type type, uint64_t n, float deviation) {
        if (type == Type::F32) return floats(n, 0, deviation);
        Bytes out;
        const quant::TypeInfo *info = quant::type_info(static_cast<uint32_t>(type));
        for (uint64_t i = 0; i < n / info->block; i++) block(out, type, deviation * scale());
        return out;
    }

private:
    // Of the standard library only the generator gives the same numbers everywhere; its distributions do not.
    float uniform() { return static_cast<float>(random_() >> 8) * 0x1p-24f; }
    float scale() { return 0.5f + uniform(); }
    float normal() { // the sum of four uniforms is close enough
        float sum = -2;
        for (int i = 0; i < 4; i++) sum += uniform();
        return sum * 1.7320508f;
    }
    uint16_t half(float x) { return quant::float_to_half(x); }
    template <class T, size_t N> void fill(T (&codes)[N]) {
        for (T &c : codes) c = static_cast<T>(random_());
    }

    // Bytes of random codes, then the scales: about the deviation asked for, whatever the codes.
    template <class Block, class Scales> void coded(Bytes &out, Scales &&scales) {
        Block b;
        uint8_t bytes[sizeof b];
        fill(bytes);
        std::memcpy(&b, bytes, sizeof b);
        scales(b);
        put(out, b);
    }

    void block(Bytes &out, Type type, float deviation) {
        using namespace quant;
        // The deviation of codes from 0 to n-1 is n / sqrt(12).
        const auto d = [&](float codes) { return [=, this](auto &b) { b.d = half(deviation / codes); }; };
        const auto d_and_m = [&](float codes, float middle) {
            return [=, this](auto &b) { b.d = half(deviation / codes), b.m = half(-middle * deviation / codes); };
        };
        const auto d_and_dmin = [&](float codes, float middle) {
            return [=, this](auto &b) { b.d = half(deviation / codes), b.dmin = half(middle * deviation / codes); };
        };
        switch (type) {
        case Type::F32: break;
        case Type::F16: put(out, half(deviation * normal())); break;
        case Type::BF16: {
            const float v = deviation * normal();
            put(out, static_cast<uint16_t>(std::bit_cast<uint32_t>(v) >> 16));
            break;
        }
        case Type::Q4_0: coded<BlockQ4_0>(out, d(4.6f)); break;
        case Type::Q4_1: coded<BlockQ4_1>(out, d_and_m(4.6f, 7.5f)); break;
        case Type::Q5_0: coded<BlockQ5_0>(out, d(9.2f)); break;
        case Type::Q5_1: coded<BlockQ5_1>(out, d_and_m(9.2f, 15.5f)); break;
        case Type::Q8_0: coded<BlockQ8_0>(out, d(74)); break;
        case Type::IQ4_NL: coded<BlockIQ4_NL>(out, d(71)); break;
        case Type::MXFP4: // powers of two: the deviation of the codes is 5.4
            coded<BlockMXFP4>(out, [&](auto &b) { b.e = static_cast<uint8_t>(128 + std::lround(std::log2(deviation / 5.4f))); });
            break;
        // Scales and minimums 0..15 or 0..63: if dmin is d times the middle code, weights lie around 0.
        case Type::Q2_K: coded<BlockQ2_K>(out, d_and_dmin(13, 1.5f)); break;
        case Type::Q4_K: coded<BlockQ4_K>(out, d_and_dmin(220, 7.5f)); break;
        case Type::Q5_K: coded<BlockQ5_K>(out, d_and_dmin(450, 15.5f)); break;
        // Scales -32..31 or -128..127 times codes.
        case Type::Q3_K: coded<BlockQ3_K>(out, d(18.5f * 2.3f)); break;
        case Type::Q6_K: coded<BlockQ6_K>(out, d(18.5f * 74)); break;
        case Type::IQ4_XS: coded<BlockIQ4_XS>(out, d(18.5f * 71)); break;
        }
    }

    std::mt19937 random_;
};

} // namespace

Type mixed_types(const std::string &name) {
    if (name == "token_embd.weight") return Type::Q5_0;
    if (name == "output.weight") return Type::Q6_K;
    if (name == "blk.0.attn_q.weight" || name == "blk.1.ffn_down.weight") return Type::Q4_K;
    if (name == "blk.0.attn_k.weight" || name == "blk.1.attn_q.weight") return Type::Q5_0;
    if (name == "blk.0.attn_v.weight" || name == "blk.1.attn_v.weight") return Type::Q8_0;
    if (name == "blk.0.attn_output.weight") return Type::F16;
    if (name == "blk.0.ffn_down.weight" || name == "blk.1.attn_k.weight") return Type::Q6_K;
    if (name.starts_with("blk.0.ffn")) return Type::Q4_K;
    return Type::Q5_0;
}

TinyModel narrow_model(uint32_t n_vocab) {
    TinyModel model;
    model.n_vocab = n_vocab;
    model.n_layer = 1;
    model.n_embd = 64;
    model.n_head = 2;
    model.n_head_kv = 1;
    model.n_ff = 32;
    return model;
}

GgufWriter TinyModel::writer() const {
    const uint32_t head_dim = n_embd / n_head, kv_dim = head_dim * n_head_kv;
    GgufWriter w;
    w.string("general.architecture", "qwen2");
    w.string("general.name", "tiny");
    w.u32("qwen2.block_count", n_layer);
    w.u32("qwen2.context_length", n_ctx);
    w.u32("qwen2.embedding_length", n_embd);
    w.u32("qwen2.feed_forward_length", n_ff);
    w.u32("qwen2.attention.head_count", n_head);
    w.u32("qwen2.attention.head_count_kv", n_head_kv);
    w.f32("qwen2.attention.layer_norm_rms_epsilon", 1e-6f);
    w.f32("qwen2.rope.freq_base", 10000);

    Weights weights(seed);
    const auto vector = [&](const std::string &name, uint64_t n, float mean, float deviation) {
        w.tensors.push_back({name, {n}, static_cast<uint32_t>(Type::F32), weights.floats(n, mean, deviation)});
    };
    const auto matrix = [&](const std::string &name, uint64_t inputs, uint64_t outputs, float gain = 1) {
        const Type t = type ? type(name) : Type::F32;
        const float deviation = gain / std::sqrt(static_cast<float>(inputs));
        w.tensors.push_back({name, {inputs, outputs}, static_cast<uint32_t>(t), weights.matrix(t, inputs * outputs, deviation)});
    };
    matrix("token_embd.weight", n_embd, n_vocab, 4); // as output matrix too: logits that differ by several nats
    vector("output_norm.weight", n_embd, 1, 0.1f);
    if (!tied) matrix("output.weight", n_embd, n_vocab, 3);
    for (uint32_t i = 0; i < n_layer; i++) {
        const std::string b = "blk." + std::to_string(i) + ".";
        vector(b + "attn_norm.weight", n_embd, 1, 0.1f);
        matrix(b + "attn_q.weight", n_embd, n_embd);
        matrix(b + "attn_k.weight", n_embd, kv_dim);
        matrix(b + "attn_v.weight", n_embd, kv_dim);
        vector(b + "attn_q.bias", n_embd, 0, 0.5f);
        vector(b + "attn_k.bias", kv_dim, 0, 0.5f);
        vector(b + "attn_v.bias", kv_dim, 0, 0.5f);
        matrix(b + "attn_output.weight", n_embd, n_embd);
        vector(b + "ffn_norm.weight", n_embd, 1, 0.1f);
        if (i == 0 && massive != 1) std::memcpy(w.tensors.back().data.data() + 7 * sizeof massive, &massive, sizeof massive);
        matrix(b + "ffn_gate.weight", n_embd, n_ff, 2);
        matrix(b + "ffn_up.weight", n_embd, n_ff);
        matrix(b + "ffn_down.weight", n_ff, n_embd);
    }
    return w;
}

} // namespace tr::test
