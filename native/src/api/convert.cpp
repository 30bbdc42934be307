#include <algorithm>

#include "api/guard.h"
#include "arch/finite.h"
#include "quant/quantize.h"
#include "tokenrouter.h"

using namespace tr::api;

namespace {

const tr::quant::TypeInfo &type_of(uint32_t id, const char *name) {
    const tr::quant::TypeInfo *info = tr::quant::type_info(id);
    if (!info) {
        tr::fail(TR_ERR_UNSUPPORTED, "`%s` is %s, which this build does not read; it reads %s", name, tr::quant::type_name(id),
                 tr::quant::supported_names().c_str());
    }
    return *info;
}

unsigned long long ull(uint64_t v) { return v; }

// Weights in src; throws unless they are whole blocks on both sides.
uint64_t count_of(const tr::quant::TypeInfo &in, size_t src_bytes, const tr::quant::TypeInfo &out, size_t dst_bytes) {
    if (src_bytes % in.bytes) {
        tr::fail(TR_ERR_ARGUMENT, "src_bytes is %llu; type %s needs a multiple of %u", ull(src_bytes), in.name, in.bytes);
    }
    const uint64_t n = uint64_t{src_bytes} / in.bytes * in.block;
    if (n % out.block) tr::fail(TR_ERR_ARGUMENT, "src holds %llu weights; type %s needs a multiple of %u", ull(n), out.name, out.block);
    if (dst_bytes != n / out.block * out.bytes) {
        tr::fail(TR_ERR_ARGUMENT, "dst_bytes is %llu; %llu weights of type %s take %llu", ull(dst_bytes), ull(n), out.name,
                 ull(n / out.block * out.bytes));
    }
    return n;
}

} // namespace

tr_status tr_convert(uint32_t from, const void *src, size_t src_bytes, uint32_t to, void *dst, size_t dst_bytes, char *err, size_t err_len) {
    return guarded(err, err_len, [&] {
        check_pointer(src, "src");
        check_pointer(dst, "dst");
        const tr::quant::TypeInfo &in = type_of(from, "from"), &out = type_of(to, "to");
        if (!tr::quant::can_quantize(out.type)) {
            tr::fail(TR_ERR_UNSUPPORTED, "this build does not write type %s; it writes %s", out.name, tr::quant::quantizable_names().c_str());
        }
        const uint64_t n = count_of(in, src_bytes, out, dst_bytes);
        constexpr uint64_t kPart = 4096; // a multiple of every block
        float weights[kPart];
        const auto *read = static_cast<const uint8_t *>(src);
        auto *write = static_cast<uint8_t *>(dst);
        for (uint64_t i = 0; i < n; i += kPart) {
            const auto count = static_cast<size_t>(std::min(kPart, n - i)), in_blocks = count / in.block, out_blocks = count / out.block;
            if (!tr::arch::blocks_finite(in.type, read, in_blocks)) tr::fail(TR_ERR_FORMAT, "weights are not finite numbers");
            tr::quant::dequantize(in.type, read, weights, count);
            tr::quant::quantize(out.type, weights, write, count);
            if (!tr::arch::blocks_finite(out.type, write, out_blocks)) {
                tr::fail(TR_ERR_UNSUPPORTED, "weights are too large for type %s, whose scales are half floats", out.name);
            }
            read += in_blocks * in.bytes;
            write += out_blocks * out.bytes;
        }
    });
}
