// Products on the device against the CPU's reference, bit for bit: every format, tails of rows and tiles, batches of 1 to 33. Those of half and
// brain floats are in halves_test.cpp.
#include "cuda/fixtures.h"
#include "cuda/kernels/products.h"

namespace tr::test {

namespace {

// Columns prepared by the reference and by the device.
class Columns {
public:
    Columns(const std::vector<float> &x, int64_t n, int64_t k, uint32_t form, const cuda::Stream &stream)
        : f32_(form == cpu::kActF32 ? x : std::vector<float>(1)), quantized_(form == cpu::kActF32 ? 1 : static_cast<size_t>(n * cuda::QuantizedView::bytes(k, unit(form)))),
          view_{quantized_.get(), k, unit(form)} {
        acts.reserve(n, k, form);
        cpu::Worker alone = cpu::Worker::alone();
        reference().prepare(alone, x.data(), n, k, form, acts);
        if (form == cpu::kActF32) return;
        const OnDevice<float> from(x);
        cuda::prepare(from.get(), n, k, {nullptr, form == cpu::kActQ32 ? quantized_.get() : nullptr, form == cpu::kActQ256 ? quantized_.get() : nullptr}, stream);
        stream.wait();
    }
    const float *f32() const { return f32_.get(); }
    const cuda::QuantizedView &quantized() const { return view_; }
    cpu::Activations acts;

private:
    static int64_t unit(uint32_t form) { return form == cpu::kActQ256 ? 256 : 32; }
    OnDevice<float> f32_;
    OnDevice<uint8_t> quantized_;
    cuda::QuantizedView view_;
};

enum class Way { kChosen, kRows, kTiles };

std::vector<float> multiply(const cpu::Matrix &m, const Columns &x, int64_t n, const std::vector<float> &bias, const std::vector<float> &out, cuda::Finish finish, Way way,
                            const cuda::Stream &stream) {
    const OnDevice<float> biases(bias.empty() ? std::vector<float>(1) : bias), to(out);
    const cuda::Product p{cuda::view(m), n, bias.empty() ? nullptr : biases.get(), to.get(), m.rows, finish};
    if (m.form() == cpu::kActF32) cuda::multiply_floats(p, x.f32(), stream);
    else if (way == Way::kRows) cuda::multiply_by_rows(p, x.quantized(), stream);
    else if (way == Way::kTiles) cuda::multiply_by_tiles(p, x.quantized(), stream);
    else cuda::multiply_quantized(p, x.quantized(), stream);
    return to.values(stream);
}

struct Shape {
    int64_t rows, cols, n;
};

// massive: every other column has a value thousands of times the others, in a block of its own.
void test_shape(quant::Type type, const Shape &s, Codes codes, bool exact_float, bool massive = false) {
    Random random(static_cast<uint64_t>(type) * 1000 + static_cast<uint64_t>(s.rows * 7 + s.cols * 3 + s.n));
    const FileWeights w = random_weights(random, type, s.rows, s.cols, codes);
    cpu::Pool pool(1);
    const cpu::Matrix expected_m = pack(reference(), pool, w, exact_float), m = on_device(w, exact_float);
    std::vector<float> x = normals(random, static_cast<size_t>(s.n * s.cols));
    for (int64_t i = 0; i < 32; i++) x[static_cast<size_t>(i)] = 0; // a block of zeros
    for (int64_t c = 0; massive && c < s.n; c += 2) x[static_cast<size_t>(c * s.cols + (c * 300 + 70) % s.cols)] = 4000;
    const cuda::Stream stream;
    const Columns columns(x, s.n, s.cols, m.form(), stream);
    const std::vector<float> bias = normals(random, static_cast<size_t>(s.rows)), out = normals(random, static_cast<size_t>(s.rows * s.n));
    const std::string what = describe(reference(), type, s.rows, s.cols, s.n) + (exact_float ? " in floats" : "");

    cpu::Worker alone = cpu::Worker::alone();
    std::vector<float> plain(out), added(out);
    reference().matmul(alone, expected_m, columns.acts, s.n, bias.data(), plain.data(), s.rows);
    reference().matmul_add(alone, expected_m, columns.acts, s.n, added.data(), s.rows);
    std::vector<Way> ways{Way::kChosen};
    if (m.form() != cpu::kActF32) ways = s.n <= cuda::kMostByRows ? std::vector<Way>{Way::kRows, Way::kTiles} : std::vector<Way>{Way::kTiles};
    for (const Way way : ways) {
        const auto stored = multiply(m, columns, s.n, bias, out, cuda::Finish::kStore, way, stream);
        CHECK_CASE(same_bits(plain.data(), stored.data(), plain.size()), what);
        const auto sums = multiply(m, columns, s.n, {}, out, cuda::Finish::kAdd, way, stream);
        CHECK_CASE(same_bits(added.data(), sums.data(), added.size()), what + " added");
    }
}

// Two products through the gate.
void test_gate(quant::Type type, cpu::Gate kind, int64_t n) {
    Random random(static_cast<uint64_t>(type) + static_cast<uint64_t>(n));
    constexpr int64_t kRows = 24, kCols = 256;
    const FileWeights gate = random_weights(random, type, kRows, kCols), up = random_weights(random, type, kRows, kCols);
    cpu::Pool pool(1);
    const std::vector<float> x = normals(random, static_cast<size_t>(n * kCols));
    const cuda::Stream stream;
    const cpu::Matrix gate_m = on_device(gate), up_m = on_device(up);
    const Columns columns(x, n, kCols, gate_m.form(), stream);
    std::vector<float> expected(static_cast<size_t>(n * kRows));
    cpu::Worker alone = cpu::Worker::alone();
    reference().matmul_gated(alone, pack(reference(), pool, gate), pack(reference(), pool, up), kind, columns.acts, n, expected.data(), kRows);
    const auto gates = multiply(gate_m, columns, n, {}, expected, cuda::Finish::kStore, Way::kChosen, stream);
    const auto got = multiply(up_m, columns, n, {}, gates, kind == cpu::Gate::kGelu ? cuda::Finish::kGelu : cuda::Finish::kSilu, Way::kChosen, stream);
    CHECK_CASE(same_bits(expected.data(), got.data(), got.size()), describe(reference(), type, kRows, kCols, n));
}

// A column's bits are the same alone and in any batch.
void test_batches(quant::Type type) {
    Random random(static_cast<uint64_t>(type) + 99);
    constexpr int64_t kRows = 40, kCols = 512, kMost = 33;
    const cpu::Matrix m = on_device(random_weights(random, type, kRows, kCols));
    const std::vector<float> x = normals(random, static_cast<size_t>(kMost * kCols));
    const cuda::Stream stream;
    const std::vector<float> none(static_cast<size_t>(kMost * kRows));
    const auto all = multiply(m, Columns(x, kMost, kCols, m.form(), stream), kMost, {}, none, cuda::Finish::kStore, Way::kChosen, stream);
    for (int64_t n = 1; n < kMost; n++) {
        const std::vector<float> first(x.begin(), x.begin() + n * kCols);
        const auto some = multiply(m, Columns(first, n, kCols, m.form(), stream), n, {}, none, cuda::Finish::kStore, Way::kChosen, stream);
        CHECK_CASE(same_bits(all.data(), some.data(), static_cast<size_t>(n * kRows)), describe(reference(), type, kRows, kCols, n));
    }
}

void test_type(quant::Type type) {
    const int64_t block = info_of(type).block;
    test_shape(type, {7, 256, 2}, Codes::kRandom, true);
    if (type == quant::Type::F16 || type == quant::Type::BF16) return;
    std::vector<Shape> shapes{{1, 256, 1}, {17, 256, 2}, {8, 768, 3}, {65, 256, 4}, {15, 512, 5}, {64, 256, 8}, {33, 2304, 9}, {16, 256, 33}};
    if (block < 256) shapes.insert(shapes.end(), {{9, 96, 1}, {3, 32, 3}, {18, 96, 7}}); // an odd number of blocks
    for (const Shape &s : shapes) test_shape(type, s, Codes::kRandom, false);
    test_shape(type, {19, 512, 3}, Codes::kLargest, false);
    test_shape(type, {19, 512, 11}, Codes::kLargest, false);
    if (block == 256) {
        test_shape(type, {19, 768, 3}, Codes::kRandom, false, true);
        test_shape(type, {21, 768, 11}, Codes::kLargest, false, true);
    }
}

} // namespace

} // namespace tr::test

int main() {
    using namespace tr::test;
    for (const tr::quant::Type type : all_types()) test_type(type);
    in_every_mode([] {
        for (const auto type : {tr::quant::Type::Q4_1, tr::quant::Type::Q6_K, tr::quant::Type::Q4_K, tr::quant::Type::F32}) {
            test_shape(type, {33, 512, 3}, Codes::kRandom, false);
            test_shape(type, {33, 512, 10}, Codes::kRandom, false);
            test_shape(type, {17, 512, 9}, Codes::kRandom, false, true);
            for (const int64_t n : {1, 5}) {
                test_gate(type, tr::cpu::Gate::kSilu, n);
                test_gate(type, tr::cpu::Gate::kGelu, n);
            }
        }
    });
    for (const auto type : {tr::quant::Type::Q4_K, tr::quant::Type::Q5_0, tr::quant::Type::F32}) test_batches(type);
    return report();
}
