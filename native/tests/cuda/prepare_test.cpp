// Norms and the forms of activations on the device against the CPU's reference, bit for bit; rows of the embedding; the choice of rows.
#include <limits>

#include "cpu/activations.h"
#include "cpu/panels.h"
#include "cuda/fixtures.h"

namespace tr::test {

namespace {

struct OfDevice {
    std::vector<float> f32, y;
    std::vector<uint8_t> q32, q256;
};

// All forms; normed if `gain` is given.
OfDevice prepare(const std::vector<float> &x, int64_t n, int64_t k, const std::vector<float> &gain, const cuda::Stream &stream) {
    const OnDevice<float> from(x), f32(x.size()), y(x.size()), gains(gain.empty() ? std::vector<float>(1) : gain);
    const OnDevice<uint8_t> q32(static_cast<size_t>(n * cuda::QuantizedView::bytes(k, 32))), q256(static_cast<size_t>(n * cuda::QuantizedView::bytes(k, 256)));
    const cuda::Forms to{f32.get(), q32.get(), q256.get()};
    if (gain.empty()) cuda::prepare(from.get(), n, k, to, stream);
    else cuda::rms_norm(from.get(), n, k, gains.get(), 1e-5f, y.get(), to, stream);
    return {f32.values(stream), y.values(stream), q32.values(stream), q256.values(stream)};
}

bool same(float a, float b) { return std::isnan(a) ? std::isnan(b) : same_bits(&a, &b, 1); }

void check_forms(const std::vector<float> &x, int64_t n, int64_t k, const std::vector<float> &gain, const std::string &what) {
    const cuda::Stream stream;
    OfDevice got = prepare(x, n, k, gain, stream);
    cpu::Activations acts;
    constexpr uint32_t kAll = cpu::kActF32 | cpu::kActQ32 | cpu::kActQ256;
    acts.reserve(n, k, kAll);
    cpu::Worker alone = cpu::Worker::alone();
    std::vector<float> y(x.size());
    if (gain.empty()) reference().prepare(alone, x.data(), n, k, kAll, acts);
    else reference().rms_norm(alone, x.data(), n, k, gain.data(), 1e-5f, y.data(), kAll, acts);
    const auto f32 = cpu::view_f32(acts, n, k);
    const auto q32 = cpu::view_q32(acts, n, k);
    const auto q256 = cpu::view_q256(acts, n, k);
    const cuda::QuantizedView of32{got.q32.data(), k, 32}, of256{got.q256.data(), k, 256};
    for (int64_t c = 0; c < n; c++) {
        for (int64_t i = 0; i < k; i++) {
            const auto at = static_cast<size_t>(c * k + i);
            CHECK_CASE(same(f32.at(c, i / 32)->x[i % 32], got.f32[at]), what);
            if (!gain.empty()) CHECK_CASE(same(y[at], got.y[at]), what);
            CHECK_CASE(q32.at(c, i / 64)->q[i % 64] == of32.codes(c)[i], what);
            CHECK_CASE(q256.at(c, i / 256)->q[i % 256] == of256.codes(c)[i], what);
        }
        for (int64_t b = 0; b < k / 32; b++) CHECK_CASE(same(q32.at(c, b / 2)->d[b % 2], of32.scales(c)[b]), what);
        for (int64_t b = 0; b < (k + 255) / 256; b++) CHECK_CASE(same(q256.at(c, b)->d, of256.scales(c)[b]), what);
        const auto check_sums = [&](const cuda::QuantizedView &view, int64_t part, int64_t from, int64_t to) {
            for (int64_t s = from / 16; s < to / 16; s++) {
                int32_t sum = 0;
                for (int64_t i = 16 * s; i < 16 * s + 16; i++) sum += view.codes(c, part)[i];
                CHECK_CASE(sum == view.sums(c, part)[s], what);
            }
        };
        check_sums(of32, 0, 0, k);
        check_sums(of256, 0, 0, k);
        const cpu::Remainders remainders = cpu::view_remainders(acts, n, k);
        for (int64_t b = 0; b < (k + 255) / 256; b++) {
            const bool there = remainders.has(c, b);
            CHECK_CASE(of256.marks(c)[b] == there, what);
            if (!there) continue;
            const cpu::RecordQ256 &record = *remainders.records.at(c, b);
            CHECK_CASE(same_bits(record.q, of256.codes(c, 1) + 256 * b, 256), what);
            CHECK_CASE(same(record.d, of256.scales(c, 1)[b]), what);
            check_sums(of256, 1, 256 * b, 256 * b + 256);
        }
    }
}

void test_forms() {
    Random random(5);
    for (const int64_t k : {32, 64, 96, 256, 544, 2304}) {
        for (const int64_t n : {1, 3}) {
            const std::vector<float> x = normals(random, static_cast<size_t>(n * k)), gain = normals(random, static_cast<size_t>(k));
            check_forms(x, n, k, {}, "prepare " + std::to_string(k));
            check_forms(x, n, k, gain, "norm " + std::to_string(k));
        }
    }
    // Blocks with remainders: of one value that is thousands of times the others, of three, with 128 zeros (not enough) and with 129.
    std::vector<float> massive = normals(random, 2 * 2304);
    massive[70] = 5000.0f;
    massive[300] = massive[301] = -(massive[511] = 900.0f);
    for (size_t i = 1024; i < 1536; i++) massive[i] = i % 2 ? 1.0f : 0.001f;
    massive[1281] = 0.001f;
    massive[2304 + 2303] = 8000.0f;
    check_forms(massive, 2, 2304, {}, "massive activations");
    check_forms(massive, 2, 2304, normals(random, 2304), "massive activations, normed");
    // Values that quantization treats in ways of their own.
    std::vector<float> odd(1024, 0.0f);
    odd[3] = std::numeric_limits<float>::infinity();
    odd[300] = std::numeric_limits<float>::quiet_NaN();
    odd[520] = 1e-31f;
    for (size_t i = 768; i < 1024; i++) odd[i] = (i % 2 ? 0.5f : 127.0f); // ties go to even
    check_forms(odd, 1, 1024, {}, "odd values");
}

void test_add_norm() {
    Random random(6);
    const cuda::Stream stream;
    constexpr int64_t kN = 3, kK = 400;
    const std::vector<float> y = normals(random, kN * kK), gain = normals(random, kK);
    std::vector<float> x = normals(random, kN * kK);
    const OnDevice<float> from(y), gains(gain), to(x);
    cuda::add_norm(from.get(), kN, kK, gains.get(), 1e-6f, to.get(), stream);
    cpu::Worker alone = cpu::Worker::alone();
    reference().add_norm(alone, y.data(), kN, kK, gain.data(), 1e-6f, x.data());
    CHECK(same_bits(x.data(), to.values(stream).data(), x.size()));
}

void test_embedding() {
    const cuda::Stream stream;
    for (const quant::Type type : all_types()) {
        Random random(static_cast<uint64_t>(type) + 1);
        constexpr int64_t kRows = 9, kCols = 512;
        const FileWeights w = random_weights(random, type, kRows, kCols);
        const cpu::Matrix m = on_device(w);
        const std::vector<int32_t> ids{8, 0, 5, 5};
        const OnDevice<int32_t> chosen(ids);
        for (const float scale : {1.0f, 22.6f}) {
            const OnDevice<float> x(ids.size() * kCols);
            cuda::embed(cuda::view(m), chosen.get(), static_cast<int64_t>(ids.size()), scale, x.get(), stream);
            const std::vector<float> got = x.values(stream);
            for (size_t i = 0; i < ids.size(); i++) {
                std::vector<float> expected = w.row(ids[i]);
                for (float &v : expected) v *= scale;
                CHECK_CASE(same_bits(expected.data(), got.data() + i * kCols, kCols), info_of(type).name);
            }
        }
    }
}

void test_gather() {
    const cuda::Stream stream;
    const std::vector<float> from{0, 1, 10, 11, 20, 21}, before(8, -1.0f);
    const OnDevice<float> source(from), to(before);
    const OnDevice<int32_t> rows(std::vector<int32_t>{12, 13, 10, 9}); // of the chunk from 10 on, which 13 and 9 are not in
    cuda::gather(source.get(), 10, 3, 2, rows.get(), 4, to.get(), stream);
    CHECK(to.values(stream) == (std::vector<float>{20, 21, -1, -1, 0, 1, -1, -1}));
}

} // namespace

} // namespace tr::test

int main() {
    using namespace tr::test;
    in_every_mode([] {
        test_forms();
        test_add_norm();
        test_gather();
    });
    test_embedding();
    return report();
}
