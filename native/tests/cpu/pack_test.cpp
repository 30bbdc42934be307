// Packing loses nothing: the embedding lookup of a packed matrix gives the file's rows.
#include "cpu/fixtures.h"
#include "cpu/panels.h"

using namespace tr;

namespace {

void rows_come_back(const cpu::Ops &ops, cpu::Pool &pool, quant::Type type, int64_t rows, int64_t cols, bool exact) {
    test::Random random(static_cast<uint64_t>(rows * 1000 + cols));
    const test::FileWeights weights = test::random_weights(random, type, rows, cols);
    const cpu::Matrix m = test::pack(ops, pool, weights, exact);
    std::vector<float> row(static_cast<size_t>(cols));
    for (int64_t r = 0; r < rows; r++) {
        cpu::embedding_row(m, r, row.data());
        CHECK_CASE(test::same_bits(row.data(), weights.row(r).data(), row.size()), test::describe(ops, type, rows, cols, r));
    }
}

// Also bits that the conversion to floats does not show: the file's blocks come back byte by byte.
void blocks_come_back(quant::Type type) {
    test::Random random(7);
    const cpu::PanelInfo info = cpu::panel_info(type);
    const test::FileWeights weights = test::random_weights(random, type, 16, info.columns);
    std::vector<uint8_t> panel(info.bytes), row(weights.row_bytes());
    cpu::pack_panel(type, weights.bytes.data(), weights.row_bytes(), 16, info.columns, panel.data());
    for (int r = 0; r < 16; r++) {
        cpu::unpack_panel_row(type, panel.data(), r, info.columns, row.data());
        CHECK(test::same_bits(row.data(), weights.bytes.data() + static_cast<size_t>(r) * row.size(), row.size()));
    }
}

// Packed weights take the file's size, up to the padding of rows.
void sizes(const cpu::Ops &ops) {
    for (quant::Type type : test::all_types()) {
        cpu::Matrix m;
        m.type = type;
        m.rows = 64;
        m.cols = 512;
        CHECK_EQUAL(64 * cpu::file_row_bytes(m), ops.packed_bytes(m));
    }
}

} // namespace

int main() {
    cpu::Pool pool(2);
    for (quant::Type type : test::all_types()) blocks_come_back(type);
    for (const cpu::Ops *ops : test::usable_tables()) {
        std::printf("%s\n", ops->isa);
        sizes(*ops);
        for (quant::Type type : test::all_types())
            for (int64_t rows : {1, 15, 16, 17, 32, 33, 80})
                for (int64_t blocks : {1, 2, 3, 7}) {
                    const int64_t block = test::info_of(type).block == 1 ? 20 : test::info_of(type).block;
                    rows_come_back(*ops, pool, type, rows, block * blocks, false);
                    rows_come_back(*ops, pool, type, rows, block * blocks, true);
                }
    }
    return test::report();
}
