// Activations: codes and scales against their definition, sums against the codes, norms against double precision, edge cases.
#include "cpu/quantize.h"

#include <algorithm>
#include <cfloat>

#include "cpu/fixtures.h"

using namespace tr;

namespace {

constexpr uint32_t kAll = cpu::kActF32 | cpu::kActQ32 | cpu::kActQ256;

struct Prepared {
    cpu::Activations acts;
    int64_t n, k;
    const cpu::RecordF32 &f32(int64_t c, int64_t b) const { return *cpu::view_f32(acts, n, k).at(c, b); }
    const cpu::RecordQ32 &q32(int64_t c, int64_t b) const { return *cpu::view_q32(acts, n, k).at(c, b); }
    const cpu::RecordQ256 &q256(int64_t c, int64_t b) const { return *cpu::view_q256(acts, n, k).at(c, b); }
    // Null where the block has none.
    const cpu::RecordQ256 *remainder(int64_t c, int64_t b) const {
        const cpu::Remainders all = cpu::view_remainders(acts, n, k);
        return all.has(c, b) ? all.records.at(c, b) : nullptr;
    }
};

Prepared prepare(const cpu::Ops &ops, cpu::Pool &pool, const std::vector<float> &x, int64_t n, int64_t k) {
    Prepared p{{}, n, k};
    p.acts.reserve(n, k, kAll);
    pool.run([&](cpu::Worker &w) { ops.prepare(w, x.data(), n, k, kAll, p.acts); });
    return p;
}

// A block's scale is its largest magnitude / 127; each value is met within half a step (and float rounding).
void check_block(const float *x, int64_t n, const int8_t *q, float d, int count, const char *isa) {
    float largest = 0;
    for (int64_t i = 0; i < n; i++) largest = std::max(largest, std::fabs(x[i]));
    CHECK_CASE(d == largest / 127.0f, isa);
    for (int64_t i = 0; i < count; i++) {
        CHECK_CASE(q[i] >= -127, isa);
        CHECK_CASE(std::fabs((i < n ? x[i] : 0) - q[i] * d) <= 0.5001f * d, isa);
    }
}

void values(const cpu::Ops &ops, const cpu::Ops &reference, cpu::Pool &pool, int64_t n, int64_t k) {
    test::Random random(static_cast<uint64_t>(n * 100000 + k));
    const std::vector<float> x = test::normals(random, static_cast<size_t>(n * k));
    const Prepared p = prepare(ops, pool, x, n, k), r = prepare(reference, pool, x, n, k);
    for (int64_t c = 0; c < n; c++) {
        const float *row = x.data() + c * k;
        for (int64_t b = 0; b < (k + 31) / 32; b++)
            for (int64_t i = 0; i < 32; i++) CHECK_EQUAL(32 * b + i < k ? row[32 * b + i] : 0, p.f32(c, b).x[i]);
        for (int64_t b = 0; b < (k + 63) / 64; b++) {
            CHECK(test::same_bits(p.q32(c, b).q, r.q32(c, b).q, 64));
            CHECK(test::same_bits(p.q32(c, b).d, r.q32(c, b).d, 2));
            for (int64_t u = 0; u < 2; u++) {
                const int64_t i = 64 * b + 32 * u;
                check_block(row + i, std::clamp<int64_t>(k - i, 0, 32), p.q32(c, b).q + 32 * u, p.q32(c, b).d[u], 32, ops.isa);
            }
        }
        for (int64_t b = 0; b < (k + 255) / 256; b++) {
            CHECK(test::same_bits(p.q256(c, b).q, r.q256(c, b).q, 256));
            CHECK(test::same_bits(&p.q256(c, b).d, &r.q256(c, b).d, 1));
            check_block(row + 256 * b, std::min<int64_t>(k - 256 * b, 256), p.q256(c, b).q, p.q256(c, b).d, 256, ops.isa);
        }
    }
}

// One block of each form filled by `fill(i)`: what comes out is finite codes, never -128; returns the record.
template <class Fill> Prepared edge(const cpu::Ops &ops, cpu::Pool &pool, Fill fill) {
    std::vector<float> x(256);
    for (size_t i = 0; i < x.size(); i++) x[i] = fill(i);
    Prepared p = prepare(ops, pool, x, 1, 256);
    for (int i = 0; i < 256; i++) {
        CHECK_CASE(p.q256(0, 0).q[i] != -128, ops.isa);
        CHECK_CASE(p.q32(0, i / 64).q[i % 64] != -128, ops.isa);
    }
    return p;
}

void edges(const cpu::Ops &ops, cpu::Pool &pool) {
    const Prepared zeros = edge(ops, pool, [](size_t i) { return i % 2 ? 0.0f : -0.0f; });
    CHECK_EQUAL(0.0f, zeros.q256(0, 0).d);
    CHECK_EQUAL(0, zeros.q256(0, 0).q[5]);
    const Prepared tiny = edge(ops, pool, [](size_t i) { return i == 3 ? FLT_MIN : 0x1p-149f; });
    CHECK_EQUAL(0.0f, tiny.q256(0, 0).d);
    const Prepared huge = edge(ops, pool, [](size_t i) { return i % 2 ? FLT_MAX : -FLT_MAX; });
    CHECK_EQUAL(127, huge.q256(0, 0).q[1]);
    CHECK_EQUAL(-127, huge.q256(0, 0).q[0]);
    // Just above a code's middle: 127/largest rounds up, and the largest must still be 127.
    const Prepared odd = edge(ops, pool, [](size_t i) { return i % 3 ? 0x1.fffffep-1f : -0x1.fffffep-1f; });
    CHECK_EQUAL(-127, odd.q256(0, 0).q[0]);
    // Values that are no numbers spoil their own block only, and are handed on, not hidden.
    for (float bad : {INFINITY, -INFINITY, NAN}) {
        const Prepared p = edge(ops, pool, [bad](size_t i) { return i == 40 ? bad : 1.0f; });
        CHECK_CASE(std::isnan(p.q256(0, 0).d), ops.isa);
        CHECK_CASE(std::isnan(p.q32(0, 0).d[1]), ops.isa);
        CHECK_EQUAL(1.0f / 127, p.q32(0, 0).d[0]);
        CHECK_EQUAL(127, p.q32(0, 0).q[0]);
    }
}

// A block of 256 keeps its remainder if more than half of its codes are zero, unless all are: what its codes leave is then met
// within half a step of a scale some 254 times as fine. for_each finds these blocks, column by column, and no others.
void remainders(const cpu::Ops &ops, const cpu::Ops &reference, cpu::Pool &pool, int64_t n, int64_t k) {
    test::Random random(static_cast<uint64_t>(n * 10000 + k));
    std::vector<float> x = test::normals(random, static_cast<size_t>(n * k));
    std::vector<std::pair<int64_t, int64_t>> expected;
    const int64_t blocks = k / 256;
    for (int64_t c = 0; c < n; c++)
        for (int64_t b = 0; b < blocks; b++) {
            float *block = x.data() + c * k + b * 256;
            switch (random.bits() % 8) {
            case 0: // one value, or three, beside which the others are nothing
                block[random.bits() % 128] = 900.0f;
                if (random.bits() & 1) block[128] = block[200] = -800.0f;
                expected.push_back({c, b});
                break;
            case 1: // 128 zeros are not enough
            case 2: // 129 are
                std::fill_n(block, 256, 1.0f);
                std::fill_n(block + 7, 128, 0.001f);
                if (random.bits() & 1) {
                    block[0] = 0.001f;
                    expected.push_back({c, b});
                }
                break;
            case 3: std::fill_n(block, 256, 0.0f); break;
            case 4: block[9] = INFINITY; break;
            default: break;
            }
        }
    Prepared p = prepare(ops, pool, x, n, k), r = prepare(reference, pool, x, n, k);
    for (int again = 0; again < 2; again++) {
        std::vector<std::pair<int64_t, int64_t>> found;
        const cpu::Remainders all = cpu::view_remainders(p.acts, n, k);
        for (int64_t s = 0; s * cpu::kSlabColumns < n; s++)
            all.for_each(s, cpu::slab_width(s, n), [&](int64_t c, int64_t b) { found.push_back({c, b}); });
        CHECK_CASE(found == expected, ops.isa);
        for (const auto &[c, b] : found) {
            const cpu::RecordQ256 &first = p.q256(c, b), &rest = *p.remainder(c, b);
            CHECK_CASE(rest.d <= first.d / 253, ops.isa);
            for (int64_t i = 0; i < 256; i++) {
                const double met = static_cast<double>(first.q[i]) * first.d + static_cast<double>(rest.q[i]) * rest.d;
                CHECK_CASE(std::fabs(x[static_cast<size_t>(c * k + b * 256 + i)] - met) <= 0.51 * rest.d + 1e-7 * std::fabs(met), ops.isa);
            }
            CHECK_CASE(r.remainder(c, b) && test::same_bits(rest.q, r.remainder(c, b)->q, 256) && rest.d == r.remainder(c, b)->d, ops.isa);
        }
        // What stood there before is forgotten.
        if (again == 0) {
            std::fill(x.begin(), x.end(), 1.0f);
            pool.run([&](cpu::Worker &w) { ops.prepare(w, x.data(), n, k, cpu::kActQ256, p.acts); });
            expected.clear();
        }
    }
}

// y = x * gain / sqrt(mean(x^2) + eps) within float rounding of double precision, and the same bits as the reference.
void norms(const cpu::Ops &ops, const cpu::Ops &reference, cpu::Pool &pool, int64_t n, int64_t k) {
    test::Random random(static_cast<uint64_t>(n * 1000 + k));
    const size_t size = static_cast<size_t>(n * k);
    const std::vector<float> x = test::normals(random, size), gain = test::normals(random, static_cast<size_t>(k));
    std::vector<float> y(size), expected(size);
    Prepared p{{}, n, k}, plain{{}, n, k};
    p.acts.reserve(n, k, kAll);
    plain.acts.reserve(n, k, kAll);
    pool.run([&](cpu::Worker &w) {
        ops.rms_norm(w, x.data(), n, k, gain.data(), 1e-6f, y.data(), kAll, p.acts);
        reference.rms_norm(w, x.data(), n, k, gain.data(), 1e-6f, expected.data(), 0, plain.acts);
        w.join();
        ops.prepare(w, y.data(), n, k, kAll, plain.acts);
    });
    CHECK_CASE(test::same_bits(expected.data(), y.data(), size), ops.isa);
    for (int64_t c = 0; c < n; c++) {
        double sum = 0;
        for (int64_t i = 0; i < k; i++) sum += static_cast<double>(x[c * k + i]) * x[c * k + i];
        const double scale = 1 / std::sqrt(sum / static_cast<double>(k) + 1e-6);
        for (int64_t i = 0; i < k; i++) {
            const double value = x[c * k + i] * scale * gain[i];
            CHECK_NEAR(value, y[c * k + i], std::fabs(value) * 1e-6);
        }
        // The forms are those of y.
        for (int64_t b = 0; b < (k + 31) / 32; b++) CHECK(test::same_bits(p.f32(c, b).x, plain.f32(c, b).x, 32));
        for (int64_t b = 0; b < (k + 63) / 64; b++) {
            CHECK(test::same_bits(p.q32(c, b).q, plain.q32(c, b).q, 64));
            CHECK(test::same_bits(p.q32(c, b).d, plain.q32(c, b).d, 2));
        }
        for (int64_t b = 0; b < (k + 255) / 256; b++) {
            CHECK(test::same_bits(p.q256(c, b).q, plain.q256(c, b).q, 256));
            CHECK(test::same_bits(&p.q256(c, b).d, &plain.q256(c, b).d, 1));
        }
    }
}

// x += the norm of y, to the bit what rms_norm stores.
void added_norms(const cpu::Ops &ops, const cpu::Ops &reference, cpu::Pool &pool, int64_t n, int64_t k) {
    test::Random random(static_cast<uint64_t>(n * 1000 + k));
    const size_t size = static_cast<size_t>(n * k);
    const std::vector<float> x = test::normals(random, size), y = test::normals(random, size), gain = test::normals(random, static_cast<size_t>(k));
    std::vector<float> normed(size), sum = x;
    cpu::Activations none;
    pool.run([&](cpu::Worker &w) {
        reference.rms_norm(w, y.data(), n, k, gain.data(), 1e-6f, normed.data(), 0, none);
        ops.add_norm(w, y.data(), n, k, gain.data(), 1e-6f, sum.data());
    });
    for (size_t i = 0; i < size; i++) CHECK_CASE(sum[i] == x[i] + normed[i], ops.isa);
}

} // namespace

int main() {
    const std::vector<const cpu::Ops *> tables = test::usable_tables();
    for (int threads : {1, 3}) {
        cpu::Pool pool(threads);
        for (const cpu::Ops *ops : tables) {
            for (int64_t k : {1, 20, 32, 64, 96, 256, 896, 1536, 4864})
                for (int64_t n : {1, 3, 65}) {
                    if (n == 65 && k > 256) continue;
                    values(*ops, *tables[0], pool, n, k);
                    norms(*ops, *tables[0], pool, n, k);
                    added_norms(*ops, *tables[0], pool, n, k);
                }
            edges(*ops, pool);
            for (int64_t k : {256, 2048, 2304, 8960})
                for (int64_t n : {1, 7, 131}) remainders(*ops, *tables[0], pool, n, k);
        }
    }
    return test::report();
}
