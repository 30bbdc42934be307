#include "arch/loader.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <tuple>

#include "arch/finite.h"
#include "base/error.h"
#include "gguf/types.h"

namespace tr::arch {

namespace {

long long ll(uint64_t v) { return static_cast<long long>(v); }

[[noreturn]] void fail_not_finite(const gguf::Tensor &t) {
    fail(TR_ERR_FORMAT, "tensor %s has weights that are not finite numbers: the file is damaged", quoted(t.name).c_str());
}

// Where row i goes that Rows::kNeighboursToHalves puts into place.
int64_t half_row(int64_t i, int64_t head_dim) {
    const int64_t in_head = i % head_dim;
    return i - in_head + in_head / 2 + in_head % 2 * (head_dim / 2);
}

} // namespace

const gguf::Tensor &Loader::claim(const std::string &name, int64_t inputs, int64_t outputs, int64_t count) {
    const gguf::Tensor *t = file_.contents.find(name);
    if (!t) fail(TR_ERR_FORMAT, "tensor \"%s\" is missing", name.c_str());
    const auto is = [t](int i, int64_t n) { return t->dims[i] == static_cast<uint64_t>(n); };
    if (!is(0, inputs) || !is(1, outputs) || !is(2, count) || !is(3, 1)) {
        const std::string third = count == 1 ? "" : ", " + std::to_string(count);
        fail(TR_ERR_FORMAT, "tensor \"%s\" is of shape [%lld, %lld, %lld, %lld]; the metadata asks for [%lld, %lld%s]", name.c_str(),
             ll(t->dims[0]), ll(t->dims[1]), ll(t->dims[2]), ll(t->dims[3]), static_cast<long long>(inputs), static_cast<long long>(outputs),
             third.c_str());
    }
    check_type(*t);
    claimed_.insert(t);
    n_params_ += t->elements;
    return *t;
}

void Loader::check_type(const gguf::Tensor &t) const {
    const auto id = static_cast<uint32_t>(t.type);
    if (quant::type_info(id)) return;
    fail(TR_ERR_UNSUPPORTED, "tensor %s is of type %s, which this build does not run; it runs %s", quoted(t.name).c_str(),
         gguf::storage(id)->name, quant::supported_names().c_str());
}

void Loader::claim_matrix(cpu::Matrix &m, const gguf::Tensor &t, int64_t index, int64_t count, Rows rows) {
    m.type = t.type;
    m.rows = static_cast<int64_t>(t.dims[1]);
    m.cols = static_cast<int64_t>(t.dims[0]);
    m.exact_float = options_.exact_float;
    const uint64_t bytes = t.bytes / static_cast<uint64_t>(count);
    claims_.push_back({&m, &t, static_cast<uint64_t>(index) * bytes, bytes, rows});
}

void Loader::matrix(cpu::Matrix &m, const std::string &name, int64_t inputs, int64_t outputs, Rows rows) {
    claim_matrix(m, claim(name, inputs, outputs), 0, 1, rows);
}

void Loader::matrices(std::vector<cpu::Matrix> &m, const std::string &name, int64_t inputs, int64_t outputs, int64_t count) {
    const gguf::Tensor &t = claim(name, inputs, outputs, count);
    m.resize(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; i++) claim_matrix(m[static_cast<size_t>(i)], t, i, count, Rows::kAsStored);
}

void Loader::vector(Array<float> &v, const std::string &name, int64_t n, Rows rows) {
    v = options_.backend.place(numbers(name, n, rows), "a norm or bias");
}

Array<float> Loader::numbers(const std::string &name, int64_t n, Rows rows) {
    const gguf::Tensor &t = claim(name, n, 1);
    if (quant::type_info(static_cast<uint32_t>(t.type))->block != 1) {
        fail(TR_ERR_UNSUPPORTED, "tensor \"%s\" is of type %s; this build reads norms and biases as F32, F16 or BF16", name.c_str(),
             quant::type_name(static_cast<uint32_t>(t.type)));
    }
    std::vector<uint8_t> bytes(t.bytes);
    file_.read(t, 0, bytes.size(), bytes.data());
    if (!blocks_finite(t.type, bytes.data(), t.elements)) fail_not_finite(t);
    Array<float> v(static_cast<size_t>(n), "a norm or bias");
    quant::dequantize(t.type, bytes.data(), v.data(), v.size());
    if (rows == Rows::kNeighboursToHalves) {
        const std::vector<float> stored(v.data(), v.data() + n);
        for (int64_t i = 0; i < n; i++) v[static_cast<size_t>(half_row(i, head_dim_))] = stored[static_cast<size_t>(i)];
    }
    weight_bytes_ += v.size() * sizeof(float);
    return v;
}

void Loader::check_all_claimed() const {
    for (const gguf::Tensor &t : file_.contents.tensors()) {
        if (!claimed_.contains(&t)) {
            fail(TR_ERR_UNSUPPORTED, "tensor %s is not part of the architecture that the file states; this build cannot run it",
                 quoted(t.name).c_str());
        }
    }
}

void Loader::report(uint64_t done, uint64_t total) const {
    if (!options_.progress) return;
    std::atomic_ref<int32_t>(*options_.progress).store(static_cast<int32_t>(total ? done * 1000 / total : 1000), std::memory_order_relaxed);
}

// Rows that a worker reads and packs at a time: a few hundred KiB of the file, in whole tiles of every layout.
static int64_t slab_rows(size_t row_bytes) {
    constexpr int64_t kTile = 32;
    constexpr size_t kSlab = 512 << 10;
    return std::max<int64_t>(static_cast<int64_t>(kSlab / row_bytes) / kTile * kTile, kTile);
}

// The whole matrix as Rows::kNeighboursToHalves puts it.
std::vector<uint8_t> Loader::halves(const Claim &claim) const {
    std::vector<uint8_t> stored(claim.bytes), put(claim.bytes);
    file_.read(*claim.tensor, claim.offset, stored.size(), stored.data());
    const size_t row = claim.bytes / static_cast<size_t>(claim.matrix->rows);
    for (int64_t i = 0; i < claim.matrix->rows; i++)
        std::memcpy(put.data() + static_cast<size_t>(half_row(i, head_dim_)) * row, stored.data() + static_cast<size_t>(i) * row, row);
    return put;
}

// Every worker reads slabs of rows into its own staging memory, checks them there and packs them: what has been checked is
// what is packed, whatever happens to the file meanwhile.
void Loader::pack(const Claim &claim) {
    cpu::Matrix &m = *claim.matrix;
    const gguf::Tensor &t = *claim.tensor;
    m.bytes = options_.backend.ops.packed_bytes(m);
    m.data = allocate_memory(m.bytes, 1, "packed weights", options_.backend.allocate);
    weight_bytes_ += m.bytes;
    const quant::TypeInfo &info = *quant::type_info(static_cast<uint32_t>(t.type));
    const size_t row_bytes = static_cast<size_t>(m.cols) / info.block * info.bytes;
    const int64_t rows = slab_rows(row_bytes), n_slabs = (m.rows + rows - 1) / rows;
    staging_.resize(static_cast<size_t>(options_.pool.size()));
    for (auto &s : staging_) s.resize(static_cast<size_t>(std::min(rows, m.rows)) * row_bytes);

    const std::vector<uint8_t> reordered = claim.rows == Rows::kAsStored ? std::vector<uint8_t>() : halves(claim);

    std::mutex mutex;
    std::exception_ptr fault; // the first one of any worker
    options_.pool.run([&](cpu::Worker &worker) {
        uint8_t *bytes = staging_[static_cast<size_t>(worker.index())].data();
        for (int64_t i; (i = worker.next(n_slabs)) < n_slabs;) {
            try {
                cpu::Matrix slab;
                slab.type = m.type;
                slab.exact_float = m.exact_float;
                slab.cols = m.cols;
                slab.rows = i * rows;
                const size_t at = i == 0 ? 0 : options_.backend.ops.packed_bytes(slab); // whole tiles, one after the other
                slab.rows = std::min(rows, m.rows - i * rows);
                options_.backend.ops.packed_bytes(slab); // sets the layout
                slab.data = {m.data.get() + at, [](uint8_t *) {}};
                const size_t n = static_cast<size_t>(slab.rows) * row_bytes;
                const uint64_t from = static_cast<uint64_t>(i * rows) * row_bytes;
                if (reordered.empty()) file_.read(t, claim.offset + from, n, bytes);
                else std::memcpy(bytes, reordered.data() + from, n);
                if (!blocks_finite(t.type, bytes, n / info.bytes)) fail_not_finite(t);
                cpu::Worker alone = cpu::Worker::alone();
                options_.backend.ops.pack(alone, slab, bytes);
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (!fault) fault = std::current_exception();
            }
        }
    });
    if (fault) std::rethrow_exception(fault);
}

void Loader::finish() {
    check_all_claimed();
    if (options_.check_only) return;
    // In the order of the file, so that it is read once from front to back.
    std::sort(claims_.begin(), claims_.end(), [](const Claim &a, const Claim &b) {
        return std::tuple(a.tensor->part, a.tensor->offset, a.offset) < std::tuple(b.tensor->part, b.tensor->offset, b.offset);
    });
    uint64_t total = 0, done = 0;
    for (const Claim &c : claims_) total += c.bytes;
    report(0, total);
    for (size_t i = 0; i < claims_.size(); i++) {
        if (i == 0) file_.will_need(*claims_[i].tensor);
        if (i + 1 < claims_.size() && claims_[i + 1].tensor != claims_[i].tensor) file_.will_need(*claims_[i + 1].tensor);
        pack(claims_[i]);
        report(done += claims_[i].bytes, total);
    }
}

} // namespace tr::arch
