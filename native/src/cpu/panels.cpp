#include "cpu/panels.h"

#include <algorithm>

#include "cpu/memory.h"
#include "cpu/pack/pack.h"

namespace tr::cpu {

namespace {

using quant::Type;

// Packs rows of `kBlocks` file blocks per panel block.
template <class Block, int kBlocks, class Panel>
void pack_blocks(const uint8_t *rows, size_t stride, int n_rows, int64_t n_blocks, uint8_t *out) {
    Panel panel{};
    for (int r = 0; r < n_rows; r++) {
        Block copy[kBlocks] = {};
        const uint8_t *from = rows + static_cast<size_t>(r) * stride;
        if (n_blocks == kBlocks) std::memcpy(copy, from, sizeof copy); // of a size the compiler knows
        else std::memcpy(copy, from, static_cast<size_t>(n_blocks) * sizeof(Block));
        if constexpr (kBlocks == 1) pack_row(copy[0], r, panel);
        else pack_row(copy, r, panel);
    }
    std::memcpy(out, &panel, sizeof panel);
}

template <class Block, int kBlocks, class Panel>
void unpack_blocks(const uint8_t *in, int row, int64_t n_blocks, uint8_t *out) {
    const Panel &panel = *reinterpret_cast<const Panel *>(in);
    Block blocks[kBlocks];
    if constexpr (kBlocks == 1) unpack_row(panel, row, blocks[0]);
    else unpack_row(panel, row, blocks);
    std::memcpy(out, blocks, static_cast<size_t>(n_blocks) * sizeof(Block));
}

template <class Panel, class Number>
void pack_numbers(const uint8_t *rows, size_t stride, int n_rows, int64_t n_columns, uint8_t *out) {
    auto &panel = *reinterpret_cast<Panel *>(out);
    std::memset(out, 0, sizeof panel);
    for (int r = 0; r < n_rows; r++)
        for (int64_t k = 0; k < n_columns; k++)
            std::memcpy(&panel.w[k][r], rows + static_cast<size_t>(r) * stride + static_cast<size_t>(k) * sizeof(Number), sizeof(Number));
}

template <class Panel, class Number> void unpack_numbers(const uint8_t *in, int row, int64_t n_columns, uint8_t *out) {
    const auto &panel = *reinterpret_cast<const Panel *>(in);
    for (int64_t k = 0; k < n_columns; k++) std::memcpy(out + static_cast<size_t>(k) * sizeof(Number), &panel.w[k][row], sizeof(Number));
}

int64_t panels_of(Layout layout) { return layout == Layout::kTiles32 ? 2 : 1; }

} // namespace

PanelInfo panel_info(Type type) {
    switch (type) {
    case Type::Q4_0:
    case Type::IQ4_NL: return {PanelQ4_0::kColumns, sizeof(PanelQ4_0)};
    case Type::Q4_1: return {PanelQ4_1::kColumns, sizeof(PanelQ4_1)};
    case Type::Q5_0: return {PanelQ5_0::kColumns, sizeof(PanelQ5_0)};
    case Type::Q5_1: return {PanelQ5_1::kColumns, sizeof(PanelQ5_1)};
    case Type::Q8_0: return {PanelQ8_0::kColumns, sizeof(PanelQ8_0)};
    case Type::MXFP4: return {PanelMXFP4::kColumns, sizeof(PanelMXFP4)};
    case Type::Q2_K: return {PanelQ2K::kColumns, sizeof(PanelQ2K)};
    case Type::Q3_K: return {PanelQ3K::kColumns, sizeof(PanelQ3K)};
    case Type::Q4_K: return {PanelQ4K::kColumns, sizeof(PanelQ4K)};
    case Type::Q5_K: return {PanelQ5K::kColumns, sizeof(PanelQ5K)};
    case Type::Q6_K: return {PanelQ6K::kColumns, sizeof(PanelQ6K)};
    case Type::IQ4_XS: return {PanelIQ4XS::kColumns, sizeof(PanelIQ4XS)};
    case Type::F16:
    case Type::BF16: return {PanelF16::kColumns, sizeof(PanelF16)};
    case Type::F32: break;
    }
    return {PanelF32::kColumns, sizeof(PanelF32)};
}

int64_t tile_rows(Layout layout) { return layout == Layout::kFileRows ? 0 : panels_of(layout) * kPanelRows; }

int64_t tile_count(const Matrix &m) {
    const int64_t rows = tile_rows(m.layout);
    return (m.rows + rows - 1) / rows;
}

size_t tile_bytes(const Matrix &m) {
    const PanelInfo info = panel_info(m.type);
    return static_cast<size_t>((m.cols + info.columns - 1) / info.columns * panels_of(m.layout)) * info.bytes;
}

size_t file_row_bytes(const Matrix &m) {
    const quant::TypeInfo *info = quant::type_info(static_cast<uint32_t>(m.type));
    return static_cast<size_t>(m.cols) / info->block * info->bytes;
}

void pack_panel(Type type, const uint8_t *rows, size_t stride, int n_rows, int64_t n_columns, uint8_t *panel) {
    using namespace quant;
    switch (type) {
    case Type::Q4_0: pack_blocks<BlockQ4_0, 2, PanelQ4_0>(rows, stride, n_rows, n_columns / 32, panel); break;
    case Type::Q4_1: pack_blocks<BlockQ4_1, 2, PanelQ4_1>(rows, stride, n_rows, n_columns / 32, panel); break;
    case Type::Q5_0: pack_blocks<BlockQ5_0, 2, PanelQ5_0>(rows, stride, n_rows, n_columns / 32, panel); break;
    case Type::Q5_1: pack_blocks<BlockQ5_1, 2, PanelQ5_1>(rows, stride, n_rows, n_columns / 32, panel); break;
    case Type::Q8_0: pack_blocks<BlockQ8_0, 2, PanelQ8_0>(rows, stride, n_rows, n_columns / 32, panel); break;
    case Type::IQ4_NL: pack_blocks<BlockIQ4_NL, 2, PanelQ4_0>(rows, stride, n_rows, n_columns / 32, panel); break;
    case Type::MXFP4: pack_blocks<BlockMXFP4, 2, PanelMXFP4>(rows, stride, n_rows, n_columns / 32, panel); break;
    case Type::Q2_K: pack_blocks<BlockQ2_K, 1, PanelQ2K>(rows, stride, n_rows, n_columns / 256, panel); break;
    case Type::Q3_K: pack_blocks<BlockQ3_K, 1, PanelQ3K>(rows, stride, n_rows, n_columns / 256, panel); break;
    case Type::Q4_K: pack_blocks<BlockQ4_K, 1, PanelQ4K>(rows, stride, n_rows, n_columns / 256, panel); break;
    case Type::Q5_K: pack_blocks<BlockQ5_K, 1, PanelQ5K>(rows, stride, n_rows, n_columns / 256, panel); break;
    case Type::Q6_K: pack_blocks<BlockQ6_K, 1, PanelQ6K>(rows, stride, n_rows, n_columns / 256, panel); break;
    case Type::IQ4_XS: pack_blocks<BlockIQ4_XS, 1, PanelIQ4XS>(rows, stride, n_rows, n_columns / 256, panel); break;
    case Type::F16:
    case Type::BF16: pack_numbers<PanelF16, uint16_t>(rows, stride, n_rows, n_columns, panel); break;
    case Type::F32: pack_numbers<PanelF32, float>(rows, stride, n_rows, n_columns, panel); break;
    }
}

void unpack_panel_row(Type type, const uint8_t *panel, int row, int64_t n_columns, uint8_t *blocks) {
    using namespace quant;
    switch (type) {
    case Type::Q4_0: unpack_blocks<BlockQ4_0, 2, PanelQ4_0>(panel, row, n_columns / 32, blocks); break;
    case Type::Q4_1: unpack_blocks<BlockQ4_1, 2, PanelQ4_1>(panel, row, n_columns / 32, blocks); break;
    case Type::Q5_0: unpack_blocks<BlockQ5_0, 2, PanelQ5_0>(panel, row, n_columns / 32, blocks); break;
    case Type::Q5_1: unpack_blocks<BlockQ5_1, 2, PanelQ5_1>(panel, row, n_columns / 32, blocks); break;
    case Type::Q8_0: unpack_blocks<BlockQ8_0, 2, PanelQ8_0>(panel, row, n_columns / 32, blocks); break;
    case Type::IQ4_NL: unpack_blocks<BlockIQ4_NL, 2, PanelQ4_0>(panel, row, n_columns / 32, blocks); break;
    case Type::MXFP4: unpack_blocks<BlockMXFP4, 2, PanelMXFP4>(panel, row, n_columns / 32, blocks); break;
    case Type::Q2_K: unpack_blocks<BlockQ2_K, 1, PanelQ2K>(panel, row, n_columns / 256, blocks); break;
    case Type::Q3_K: unpack_blocks<BlockQ3_K, 1, PanelQ3K>(panel, row, n_columns / 256, blocks); break;
    case Type::Q4_K: unpack_blocks<BlockQ4_K, 1, PanelQ4K>(panel, row, n_columns / 256, blocks); break;
    case Type::Q5_K: unpack_blocks<BlockQ5_K, 1, PanelQ5K>(panel, row, n_columns / 256, blocks); break;
    case Type::Q6_K: unpack_blocks<BlockQ6_K, 1, PanelQ6K>(panel, row, n_columns / 256, blocks); break;
    case Type::IQ4_XS: unpack_blocks<BlockIQ4_XS, 1, PanelIQ4XS>(panel, row, n_columns / 256, blocks); break;
    case Type::F16:
    case Type::BF16: unpack_numbers<PanelF16, uint16_t>(panel, row, n_columns, blocks); break;
    case Type::F32: unpack_numbers<PanelF32, float>(panel, row, n_columns, blocks); break;
    }
}

size_t packed_bytes(Matrix &m, Layout layout) {
    // The exact float path of a block format reads the file's blocks; float weights need no other path than their own.
    const bool coded = quant::type_info(static_cast<uint32_t>(m.type))->block > 1;
    m.layout = m.exact_float && coded ? Layout::kFileRows : layout;
    if (m.layout == Layout::kFileRows) return static_cast<size_t>(m.rows) * file_row_bytes(m);
    return static_cast<size_t>(tile_count(m)) * tile_bytes(m);
}

void pack(Worker &worker, Matrix &m, const void *src) {
    const auto *file = static_cast<const uint8_t *>(src);
    const size_t row_bytes = file_row_bytes(m);
    if (m.layout == Layout::kFileRows) {
        constexpr int64_t kRows = 64;
        const int64_t chunks = (m.rows + kRows - 1) / kRows;
        for (int64_t i; (i = worker.next(chunks)) < chunks;) {
            const int64_t n = std::min(kRows, m.rows - i * kRows);
            const size_t offset = static_cast<size_t>(i * kRows) * row_bytes;
            std::memcpy(m.data.get() + offset, file + offset, static_cast<size_t>(n) * row_bytes);
        }
        return;
    }
    const PanelInfo info = panel_info(m.type);
    const int64_t tiles = tile_count(m), panels = panels_of(m.layout);
    const quant::TypeInfo *blocks = quant::type_info(static_cast<uint32_t>(m.type));
    const size_t block_bytes = static_cast<size_t>(info.columns) / blocks->block * blocks->bytes; // of a row in a panel block
    for (int64_t tile; (tile = worker.next(tiles)) < tiles;) {
        uint8_t *out = m.data.get() + static_cast<size_t>(tile) * tile_bytes(m);
        for (int64_t k = 0, b = 0; k < m.cols; k += info.columns, b++)
            for (int64_t p = 0; p < panels; p++, out += info.bytes) {
                const int64_t row = (tile * panels + p) * kPanelRows;
                const int64_t n_rows = std::clamp<int64_t>(m.rows - row, 0, kPanelRows);
                const uint8_t *rows = file + static_cast<size_t>(row) * row_bytes + static_cast<size_t>(b) * block_bytes;
                pack_panel(m.type, rows, row_bytes, static_cast<int>(n_rows), std::min(info.columns, m.cols - k), out);
            }
    }
}

void embedding_row(const Matrix &m, int64_t id, float *out) {
    if (m.layout == Layout::kFileRows) {
        quant::dequantize(m.type, m.data.get() + static_cast<size_t>(id) * file_row_bytes(m), out, static_cast<size_t>(m.cols));
        return;
    }
    const PanelInfo info = panel_info(m.type);
    const int64_t panels = panels_of(m.layout), panel = id / kPanelRows;
    const uint8_t *in = m.data.get() + static_cast<size_t>(panel / panels) * tile_bytes(m) + static_cast<size_t>(panel % panels) * info.bytes;
    alignas(64) uint8_t blocks[256]; // one row of a panel block
    for (int64_t k = 0; k < m.cols; k += info.columns, in += static_cast<size_t>(panels) * info.bytes) {
        const int64_t n = std::min(info.columns, m.cols - k);
        unpack_panel_row(m.type, in, static_cast<int>(id % kPanelRows), n, blocks);
        quant::dequantize(m.type, blocks, out + k, static_cast<size_t>(n));
    }
}

ActForm Matrix::form() const {
    const uint32_t block = quant::type_info(static_cast<uint32_t>(type))->block;
    if (exact_float || block == 1) return kActF32;
    return block == 256 ? kActQ256 : kActQ32;
}

void Matrix::allocate(size_t n) {
    data = allocate_buffer(n);
    bytes = n;
}

} // namespace tr::cpu
