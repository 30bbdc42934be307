// Block formats: half floats, type tables and the reference conversion.
#include <bit>
#include <cstring>
#include <set>

#include "cpu/fixtures.h"
#include "cpu/records.h"

using namespace tr;
using namespace tr::quant;

namespace {

uint32_t bits(float f) { return std::bit_cast<uint32_t>(f); }

// IEEE 754 binary16, from its definition.
void halves() {
    const struct {
        uint16_t half;
        float value;
    } known[] = {{0x0000, 0.0f},       {0x8000, -0.0f},        {0x3c00, 1.0f},      {0xc000, -2.0f},       {0x3555, 0x1.554p-2f},
                 {0x7bff, 65504.0f},   {0x0400, 0x1p-14f},     {0x03ff, 0x1.ff8p-15f}, {0x0001, 0x1p-24f}, {0x8001, -0x1p-24f},
                 {0x7c00, INFINITY},   {0xfc00, -INFINITY}};
    for (const auto &k : known) {
        CHECK_EQUAL(bits(k.value), bits(half_to_float(k.half)));
        CHECK_EQUAL(k.half, float_to_half(k.value));
    }
    for (uint32_t h = 0; h < 0x10000; h++) {
        const float f = half_to_float(static_cast<uint16_t>(h));
        if (std::isnan(f)) CHECK(std::isnan(half_to_float(float_to_half(f))));
        else CHECK_EQUAL(h, float_to_half(f)); // every half is a float
    }
    // Rounding to nearest even: half a unit in the last place goes to the even neighbour, a little more or less to the nearer.
    const struct {
        float value;
        uint16_t half;
    } rounded[] = {{1.0f + 0x1p-11f, 0x3c00}, {1.0f + 0x1.8p-10f, 0x3c02}, {1.0f + 0x1.004p-11f, 0x3c01},
                   {0x1p-25f, 0x0000},        {0x1.004p-25f, 0x0001},      {0x1.8p-24f, 0x0002},
                   {65519.0f, 0x7bff},        {65520.0f, 0x7c00},          {-1e30f, 0xfc00},
                   {0x1.ffcp-15f, 0x0400},    {1e-30f, 0x0000}};
    for (const auto &r : rounded) CHECK_EQUAL(r.half, float_to_half(r.value));
    CHECK_EQUAL(0x7e00, float_to_half(NAN) & 0x7e00);
}

void names() {
    CHECK_EQUAL(std::string("Q4_K"), type_info(12)->name);
    CHECK_EQUAL(144u, type_info(12)->bytes);
    CHECK_EQUAL(256u, type_info(12)->block);
    CHECK(type_info(17) == nullptr);
    CHECK_EQUAL(std::string("F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, IQ4_XS and MXFP4"),
                supported_names());
    CHECK_EQUAL(std::string("IQ2_XS"), type_name(17));
    CHECK_EQUAL(std::string("MXFP4"), type_name(39));
    CHECK_EQUAL(std::string("type 4"), type_name(4)); // given up
    CHECK_EQUAL(std::string("type 4294967295"), type_name(UINT32_MAX));
}

// One weight of each format set by hand, from the layouts in the GGUF specification (ggml's block structures).
void blocks() {
    float y[256];

    BlockQ8_0 q8{};
    q8.d = 0x3800; // 0.5
    q8.qs[3] = -128;
    q8.qs[31] = 127;
    dequantize(Type::Q8_0, &q8, y, 32);
    CHECK_EQUAL(-64.0f, y[3]);
    CHECK_EQUAL(63.5f, y[31]);
    CHECK_EQUAL(0.0f, y[0]);

    BlockQ5_0 q5{};
    q5.d = 0x3c00;
    q5.qs[2] = 0x7a;   // weights 2 (low nibble) and 18
    q5.qh[0] = 1 << 2; // fifth bit of weight 2
    q5.qh[2] = 1 << 3; // of weight 19
    dequantize(Type::Q5_0, &q5, y, 32);
    CHECK_EQUAL(10.0f, y[2]);  // 16 + 10 - 16
    CHECK_EQUAL(-9.0f, y[18]); // 7 - 16
    CHECK_EQUAL(0.0f, y[19]);  // 16 - 16
    CHECK_EQUAL(-16.0f, y[0]);

    BlockQ4_K q4{};
    q4.d = 0x3c00;
    q4.dmin = 0x4000;                  // 2
    q4.scales[1] = 3;                  // scale of sub-block 1
    q4.scales[5] = 0xc5;               // min of sub-block 1 is 5; two high bits of the min of sub-block 5
    q4.scales[9] = 0x21;               // low bits of scale (1) and min (2) of sub-block 5
    q4.scales[1] |= 0x80;              // two high bits of the scale of sub-block 5
    q4.qs[0] = 0x90;                   // weights 0 and 32
    q4.qs[64 + 7] = 0xf0;              // weights 128+7 and 160+7
    dequantize(Type::Q4_K, &q4, y, 256);
    CHECK_EQUAL(0.0f, y[0]);
    CHECK_EQUAL(3.0f * 9 - 2 * 5, y[32]);
    CHECK_EQUAL(33.0f * 15 - 2 * 50, y[167]);
    CHECK_EQUAL(-100.0f, y[160]);

    BlockQ6_K q6{};
    q6.d = 0x3c00;
    for (int8_t &s : q6.scales) s = 1;
    q6.scales[7] = -128;
    q6.ql[1] = 0x5f;  // weights 1 and 65
    q6.ql[63] = 0x90; // weights 63 and 127
    q6.qh[1] = 0x33;  // of weights 1, 33, 65, 97
    q6.qh[31] = 0xc0; // of weight 127
    dequantize(Type::Q6_K, &q6, y, 256);
    CHECK_EQUAL(31.0f, y[1]);    // 15 + 48 - 32
    CHECK_EQUAL(21.0f, y[65]);   // 5 + 48 - 32
    CHECK_EQUAL(-32.0f, y[63]);
    CHECK_EQUAL(-128.0f * (9 + 48 - 32), y[127]);
    CHECK_EQUAL(-32.0f, y[128]);
}

// Random and extreme blocks of every format, converted by the Python package gguf.
void blocks_of_gguf() {
    std::set<Type> seen;
    for (const test::BlockRecord &r : test::read_records(TR_TEST_DATA "/blocks.bin")) {
        std::vector<float> y(r.weights.size());
        dequantize(r.info->type, r.blocks.data(), y.data(), y.size());
        for (size_t i = 0; i < y.size(); i++)
            CHECK_CASE(bits(y[i]) == bits(r.weights[i]), std::string(r.info->name) + " weight " + std::to_string(i) + ": expected " +
                                                             std::to_string(r.weights[i]) + ", got " + std::to_string(y[i]));
        seen.insert(r.info->type);
    }
    for (const TypeInfo &info : supported_types())
        if (info.type != Type::F32) CHECK_CASE(seen.contains(info.type), info.name);
}

} // namespace

int main() {
    halves();
    names();
    blocks();
    blocks_of_gguf();
    return test::report();
}
