// Floats to blocks: the same as the Python package gguf makes of them where it has the format, bounded errors in all, and
// what tr_convert refuses.
#include <algorithm>

#include "cpu/fixtures.h"
#include "cpu/records.h"
#include "quant/quantize.h"
#include "tokenrouter.h"

using namespace tr;
using quant::Type;

namespace {

uint32_t id(Type type) { return static_cast<uint32_t>(type); }

void same_as_gguf() {
    const std::vector<test::BlockRecord> records = test::read_records(TR_TEST_DATA "/quantized.bin");
    CHECK_EQUAL(7u, records.size()); // F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0
    for (const test::BlockRecord &r : records) {
        std::vector<uint8_t> blocks(r.blocks.size());
        quant::quantize(r.info->type, r.weights.data(), blocks.data(), r.weights.size());
        for (size_t i = 0; i < blocks.size(); i += r.info->bytes)
            CHECK_CASE(test::same_bits(blocks.data() + i, r.blocks.data() + i, r.info->bytes),
                       std::string(r.info->name) + " block " + std::to_string(i / r.info->bytes));
    }
}

std::vector<float> round_trip(Type type, const std::vector<float> &x) {
    const quant::TypeInfo &info = test::info_of(type);
    std::vector<uint8_t> blocks(x.size() / info.block * info.bytes);
    std::vector<float> y(x.size());
    char err[200] = "";
    CHECK_CASE(tr_convert(id(Type::F32), x.data(), 4 * x.size(), id(type), blocks.data(), blocks.size(), err, sizeof err) == TR_OK, std::string(info.name) + ": " + err);
    CHECK_CASE(tr_convert(id(type), blocks.data(), blocks.size(), id(Type::F32), y.data(), 4 * y.size(), err, sizeof err) == TR_OK, std::string(info.name) + ": " + err);
    return y;
}

// Root mean square error over that of the weights. For normal weights the range of 32 is about 4.1 deviations, its half
// with the larger magnitude 2.3; rounding to steps of s has an error of s/sqrt(12). 5% more is for steps that are rounded too.
void errors() {
    const struct {
        Type type;
        double bound;
    } cases[] = {
        {Type::F32, 0},
        {Type::F16, 0x1p-11},
        {Type::BF16, 0x1p-8},
        {Type::Q8_0, 1.05 * 2.3 / 127 / std::sqrt(12)},
        {Type::Q4_0, 1.05 * 2.3 / 8 / std::sqrt(12)},
        {Type::Q4_1, 1.05 * 4.1 / 15 / std::sqrt(12)},
        {Type::Q5_0, 1.05 * 2.3 / 16 / std::sqrt(12)},
        {Type::Q5_1, 1.05 * 4.1 / 31 / std::sqrt(12)},
        {Type::Q4_K, 1.05 * 4.1 / 15 / std::sqrt(12)},
        {Type::Q5_K, 1.05 * 4.1 / 31 / std::sqrt(12)},
        {Type::Q6_K, 1.05 * 2.1 / 32 / std::sqrt(12)}, // of 16: 2.1 deviations
    };
    test::Random random(11);
    for (const float scale : {1.0f, 0.02f, 30.0f}) {
        std::vector<float> x = test::normals(random, 256 * 40);
        for (float &v : x) v *= scale;
        std::fill_n(x.begin(), 256, 0.0f); // a block of zeros stays one
        for (const auto &c : cases) {
            const std::vector<float> y = round_trip(c.type, x);
            double error = 0, power = 0;
            for (size_t i = 0; i < x.size(); i++) {
                if (i < 256) CHECK_CASE(y[i] == 0, test::info_of(c.type).name);
                error += (x[i] - y[i]) * (x[i] - y[i]);
                power += x[i] * x[i];
            }
            CHECK_CASE(std::sqrt(error / power) <= c.bound, std::string(test::info_of(c.type).name) + " " + std::to_string(std::sqrt(error / power)));
        }
    }
}

// What a format can hold it keeps.
void exact_values() {
    std::vector<float> x(512);
    for (size_t i = 0; i < x.size(); i++) x[i] = static_cast<float>(static_cast<int>(i % 16) - 8) * 0.25f; // -2 to 1.75
    for (Type type : {Type::F32, Type::F16, Type::BF16, Type::Q4_0, Type::Q5_0})
        CHECK_CASE(round_trip(type, x) == x, test::info_of(type).name);
}

void refused(tr_status status, const char *message, uint32_t from, const std::vector<float> &x, size_t src_bytes, uint32_t to, size_t dst_bytes) {
    std::vector<uint8_t> out(8192);
    char err[300] = "";
    CHECK_EQUAL(status, tr_convert(from, x.data(), src_bytes, to, out.data(), dst_bytes, err, sizeof err));
    CHECK_CONTAINS(err, message);
}

void refusals() {
    std::vector<float> x(512, 1.0f);
    refused(TR_ERR_UNSUPPORTED, "`from` is IQ2_XS, which this build does not read; it reads F32, F16", 17, x, 74, id(Type::Q8_0), 272);
    refused(TR_ERR_UNSUPPORTED, "does not write type IQ4_XS; it writes F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K and Q6_K", 0, x, 2048, 23, 272);
    refused(TR_ERR_ARGUMENT, "src_bytes is 35; type Q8_0 needs a multiple of 34", id(Type::Q8_0), x, 35, 0, 128);
    refused(TR_ERR_ARGUMENT, "src holds 128 weights; type Q4_K needs a multiple of 256", 0, x, 512, id(Type::Q4_K), 144);
    refused(TR_ERR_ARGUMENT, "dst_bytes is 287; 512 weights of type Q4_K take 288", 0, x, 2048, id(Type::Q4_K), 287);
    x[100] = INFINITY;
    refused(TR_ERR_FORMAT, "not finite", 0, x, 2048, id(Type::F16), 1024);
    x[100] = 1e8f;
    refused(TR_ERR_UNSUPPORTED, "too large for type F16", 0, x, 2048, id(Type::F16), 1024);
    refused(TR_ERR_UNSUPPORTED, "too large for type Q4_1", 0, x, 2048, id(Type::Q4_1), 320);
    CHECK_EQUAL(TR_ERR_ARGUMENT, tr_convert(0, nullptr, 4, 0, x.data(), 4, nullptr, 0));
    CHECK_EQUAL(TR_ERR_ARGUMENT, tr_convert(0, x.data(), 4, 0, nullptr, 4, nullptr, 0));
    CHECK_EQUAL(TR_OK, tr_convert(0, x.data(), 0, 0, x.data(), 0, nullptr, 0));
}

} // namespace

int main() {
    same_as_gguf();
    errors();
    exact_values();
    refusals();
    return test::report();
}
