// Exponentials and the statistics of output rows.
#include "cpu/softmax.h"

#include <limits>

#include "cpu/exp.h"
#include "cpu/fixtures.h"

using namespace tr;

namespace {

struct Stats {
    float max;
    double sum, dot;
    bool operator==(const Stats &) const = default;
};

Stats stats(const cpu::Ops &ops, const std::vector<float> &x, const std::vector<uint32_t> &valid) {
    Stats s{};
    ops.softmax_stats(x.data(), static_cast<int64_t>(x.size()), valid.empty() ? nullptr : valid.data(), &s.max, &s.sum, &s.dot);
    return s;
}

void check_stats(const std::vector<float> &x, const std::vector<uint32_t> &valid, const std::vector<const cpu::Ops *> &tables) {
    const Stats expected = stats(*tables[0], x, valid);
    double max = -INFINITY, sum = 0, dot = 0;
    const auto in_play = [&](size_t i) { return valid.empty() || (valid[i / 32] >> i % 32 & 1); };
    for (size_t i = 0; i < x.size(); i++)
        if (in_play(i)) max = std::max<double>(max, x[i]);
    for (size_t i = 0; i < x.size(); i++)
        if (in_play(i) && x[i] > -INFINITY) {
            sum += std::exp(x[i] - max);
            dot += std::exp(x[i] - max) * (x[i] - max);
        }
    CHECK_EQUAL(max, static_cast<double>(expected.max));
    if (max > -INFINITY) {
        CHECK_NEAR(sum, expected.sum, sum * 1e-6);
        CHECK_NEAR(dot, expected.dot, std::fabs(dot) * 1e-6 + 1e-30);
    }
    for (const cpu::Ops *ops : tables) CHECK_CASE(stats(*ops, x, valid) == expected, ops->isa);
}

void rows(const std::vector<const cpu::Ops *> &tables) {
    test::Random random(3);
    for (size_t n : {1, 15, 16, 17, 31, 33, 100, 1000, 151936}) {
        std::vector<float> x = test::normals(random, n);
        for (float &v : x) v = v * 8 - 3;
        std::vector<uint32_t> some((n + 31) / 32), none((n + 31) / 32);
        for (uint32_t &word : some) word = static_cast<uint32_t>(random.bits());
        some[0] |= 1;
        check_stats(x, {}, tables);
        check_stats(x, some, tables);
        if (n < 2) continue;
        x[1] = -INFINITY; // an id that a mask of the caller's took out
        check_stats(x, {}, tables);
        // Out of play: whatever is there, it does not count.
        some[0] = 1;
        x[1] = std::numeric_limits<float>::quiet_NaN();
        check_stats(x, some, tables);
        x[1] = INFINITY;
        check_stats(x, some, tables);
        for (const cpu::Ops *ops : tables) CHECK((stats(*ops, x, none) == Stats{-INFINITY, 0, 0}));
    }
}

void exponentials(const std::vector<const cpu::Ops *> &tables) {
    std::vector<float> x;
    for (float v = cpu::kExpLow; v <= cpu::kExpHigh; v += 0.00137f) x.push_back(v);
    const size_t regular = x.size();
    for (float v : {0.0f, -0.0f, -87.01f, -1000.0f, -INFINITY, 88.0f, 1000.0f, INFINITY}) x.push_back(v);
    for (const cpu::Ops *ops : tables) {
        std::vector<float> y(x.size()), expected(x.size());
        ops->exp_shifted(x.data(), static_cast<int64_t>(x.size()), 0, 1, y.data());
        tables[0]->exp_shifted(x.data(), static_cast<int64_t>(x.size()), 0, 1, expected.data());
        CHECK_CASE(test::same_bits(expected.data(), y.data(), y.size()), ops->isa);
        for (size_t i = 0; i < regular; i++) {
            const double e = std::exp(static_cast<double>(x[i]));
            CHECK_NEAR(e, y[i], e * 1.2e-7); // a unit in the last place
        }
        CHECK_EQUAL(1.0f, y[regular]);
        CHECK_EQUAL(1.0f, y[regular + 1]);
        for (size_t i = regular + 2; i < regular + 5; i++) CHECK_EQUAL(0.0f, y[i]);
        CHECK_EQUAL(y[regular + 5], y[regular + 7]); // ends at exp(88)
        // (x - shift) * inverse temperature
        const float logits[3] = {1.0f, 3.0f, 2.0f};
        float scaled[3];
        ops->exp_shifted(logits, 3, 3.0f, 2.0f, scaled);
        CHECK_NEAR(std::exp(-4.0), scaled[0], 1e-8);
        CHECK_EQUAL(1.0f, scaled[1]);
        CHECK_NEAR(std::exp(-2.0), scaled[2], 1e-7);
    }
}

} // namespace

int main() {
    const std::vector<const cpu::Ops *> tables = test::usable_tables();
    for (const cpu::Ops *ops : tables) std::printf("%s\n", ops->isa);
    rows(tables);
    exponentials(tables);
    CHECK(cpu::ops_by_name("avx9") == nullptr);
    CHECK(cpu::ops_by_name(nullptr) == nullptr);
    CHECK(!cpu::isa_usable("avx9"));
    CHECK(cpu::isa_usable("reference"));
    CHECK(cpu::isa_usable(cpu::best_ops()->isa));
    return test::report();
}
