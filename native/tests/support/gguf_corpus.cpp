#include "support/gguf_corpus.h"

#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "quant/blocks.h"

namespace tr::test {

using gguf::ValueType;

std::vector<CorpusCase> gguf_corpus() {
    const std::string directory = TR_GGUF_CORPUS "/";
    std::ifstream index(directory + "cases.tsv");
    std::vector<CorpusCase> cases;
    for (std::string line; std::getline(index, line);) {
        std::istringstream fields(line);
        std::vector<std::string> all;
        for (std::string field; std::getline(fields, field, '\t');) all.push_back(field);
        if (all.size() < 3) throw std::runtime_error("the corpus has the line " + line);
        cases.push_back({directory + all[0], all[1], std::stoll(all[2]), {all.begin() + 3, all.end()}});
    }
    if (cases.empty()) throw std::runtime_error("no corpus in " + directory);
    return cases;
}

Bytes read_file(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error("cannot read " + path);
    return Bytes(std::istreambuf_iterator<char>(in), {});
}

GgufWriter good_writer() {
    GgufWriter w;
    w.string("general.architecture", "qwen2");
    w.string("general.name", "tiny");
    w.u32("u32", 7);
    w.scalar("i16", ValueType::I16, int16_t{-3});
    w.scalar("u64", ValueType::U64, uint64_t{1} << 40);
    w.f32("f32", 0.5f);
    w.scalar("f64", ValueType::F64, 0.25);
    w.scalar("bool", ValueType::Bool, uint8_t{1});
    w.strings("strings", {"a", "", "bc"});
    w.tensors.push_back({"matrix", {32, 2}, static_cast<uint32_t>(quant::Type::Q8_0), Bytes(2 * sizeof(quant::BlockQ8_0), 1)});
    w.tensors.push_back({"vector", {5}, static_cast<uint32_t>(quant::Type::F32), Bytes(20, 0)});
    return w;
}

} // namespace tr::test
