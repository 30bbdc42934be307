// Products: against double precision on the dequantized weights, and the same bits on every instruction set, in every batch,
// with any number of workers.
#include <algorithm>

#include "cpu/fixtures.h"

using namespace tr;

namespace {

// Batches go beyond one slab of 64 columns; without a sanitizer beyond two, and through all smaller ones.
#ifdef TR_SANITIZED
constexpr int64_t kMaxBatch = 67, kBatchStep = 7;
#else
constexpr int64_t kMaxBatch = 131, kBatchStep = 1;
#endif

struct Case {
    quant::Type type;
    int64_t rows, cols;
    bool exact_float = false;
    test::Codes codes = test::Codes::kRandom;
    bool massive = false; // activations with values thousands of times the others
};

std::string name(const Case &c, const cpu::Ops &ops, int64_t n) {
    return test::describe(ops, c.type, c.rows, c.cols, n) + (c.exact_float ? " exact" : "") +
           (c.codes == test::Codes::kLargest ? " largest codes" : "") + (c.massive ? " massive activations" : "");
}

// Columns of activations; for the largest codes, runs of +-127. Massive ones in two of three columns, in one block of 256 or in two.
std::vector<float> inputs(test::Random &random, const Case &c) {
    std::vector<float> x = test::normals(random, static_cast<size_t>(kMaxBatch * c.cols));
    if (c.codes == test::Codes::kLargest)
        for (int64_t i = 0; i < kMaxBatch * c.cols; i++) {
            const int64_t column = i / c.cols % 3;
            x[static_cast<size_t>(i)] = column == 0 ? 1.0f : column == 1 ? -1.0f : (random.bits() & 1 ? 1.0f : -1.0f);
        }
    if (c.massive)
        for (int64_t column = 0; column < kMaxBatch; column++)
            for (int64_t spike = 0; spike < column % 3; spike++)
                x[static_cast<size_t>(column * c.cols + (column * 37 + spike * 256) % c.cols)] = spike ? -4000.0f : 2500.0f;
    return x;
}

// The activations that the product sees, in double: codes times scale, and the remainder's where there is one.
std::vector<double> seen(const Case &c, const cpu::Matrix &m, const cpu::Activations &acts, int64_t n, int64_t column) {
    std::vector<double> x(static_cast<size_t>(c.cols));
    for (int64_t i = 0; i < c.cols; i++) {
        double &v = x[static_cast<size_t>(i)];
        switch (m.form()) {
        case cpu::kActF32: v = cpu::view_f32(acts, n, c.cols).at(column, i / 32)->x[i % 32]; break;
        case cpu::kActQ32: {
            const cpu::RecordQ32 &r = *cpu::view_q32(acts, n, c.cols).at(column, i / 64);
            v = static_cast<double>(r.q[i % 64]) * r.d[i % 64 / 32];
            break;
        }
        case cpu::kActQ256: {
            const cpu::RecordQ256 &r = *cpu::view_q256(acts, n, c.cols).at(column, i / 256);
            v = static_cast<double>(r.q[i % 256]) * r.d;
            const cpu::Remainders remainders = cpu::view_remainders(acts, n, c.cols);
            if (remainders.has(column, i / 256)) {
                const cpu::RecordQ256 &rest = *remainders.records.at(column, i / 256);
                v += static_cast<double>(rest.q[i % 256]) * rest.d;
            }
            break;
        }
        }
    }
    return x;
}

struct Outputs {
    std::vector<float> plain, biased, added, silu, gelu;
};

class Product {
public:
    Product(const Case &c, const cpu::Ops &ops, cpu::Pool &pool) : c_(c), ops_(ops), pool_(pool) {
        test::Random random(42);
        w_ = test::random_weights(random, c.type, c.rows, c.cols, c.codes);
        const test::FileWeights up = test::random_weights(random, c.type, c.rows, c.cols, c.codes);
        m_ = test::pack(ops, pool, w_, c.exact_float);
        up_ = test::pack(ops, pool, up, c.exact_float);
        x_ = inputs(random, c);
        bias_ = test::normals(random, static_cast<size_t>(c.rows));
        residual_ = test::normals(random, static_cast<size_t>(kMaxBatch * c.rows));
        acts_.reserve(kMaxBatch, c.cols, m_.form());
    }

    // All kinds of product over the first n columns. Output columns are a little apart; what lies between must stay.
    Outputs run(int64_t n) {
        const int64_t stride = c_.rows + 3;
        const auto fresh = [&] { return std::vector<float>(static_cast<size_t>(n * stride), kGap); };
        Outputs o{fresh(), fresh(), fresh(), fresh(), fresh()};
        for (int64_t i = 0; i < n; i++)
            std::copy_n(residual_.begin() + i * c_.rows, c_.rows, o.added.begin() + i * stride);
        pool_.run([&](cpu::Worker &w) {
            ops_.prepare(w, x_.data(), n, c_.cols, m_.form(), acts_);
            w.join();
            ops_.matmul(w, m_, acts_, n, nullptr, o.plain.data(), stride);
            ops_.matmul(w, m_, acts_, n, bias_.data(), o.biased.data(), stride);
            ops_.matmul_add(w, m_, acts_, n, o.added.data(), stride);
            ops_.matmul_gated(w, m_, up_, cpu::Gate::kSilu, acts_, n, o.silu.data(), stride);
            ops_.matmul_gated(w, m_, up_, cpu::Gate::kGelu, acts_, n, o.gelu.data(), stride);
        });
        for (std::vector<float> *v : {&o.plain, &o.biased, &o.added, &o.silu, &o.gelu}) squeeze(*v, n, stride);
        return o;
    }

