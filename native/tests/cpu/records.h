// Files of blocks and the weights they stand for, made by tools/reference/make_blocks.py.
#pragma once
#include <fstream>
#include <vector>

#include "quant/types.h"
#include "support/check.h"

namespace tr::test {

struct BlockRecord {
    const quant::TypeInfo *info;
    std::vector<uint8_t> blocks;
    std::vector<float> weights;
};

inline std::vector<BlockRecord> read_records(const char *path) {
    std::ifstream in(path, std::ios::binary);
    CHECK(in.good());
    std::vector<BlockRecord> records;
    while (in && in.peek() != EOF) {
        uint32_t head[3]; // type, weights, bytes
        in.read(reinterpret_cast<char *>(head), sizeof head);
        BlockRecord r{quant::type_info(head[0]), std::vector<uint8_t>(head[2]), std::vector<float>(head[1])};
        in.read(reinterpret_cast<char *>(r.blocks.data()), head[2]);
        in.read(reinterpret_cast<char *>(r.weights.data()), static_cast<std::streamsize>(head[1] * sizeof(float)));
        CHECK(in && r.info && head[1] / r.info->block * r.info->bytes == head[2]);
        if (!in || !r.info) break;
        records.push_back(std::move(r));
    }
    return records;
}

} // namespace tr::test
