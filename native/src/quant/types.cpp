#include <cstdio>
#include <vector>

#include "quant/blocks.h"

namespace tr::quant {

namespace {

constexpr TypeInfo kSupported[] = {
    {Type::F32, "F32", 1, 4},
    {Type::F16, "F16", 1, 2},
    {Type::BF16, "BF16", 1, 2},
    {Type::Q4_0, "Q4_0", 32, sizeof(BlockQ4_0)},
    {Type::Q4_1, "Q4_1", 32, sizeof(BlockQ4_1)},
    {Type::Q5_0, "Q5_0", 32, sizeof(BlockQ5_0)},
    {Type::Q5_1, "Q5_1", 32, sizeof(BlockQ5_1)},
    {Type::Q8_0, "Q8_0", 32, sizeof(BlockQ8_0)},
    {Type::Q2_K, "Q2_K", 256, sizeof(BlockQ2_K)},
    {Type::Q3_K, "Q3_K", 256, sizeof(BlockQ3_K)},
    {Type::Q4_K, "Q4_K", 256, sizeof(BlockQ4_K)},
    {Type::Q5_K, "Q5_K", 256, sizeof(BlockQ5_K)},
    {Type::Q6_K, "Q6_K", 256, sizeof(BlockQ6_K)},
    {Type::IQ4_NL, "IQ4_NL", 32, sizeof(BlockIQ4_NL)},
    {Type::IQ4_XS, "IQ4_XS", 256, sizeof(BlockIQ4_XS)},
    {Type::MXFP4, "MXFP4", 32, sizeof(BlockMXFP4)},
};

// Indexed by ggml's type id; nullptr where an id was given up or never used.
constexpr const char *kNames[] = {
    "F32",     "F16",     "Q4_0",    "Q4_1",   nullptr,   nullptr,   "Q5_0",    "Q5_1",   "Q8_0",    "Q8_1",
    "Q2_K",    "Q3_K",    "Q4_K",    "Q5_K",   "Q6_K",    "Q8_K",    "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S",
    "IQ4_NL",  "IQ3_S",   "IQ2_S",   "IQ4_XS", "I8",      "I16",     "I32",     "I64",    "F64",     "IQ1_M",
    "BF16",    "Q4_0_4_4", "Q4_0_4_8", "Q4_0_8_8", "TQ1_0", "TQ2_0", nullptr,   nullptr,  nullptr,   "MXFP4",
};

} // namespace

std::span<const TypeInfo> supported_types() { return kSupported; }

std::string join_names(std::span<const char *const> names) {
    std::string text;
    for (size_t i = 0; i < names.size(); i++) {
        if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
        text += names[i];
    }
    return text;
}

std::string supported_names() {
    std::vector<const char *> names;
    for (const TypeInfo &info : kSupported) names.push_back(info.name);
    return join_names(names);
}

const TypeInfo *type_info(uint32_t ggml_type) {
    for (const TypeInfo &info : kSupported)
        if (static_cast<uint32_t>(info.type) == ggml_type) return &info;
    return nullptr;
}

const char *type_name(uint32_t ggml_type) {
    if (ggml_type < sizeof kNames / sizeof *kNames && kNames[ggml_type]) return kNames[ggml_type];
    static thread_local char text[24];
    std::snprintf(text, sizeof text, "type %u", ggml_type);
    return text;
}

} // namespace tr::quant
