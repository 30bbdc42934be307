// What the operator tests share: random weights in file layout, matrices packed by a table, activations, and bitwise comparison.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "cpu/activations.h"
#include "cpu/ops.h"
#include "quant/blocks.h"
#include "support/check.h"

namespace tr::test {

// splitmix64: the same numbers on every machine.
class Random {
public:
    explicit Random(uint64_t seed) : state_(seed) {}
    uint64_t bits() {
        uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }
    float uniform(float low, float high) { return low + (high - low) * static_cast<float>(bits() >> 40) * 0x1p-24f; }
    float normal() { // the sum of four uniforms is close enough
        float sum = 0;
        for (int i = 0; i < 4; i++) sum += uniform(-1, 1);
        return sum * 0.866f;
    }

private:
    uint64_t state_;
};

inline std::vector<float> normals(Random &random, size_t n) {
    std::vector<float> x(n);
    for (float &v : x) v = random.normal();
    return x;
}

// Every table that this machine runs, the reference first.
inline std::vector<const cpu::Ops *> usable_tables() {
    std::vector<const cpu::Ops *> tables;
    for (const char *isa : {"reference", "avx2", "avxvnni", "avx512vnni"})
        if (cpu::isa_usable(isa)) tables.push_back(cpu::ops_by_name(isa));
    return tables;
}

inline std::vector<quant::Type> all_types() {
    std::vector<quant::Type> types;
    for (const quant::TypeInfo &info : quant::supported_types()) types.push_back(info.type);
    return types;
}

inline const quant::TypeInfo &info_of(quant::Type type) { return *quant::type_info(static_cast<uint32_t>(type)); }

// Weights of [rows, cols] in file layout.
struct FileWeights {
    quant::Type type;
    int64_t rows, cols;
    std::vector<uint8_t> bytes;

    size_t row_bytes() const { return static_cast<size_t>(cols) / info_of(type).block * info_of(type).bytes; }
    std::vector<float> row(int64_t r) const {
        std::vector<float> w(static_cast<size_t>(cols));
        quant::dequantize(type, bytes.data() + static_cast<size_t>(r) * row_bytes(), w.data(), w.size());
        return w;
    }
};

enum class Codes { kRandom, kLargest }; // kLargest: all bits of all codes and scales set, or none, block by block

inline FileWeights random_weights(Random &random, quant::Type type, int64_t rows, int64_t cols, Codes codes = Codes::kRandom) {
    FileWeights w{type, rows, cols, {}};
    w.bytes.resize(w.row_bytes() * static_cast<size_t>(rows));
    const size_t block = info_of(type).bytes;
    for (size_t at = 0; at < w.bytes.size(); at += block) {
        uint8_t *b = w.bytes.data() + at;
        const bool ones = random.bits() & 1;
        for (size_t i = 0; i < block; i++) b[i] = codes == Codes::kLargest ? (ones ? 0xff : 0) : static_cast<uint8_t>(random.bits());
        const auto put_half = [&](size_t offset, float value) {
            const uint16_t h = quant::float_to_half(value);
            std::memcpy(b + offset, &h, sizeof h);
        };
        const auto put_small = [&](size_t offset) { put_half(offset, random.uniform(0.001f, 0.002f)); };
        const auto put_signed = [&](size_t offset) { put_half(offset, random.uniform(-0.002f, 0.002f)); };
        switch (type) {
        case quant::Type::F32: {
            const float v = random.normal();
            std::memcpy(b, &v, sizeof v);
            break;
        }
        case quant::Type::BF16: {
            const float v = random.normal();
            std::memcpy(b, reinterpret_cast<const uint8_t *>(&v) + 2, 2);
            break;
        }
        case quant::Type::F16: put_half(0, random.normal()); break;
        case quant::Type::Q4_K:
        case quant::Type::Q5_K: put_half(2, random.uniform(0.002f, 0.004f)); [[fallthrough]];
        case quant::Type::Q5_0:
        case quant::Type::Q8_0: put_small(0); break;
        case quant::Type::Q4_1:
        case quant::Type::Q5_1: put_half(2, random.uniform(-0.03f, 0.01f)); [[fallthrough]];
        case quant::Type::Q4_0:
        case quant::Type::IQ4_NL:
        case quant::Type::IQ4_XS: put_signed(0); break;
        case quant::Type::Q2_K:
            put_small(offsetof(quant::BlockQ2_K, d));
            put_small(offsetof(quant::BlockQ2_K, dmin));
            break;
        case quant::Type::Q3_K: put_signed(offsetof(quant::BlockQ3_K, d)); break;
        case quant::Type::Q6_K: put_signed(offsetof(quant::BlockQ6_K, d)); break;
        case quant::Type::MXFP4: b[0] = static_cast<uint8_t>(117 + random.bits() % 4); break; // steps of 2^-11 to 2^-8
        }
    }
    return w;
}

inline cpu::Matrix pack(const cpu::Ops &ops, cpu::Pool &pool, const FileWeights &w, bool exact_float = false) {
    cpu::Matrix m;
    m.type = w.type;
    m.rows = w.rows;
    m.cols = w.cols;
    m.exact_float = exact_float;
    m.allocate(ops.packed_bytes(m));
    pool.run([&](cpu::Worker &worker) { ops.pack(worker, m, w.bytes.data()); });
    return m;
}

template <class T> bool same_bits(const T *a, const T *b, size_t n) { return std::memcmp(a, b, n * sizeof(T)) == 0; }

inline std::string describe(const cpu::Ops &ops, quant::Type type, int64_t rows, int64_t cols, int64_t n) {
    return std::string(ops.isa) + " " + info_of(type).name + " " + std::to_string(rows) + "x" + std::to_string(cols) + " batch " +
           std::to_string(n);
}

} // namespace tr::test

// Like CHECK, with a description of the case.
#define CHECK_CASE(condition, what) ((condition) ? void() : ::tr::test::failed(__FILE__, __LINE__, std::string(#condition) + " for " + (what)))
