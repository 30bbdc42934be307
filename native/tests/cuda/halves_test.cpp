// Products of half floats and brain floats on the device: against the CPU's reference by tolerance, and against themselves bit for bit, a column
// alone and in batches of up to 65, by either way. Tails of rows, columns and values; all magnitudes of activations.
#include <cmath>
#include <limits>

#include "cuda/fixtures.h"
#include "cuda/kernels/products.h"

namespace tr::test {

namespace {

using quant::Type;

struct Case {
    FileWeights weights;
    int64_t n;
    std::vector<float> x; // [n][cols]

    int64_t rows() const { return weights.rows; }
    int64_t cols() const { return weights.cols; }
    std::string what(int64_t columns) const { return describe(reference(), weights.type, rows(), cols(), columns); }
};

Case make(Type type, int64_t rows, int64_t cols, int64_t n) {
    Random random(static_cast<uint64_t>(type) * 1000 + static_cast<uint64_t>(rows * 7 + cols * 3 + n));
    FileWeights weights = random_weights(random, type, rows, cols);
    return {std::move(weights), n, normals(random, static_cast<size_t>(n * cols))};
}

enum class Way { kChosen, kSegments, kPanels };

struct Options {
    Way way = Way::kChosen;
    std::vector<float> bias = {}, out = {};
    cuda::Finish finish = cuda::Finish::kStore;
    std::vector<int32_t> part = {};
};

// The product with columns `first` to `first + n` of a case.
std::vector<float> multiply(const cpu::Matrix &m, const Case &c, int64_t first, int64_t n, const cuda::Stream &stream, const Options &o = {}) {
    const OnDevice<float> x(std::vector<float>(c.x.begin() + first * c.cols(), c.x.begin() + (first + n) * c.cols()));
    const OnDevice<float> bias(o.bias.empty() ? std::vector<float>(1) : o.bias), out(o.out.empty() ? std::vector<float>(static_cast<size_t>(n * c.rows()), 77) : o.out);
    const OnDevice<int32_t> part(o.part.empty() ? std::vector<int32_t>(1) : o.part);
    const cuda::Product p{cuda::view(m), n, o.bias.empty() ? nullptr : bias.get(), out.get(), c.rows(), o.finish, o.part.empty() ? nullptr : part.get()};
    if (o.way == Way::kSegments) cuda::multiply_by_segments(p, x.get(), stream);
    else if (o.way == Way::kPanels) cuda::multiply_by_panels(p, x.get(), stream);
    else cuda::multiply_floats(p, x.get(), stream);
    return out.values(stream);
}

// What the sum of the products' magnitudes is multiplied by: for activations in two terms, which are off by at most 2^-22 and 2^-17, and for
// sums in float. Activations rounded once, to the weights' type, are off by more: test_terms.
double tolerance(Type type) { return type == Type::F16 ? 0x1p-19 : 0x1p-17; }

// The largest difference of `got` from the CPU's product, as a part of what is tolerated.
double difference(const Case &c, const std::vector<float> &got, const std::vector<float> &bias = {}) {
    cpu::Pool pool(1);
    cpu::Worker alone = cpu::Worker::alone();
    const cpu::Matrix m = pack(reference(), pool, c.weights);
    cpu::Activations acts;
    acts.reserve(c.n, c.cols(), m.form());
    reference().prepare(alone, c.x.data(), c.n, c.cols(), m.form(), acts);
    std::vector<float> expected(got.size());
    reference().matmul(alone, m, acts, c.n, bias.empty() ? nullptr : bias.data(), expected.data(), c.rows());
    double largest = 0;
    for (int64_t r = 0; r < c.rows(); r++) {
        const std::vector<float> w = c.weights.row(r);
        for (int64_t column = 0; column < c.n; column++) {
            double magnitude = bias.empty() ? 0 : std::fabs(bias[static_cast<size_t>(r)]);
            for (int64_t i = 0; i < c.cols(); i++) magnitude += std::fabs(static_cast<double>(w[static_cast<size_t>(i)]) * c.x[static_cast<size_t>(column * c.cols() + i)]);
            const auto at = static_cast<size_t>(column * c.rows() + r);
            const double off = std::fabs(static_cast<double>(got[at]) - expected[at]);
            largest = off <= tolerance(c.weights.type) * magnitude ? std::max(largest, off / (tolerance(c.weights.type) * magnitude + 1e-300)) : std::max(2.0, largest);
        }
    }
    return largest;
}

void test_shape(Type type, int64_t rows, int64_t cols, int64_t n) {
    const Case c = make(type, rows, cols, n);
    const cpu::Matrix m = on_device(c.weights);
    const cuda::Stream stream;
    const auto chosen = multiply(m, c, 0, n, stream), panels = multiply(m, c, 0, n, stream, {.way = Way::kPanels});
    CHECK_CASE(difference(c, chosen) <= 1, c.what(n));
    CHECK_CASE(same_bits(chosen.data(), panels.data(), chosen.size()), c.what(n));
    const auto segments = multiply(m, c, 0, n, stream, {.way = Way::kSegments});
    CHECK_CASE(same_bits(chosen.data(), segments.data(), chosen.size()), c.what(n));
}

// A column's bits are the same alone, at the beginning of a batch, and further on.
void test_batches(Type type, int64_t step) {
    const Case c = make(type, 40, 424, 33);
    const cpu::Matrix m = on_device(c.weights);
    const cuda::Stream stream;
    const auto all = multiply(m, c, 0, c.n, stream);
    for (int64_t n = 1; n < c.n; n += step) {
        const auto first = multiply(m, c, 0, n, stream), last = multiply(m, c, c.n - n, n, stream);
        CHECK_CASE(same_bits(all.data(), first.data(), first.size()), c.what(n));
        CHECK_CASE(same_bits(all.data() + (c.n - n) * c.rows(), last.data(), last.size()), c.what(n) + ", the last ones");
    }
}

// Magnitudes of all floats, in blocks of one magnitude and in mixed ones, and blocks of zeros.
void test_magnitudes(Type type) {
    Case c = make(type, 20, 320, 12);
    for (int64_t column = 0; column < c.n; column++) {
        for (int64_t i = 0; i < c.cols(); i++) {
            float &x = c.x[static_cast<size_t>(column * c.cols() + i)];
            const int64_t block = i / 32;
            if (block == 1) x = 0;
            else if (column % 3 == 0) x = std::ldexp(x, static_cast<int>(12 * block - 60) + 4 * static_cast<int>(column));
            else if (column % 3 == 1) x = std::ldexp(x, i % 7 == 0 ? 17 : -9);
            else x = std::ldexp(x, column == 2 ? -120 : 110);
        }
    }
    const cpu::Matrix m = on_device(c.weights);
    const cuda::Stream stream;
    for (const Way way : {Way::kSegments, Way::kPanels}) CHECK_CASE(difference(c, multiply(m, c, 0, c.n, stream, {.way = way})) <= 1, c.what(c.n));
}

// The smallest and the largest weights.
void test_weights(Type type) {
    Case c = make(type, 17, 64, 3);
    const std::vector<uint16_t> extremes = type == Type::F16 ? std::vector<uint16_t>{0x0001, 0x83ff, 0x7bff, 0x0400, 0xfbff, 0x8000} // F32 still has the sums
                                                             : std::vector<uint16_t>{0x0080, 0x8100, 0x7d00, 0x0001, 0xfd00, 0x8000};
    for (size_t i = 0; i < c.weights.bytes.size(); i += 10) std::memcpy(c.weights.bytes.data() + i, &extremes[i / 10 % extremes.size()], 2);
    const cuda::Stream stream;
    CHECK_CASE(difference(c, multiply(on_device(c.weights), c, 0, c.n, stream)) <= 1, c.what(c.n));
}

// What is not finite stays in its column, and makes all of it what is not a number.
void test_not_finite(Type type) {
    Case c = make(type, 18, 96, 35);
    const std::vector<float> before = c.x;
    const cpu::Matrix m = on_device(c.weights);
    const cuda::Stream stream;
    const auto expected = multiply(m, c, 0, c.n, stream);
    c.x[static_cast<size_t>(3 * c.cols() + 40)] = std::numeric_limits<float>::infinity();
    c.x[static_cast<size_t>(34 * c.cols() + 95)] = std::numeric_limits<float>::quiet_NaN();
    for (const Way way : {Way::kSegments, Way::kPanels}) {
        const auto got = multiply(m, c, 0, c.n, stream, {.way = way});
        for (int64_t column = 0; column < c.n; column++) {
            for (int64_t r = 0; r < c.rows(); r++) {
                const auto at = static_cast<size_t>(column * c.rows() + r);
                CHECK_CASE(column == 3 || column == 34 ? std::isnan(got[at]) : got[at] == expected[at], c.what(c.n));
            }
        }
    }
}

// Biases, additions, and columns that only the device knows.
void test_finish(Type type) {
    for (const int64_t n : {int64_t{9}, int64_t{40}}) {
        const Case c = make(type, 21, 100, n);
        Random random(5);
        const std::vector<float> bias = normals(random, static_cast<size_t>(c.rows())), out = normals(random, static_cast<size_t>(c.rows() * n));
        const cpu::Matrix m = on_device(c.weights);
        const cuda::Stream stream;
        CHECK_CASE(difference(c, multiply(m, c, 0, n, stream, {.bias = bias}), bias) <= 1, c.what(n));
        const auto plain = multiply(m, c, 0, n, stream), added = multiply(m, c, 0, n, stream, {.out = out, .finish = cuda::Finish::kAdd});
        for (size_t i = 0; i < out.size(); i++) CHECK_CASE(added[i] == out[i] + plain[i], c.what(n));
        for (const int32_t end : {2, 7, 9}) {
            const auto some = multiply(m, c, 0, n, stream, {.out = out, .part = {2, end}});
            for (size_t i = 0; i < out.size(); i++) {
                const auto column = static_cast<int32_t>(i) / static_cast<int32_t>(c.rows());
                CHECK_CASE(some[i] == (column >= 2 && column < end ? plain[i] : out[i]), c.what(n));
            }
        }
    }
}

// That the tolerance tells two terms from one: activations rounded to the weights' type are beyond it.
void test_terms(Type type) {
    const Case c = make(type, 33, 256, 5);
    Case rounded = c;
    for (float &x : rounded.x) {
        if (type == Type::F16) {
            x = quant::half_to_float(quant::float_to_half(x));
        } else {
            uint32_t bits;
            std::memcpy(&bits, &x, sizeof bits);
            bits = (bits + 0x8000) & 0xffff0000;
            std::memcpy(&x, &bits, sizeof bits);
        }
    }
    const cuda::Stream stream;
    const cpu::Matrix m = on_device(c.weights);
    CHECK_CASE(difference(c, multiply(m, rounded, 0, c.n, stream)) > 1, c.what(c.n));
    CHECK_CASE(difference(c, multiply(m, c, 0, c.n, stream)) <= 1, c.what(c.n));
}

} // namespace

} // namespace tr::test

int main() {
    using namespace tr::test;
    for (const auto type : {tr::quant::Type::F16, tr::quant::Type::BF16}) {
        constexpr struct {
            int64_t rows, cols, n;
        } shapes[] = {{1, 32, 1}, {16, 128, 1}, {17, 96, 2}, {15, 160, 7}, {16, 256, 8}, {33, 288, 9}, {65, 128, 17}, {40, 544, 32}, {130, 160, 33}, {129, 64, 65}, {24, 1100, 12},
                      {3, 4260, 1}, // more segments than one round takes
                      {5, 8, 1}, {7, 20, 3}, {9, 35, 2}, {18, 130, 10}, {2, 1, 1}, {19, 41, 40}}; // values beyond the last whole block, vector or word
        for (const auto &s : shapes) test_shape(type, s.rows, s.cols, s.n);
        test_batches(type, every_access_checked() ? 5 : 1);
        test_magnitudes(type);
        test_weights(type);
        test_not_finite(type);
        test_finish(type);
        test_terms(type);
    }
    in_every_mode([] {
        for (const int64_t n : {1, 10, 33}) test_shape(tr::quant::Type::F16, 33, 200, n);
    });
    return report();
}