    // max |error| / sum |terms| over a sample of outputs.
    double error(const Outputs &o, int64_t n) const {
        double worst = 0;
        for (int64_t col = 0; col < n; col += 5) {
            const std::vector<double> x = seen(c_, m_, acts_, n, col);
            for (int64_t r = 0; r < c_.rows; r += 3) {
                const std::vector<float> w = w_.row(r);
                double sum = 0, terms = 0;
                for (size_t i = 0; i < w.size(); i++) {
                    sum += w[i] * x[i];
                    terms += std::fabs(w[i] * x[i]);
                }
                const double difference = std::fabs(sum - o.plain[static_cast<size_t>(col * c_.rows + r)]);
                if (terms > 0) worst = std::max(worst, difference / terms);
                else CHECK(difference == 0);
            }
        }
        return worst;
    }

    // The other kinds of product follow from the plain one.
    void check_fused(const Outputs &o, int64_t n, const std::string &what) {
        for (int64_t i = 0; i < n * c_.rows; i++) {
            const size_t at = static_cast<size_t>(i);
            CHECK_CASE(o.biased[at] == o.plain[at] + bias_[static_cast<size_t>(i % c_.rows)], what);
            CHECK_CASE(o.added[at] == residual_[at] + o.plain[at], what);
        }
        Outputs other;
        std::swap(m_, up_);
        other = run(n);
        std::swap(m_, up_);
        for (size_t i = 0; i < o.silu.size(); i++) {
            const double gate = o.plain[i], up = other.plain[i], silu = gate / (1 + std::exp(-gate)) * up;
            // 1e-38 of the factors: the exponential goes no further than exp(88)
            CHECK_NEAR(silu, o.silu[i], std::fabs(silu) * 5e-7 + std::fabs(gate * up) * 1e-38);
            // x/2 (1 + tanh u), u = sqrt(2/pi) (x + 0.044715 x^3). An error of 2 units in the last place of 2u is as large a part of exp(2u).
            const double u = 0.7978845608028654 * (gate + 0.044715 * gate * gate * gate), gelu = gate / (1 + std::exp(-2 * u)) * up;
            CHECK_NEAR(gelu, o.gelu[i], std::fabs(gelu) * (5e-7 + std::fabs(u) * 5e-7) + std::fabs(gate * up) * 1e-38);
        }
    }

private:
    static constexpr float kGap = 12345.0f;

    void squeeze(std::vector<float> &v, int64_t n, int64_t stride) const {
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = c_.rows; j < stride; j++) CHECK(v[static_cast<size_t>(i * stride + j)] == kGap);
            std::copy_n(v.begin() + i * stride, c_.rows, v.begin() + i * c_.rows);
        }
        v.resize(static_cast<size_t>(n * c_.rows));
    }

    Case c_;
    const cpu::Ops &ops_;
    cpu::Pool &pool_;
    test::FileWeights w_;
    cpu::Matrix m_, up_;
    std::vector<float> x_, bias_, residual_;
    cpu::Activations acts_;
};

bool starts_with(const std::vector<float> &all, const std::vector<float> &first) {
    return first.size() <= all.size() && test::same_bits(all.data(), first.data(), first.size());
}

void check(const Case &c, const std::vector<const cpu::Ops *> &tables, cpu::Pool &pool) {
    // 4e-7 of the sum of the terms' magnitudes: a few roundings of 2^-24 each, since integers are exact. Chains of 32 floats
    // round more often, but not all the same way.
    const double bound = 4e-7;
    Outputs expected;
    for (const cpu::Ops *ops : tables) {
        Product product(c, *ops, pool);
        const Outputs all = product.run(kMaxBatch);
        CHECK_CASE(product.error(all, kMaxBatch) <= bound, name(c, *ops, kMaxBatch));
        if (ops == tables[0]) {
            product.check_fused(all, kMaxBatch, name(c, *ops, kMaxBatch));
            expected = all;
        }
        std::vector<int64_t> batches = {64, 65, kMaxBatch - 2};
        for (int64_t n = 1; n <= 33; n += kBatchStep) batches.push_back(n);
        if (ops == tables[0]) batches = {1, 5};
        for (int64_t n : batches) {
            const Outputs o = product.run(n);
            CHECK_CASE(starts_with(expected.plain, o.plain), name(c, *ops, n));
            CHECK_CASE(starts_with(expected.biased, o.biased), name(c, *ops, n));
            CHECK_CASE(starts_with(expected.added, o.added), name(c, *ops, n));
            CHECK_CASE(starts_with(expected.silu, o.silu), name(c, *ops, n));
            CHECK_CASE(starts_with(expected.gelu, o.gelu), name(c, *ops, n));
        }
    }
}

} // namespace

int main() {
    const std::vector<const cpu::Ops *> tables = test::usable_tables();
    for (const cpu::Ops *ops : tables) std::printf("%s\n", ops->isa);
    cpu::Pool one(1), three(3);
    for (quant::Type type : test::all_types()) {
        const int64_t block = test::info_of(type).block == 1 ? 44 : test::info_of(type).block;
        check({type, 33, 2 * block}, tables, three);
        check({type, 71, 3 * block}, tables, one);
        check({type, 64, 3 * block, true}, tables, three);
        check({type, 5, block, true}, tables, one);
        if (test::info_of(type).block > 1) check({type, 48, 3 * block, false, test::Codes::kLargest}, tables, three);
        if (test::info_of(type).block == 256) check({type, 39, 11 * block, false, test::Codes::kRandom, true}, tables, three);
    }
#ifndef TR_SANITIZED
    check({quant::Type::Q5_0, 128, 896}, tables, three);
    check({quant::Type::Q4_K, 160, 1536}, tables, three);
#endif
    return test::report();
}
