// Rotary positions, the KV cache and attention: against double precision, and the same bits on every instruction set, for any
// chunking, batch and number of workers.
#include <algorithm>

#include "cpu/attention.h"
#include "cpu/fixtures.h"

using namespace tr;

namespace {

struct Heads {
    int32_t n_head, n_head_kv, head_dim;
    int32_t window = 0;  // positions seen; 0: all
    bool norms = false;  // of heads, before the rotation
    cpu::KvType kv = cpu::KvType::kF16;
};

constexpr float kEps = 1e-3f;

// One layer's cache and sequences whose pages lie scattered in it. What no token has written is NaN: attention must not
// read it into any result.
class Layer {
public:
    Layer(const Heads &h, const std::vector<int64_t> &lengths, uint64_t seed)
        : shape{h.n_head, h.n_head_kv, h.head_dim, cpu::kPageTokens, 1 / std::sqrt(static_cast<float>(h.head_dim)), h.window}, kv_type_(h.kv), lengths_(lengths), norms_(h.norms) {
        test::Random random(seed);
        int64_t total = 0;
        for (int64_t length : lengths) total += (length + cpu::kPageTokens - 1) / cpu::kPageTokens;
        std::vector<int32_t> free;
        for (int64_t i = 0; i < total; i++) free.push_back(static_cast<int32_t>(i));
        for (size_t i = free.size(); i > 1; i--) std::swap(free[i - 1], free[random.bits() % i]);
        for (int64_t length : lengths) {
            const auto pages = (length + cpu::kPageTokens - 1) / cpu::kPageTokens;
            pages_.emplace_back(free.end() - pages, free.end());
            free.resize(free.size() - static_cast<size_t>(pages));
            q_.push_back(test::normals(random, static_cast<size_t>(length * h.n_head * h.head_dim)));
            k_.push_back(test::normals(random, static_cast<size_t>(length * h.n_head_kv * h.head_dim)));
            v_.push_back(test::normals(random, static_cast<size_t>(length * h.n_head_kv * h.head_dim)));
        }
        const size_t size = static_cast<size_t>(total * h.n_head_kv * cpu::kv_page_bytes(h.kv, h.head_dim));
        k_cache_.assign(size, 0x7e); // 0x7e7e: half floats and scales that are not numbers
        v_cache_.assign(size, 0x7e);
        const int64_t positions = *std::max_element(lengths.begin(), lengths.end());
        for (int64_t p = 0; p < positions; p++)
            for (int i = 0; i < h.head_dim / 2; i++) {
                const double angle = static_cast<double>(p) * std::pow(10000.0, -2.0 * i / h.head_dim);
                cos_.push_back(static_cast<float>(std::cos(angle)));
                sin_.push_back(static_cast<float>(std::sin(angle)));
            }
        for (int i = 0; i < h.head_dim; i++) {
            q_gain_.push_back(random.uniform(0.5f, 1.5f));
            k_gain_.push_back(random.uniform(0.5f, 1.5f));
        }
        scratch_.reserve(h.head_dim);
    }

    // Part of a sequence that a step appends.
    struct Extend {
        size_t sequence;
        int64_t first, count;
    };

    // One step: rope, store, attend. Returns [token][n_head*head_dim] in the order of the extends.
    std::vector<float> step(const cpu::Ops &ops, cpu::Pool &pool, const std::vector<Extend> &extends) {
        std::vector<cpu::QueryToken> tokens;
        std::vector<float> q, k, v;
        const auto append = [](std::vector<float> &to, const std::vector<float> &from, int64_t first, int64_t count, int64_t width) {
            to.insert(to.end(), from.begin() + first * width, from.begin() + (first + count) * width);
        };
        for (const Extend &e : extends) {
            for (int64_t i = 0; i < e.count; i++) tokens.push_back({static_cast<int32_t>(e.first + i), pages_[e.sequence].data()});
            append(q, q_[e.sequence], e.first, e.count, shape.n_head * shape.head_dim);
            append(k, k_[e.sequence], e.first, e.count, shape.n_head_kv * shape.head_dim);
            append(v, v_[e.sequence], e.first, e.count, shape.n_head_kv * shape.head_dim);
        }
        std::vector<float> out(q.size());
        const auto n = static_cast<int64_t>(tokens.size());
        const cpu::KvLayer kv{k_cache_.data(), v_cache_.data(), kv_type_};
        pool.run([&](cpu::Worker &w) {
            ops.rope_store(w, shape, tokens.data(), n, q.data(), k.data(), v.data(), 
                           {cos_.data(), sin_.data(), norms_ ? q_gain_.data() : nullptr, norms_ ? k_gain_.data() : nullptr, kEps}, kv);
            w.join();
            ops.attention(w, shape, tokens.data(), n, q.data(), kv, scratch_, out.data());
        });
        rotated_ = q;
        return out;
    }

    // Attention of one query token in double precision, over what the cache holds. `q` is rotated already.
    std::vector<double> exact(size_t sequence, int64_t position, const float *q) const {
        std::vector<double> out(static_cast<size_t>(shape.n_head * shape.head_dim));
        const int32_t dim = shape.head_dim;
        for (int32_t h = 0; h < shape.n_head; h++) {
            const int64_t head_kv = h / (shape.n_head / shape.n_head_kv);
            std::vector<double> weight;
            double largest = -INFINITY, sum = 0;
            const int64_t first = shape.window > 0 ? std::max<int64_t>(0, position + 1 - shape.window) : 0;
            for (int64_t i = first; i <= position; i++) {
                double score = 0;
                for (int32_t d = 0; d < dim; d++)
                    score += static_cast<double>(q[h * dim + d]) * cached(k_cache_, sequence, i, head_kv, d, true);
                weight.push_back(score * shape.scale);
                largest = std::max(largest, weight.back());
            }
            for (double &w : weight) sum += w = std::exp(w - largest);
            for (int64_t i = first; i <= position; i++)
                for (int32_t d = 0; d < dim; d++)
                    out[static_cast<size_t>(h * dim + d)] +=
                        weight[static_cast<size_t>(i - first)] / sum *
                        cached(v_cache_, sequence, i, head_kv, d, false);
        }
        return out;
    }

    // Dimension d of a key or value as the cache holds it, from the layout that ops.h describes.
    double cached(const std::vector<uint8_t> &cache, size_t sequence, int64_t position, int64_t head_kv, int64_t d, bool key) const {
        const int64_t page = pages_[sequence][static_cast<size_t>(position / cpu::kPageTokens)], slot = position % cpu::kPageTokens;
        const int64_t dim = shape.head_dim, tokens = cpu::kPageTokens;
        const uint8_t *at = cache.data() + (page * shape.n_head_kv + head_kv) * cpu::kv_page_bytes(kv_type_, shape.head_dim);
        const int64_t element = key ? d * tokens + slot : slot * dim + d;
        const auto half = [](const uint8_t *p, int64_t i) {
            uint16_t h;
            std::memcpy(&h, p + 2 * i, sizeof h);
            return static_cast<double>(quant::half_to_float(h));
        };
        if (kv_type_ == cpu::KvType::kF16) return half(at, element);
        const int64_t scale = key ? d / 32 * tokens + slot : slot * (dim / 32) + d / 32;
        return half(at + dim * tokens, scale) * static_cast<int8_t>(at[element]);
    }

    // What the cache holds of a sequence's values is what was put in, to the precision of its type.
    void check_values(size_t sequence, int64_t position, const char *isa) const {
        for (int64_t h = 0; h < shape.n_head_kv; h++) {
            const float *v = v_[sequence].data() + (position * shape.n_head_kv + h) * shape.head_dim;
            for (int64_t d = 0; d < shape.head_dim; d++) {
                double bound = std::max(std::fabs(v[d]) * 0x1p-11, 0x1p-25); // half a unit in the last place of a half float
                if (kv_type_ == cpu::KvType::kQ8_0) {     // half a step, and the rounding of the step itself
                    double largest = 0;
                    for (int64_t i = d / 32 * 32; i < d / 32 * 32 + 32; i++) largest = std::max(largest, std::fabs(double{v[i]}));
                    bound = largest / 127 * 0.5 * 1.001 + largest * 0x1p-11;
                }
                CHECK_CASE(std::fabs(cached(v_cache_, sequence, position, h, d, false) - v[d]) <= bound, isa);
            }
        }
    }

    // The norm of a head, if there is one, and the rotation in double precision: pair (i, i + head_dim/2) by the angle
    // position / 10000^(2i/head_dim).
    void check_rotation(size_t sequence, int64_t position, const float *rotated, const char *isa) const {
        for (int32_t h = 0; h < shape.n_head; h++) {
            const float *head = q_[sequence].data() + (position * shape.n_head + h) * shape.head_dim;
            std::vector<double> q(head, head + shape.head_dim);
            if (norms_) {
                double squares = 0;
                for (double v : q) squares += v * v;
                for (size_t i = 0; i < q.size(); i++) q[i] *= q_gain_[i] / std::sqrt(squares / shape.head_dim + static_cast<double>(kEps));
            }
            for (int32_t i = 0; i < shape.head_dim / 2; i++) {
                const size_t a = static_cast<size_t>(i), b = a + q.size() / 2;
                const float *got = rotated + h * shape.head_dim;
                const double angle = static_cast<double>(position) * std::pow(10000.0, -2.0 * i / shape.head_dim);
                const double c = std::cos(angle), s = std::sin(angle);
                CHECK_CASE(std::fabs(q[a] * c - q[b] * s - got[a]) < 1e-6, isa);
                CHECK_CASE(std::fabs(q[a] * s + q[b] * c - got[b]) < 1e-6, isa);
            }
        }
    }

    const std::vector<float> &rotated() const { return rotated_; }
    const std::vector<uint8_t> &k_cache() const { return k_cache_; }
    const std::vector<uint8_t> &v_cache() const { return v_cache_; }
    int64_t width() const { return shape.n_head * shape.head_dim; }

    const cpu::AttentionShape shape;

private:
    const cpu::KvType kv_type_;
    std::vector<int64_t> lengths_;
    const bool norms_;
    std::vector<std::vector<int32_t>> pages_;
    std::vector<std::vector<float>> q_, k_, v_;
    std::vector<uint8_t> k_cache_, v_cache_;
    std::vector<float> cos_, sin_, rotated_, q_gain_, k_gain_;
    cpu::AttentionScratch scratch_;
};

// A whole sequence in one step, then its outputs against double precision at borders of vectors, pages and segments.
std::vector<float> whole(const Heads &h, int64_t length, const cpu::Ops &ops, cpu::Pool &pool) {
    Layer layer(h, {length}, 11);
    const std::vector<float> out = layer.step(ops, pool, {{0, 0, length}});
    for (int64_t p : {int64_t{0}, int64_t{1}, int64_t{15}, int64_t{16}, int64_t{31}, int64_t{32}, int64_t{33}, int64_t{255}, int64_t{256}, int64_t{257},
                      length - 1}) {
        if (p >= length) continue;
        const float *q = layer.rotated().data() + p * layer.width();
        layer.check_rotation(0, p, q, ops.isa);
        layer.check_values(0, p, ops.isa);
        const std::vector<double> expected = layer.exact(0, p, q);
        for (int64_t i = 0; i < layer.width(); i++) {
            const double got = out[static_cast<size_t>(p * layer.width() + i)];
            // Values are of size 1 and weights sum to 1: an error of a few units in the last place of 1.
            CHECK_CASE(std::fabs(got - expected[static_cast<size_t>(i)]) < 3e-6, std::string(ops.isa) + " position " + std::to_string(p));
        }
    }
    return out;
}

// The same sequence in chunks.
std::vector<float> chunked(const Heads &h, int64_t length, int64_t chunk, const cpu::Ops &ops, cpu::Pool &pool) {
    Layer layer(h, {length}, 11);
    std::vector<float> all;
    for (int64_t first = 0; first < length; first += chunk) {
        const std::vector<float> out = layer.step(ops, pool, {{0, first, std::min(chunk, length - first)}});
        all.insert(all.end(), out.begin(), out.end());
    }
    return all;
}

void same_bits_everywhere(const Heads &h, int64_t length, const std::vector<const cpu::Ops *> &tables, cpu::Pool &pool) {
    const std::vector<float> expected = whole(h, length, *tables[0], pool);
    for (const cpu::Ops *ops : tables) {
        const std::string what = std::string(ops->isa) + " heads " + std::to_string(h.n_head) + "/" + std::to_string(h.n_head_kv) + " dim " +
                                 std::to_string(h.head_dim) + " window " + std::to_string(h.window) + " length " + std::to_string(length) +
                                 (h.kv == cpu::KvType::kQ8_0 ? " Q8_0" : "");
        if (ops != tables[0]) {
            const std::vector<float> out = whole(h, length, *ops, pool);
            CHECK_CASE(test::same_bits(expected.data(), out.data(), expected.size()), what);
        }
        for (int64_t chunk : {1, 7, 64}) {
            if (ops == tables[0] && chunk != 7) continue;
            const std::vector<float> out = chunked(h, length, chunk, *ops, pool);
            CHECK_CASE(test::same_bits(expected.data(), out.data(), expected.size()), what + " chunk " + std::to_string(chunk));
        }
    }
}

// Sequences of different lengths in one batch, with prefill chunks and decode tokens side by side, both with and without room
// for all partial results: the same bits as alone, and the caches are the same byte by byte.
void mixed_batches(const Heads &h, const std::vector<const cpu::Ops *> &tables, cpu::Pool &pool) {
    const std::vector<int64_t> lengths = {300, 40, 270, 1, 258, 90};
    Layer alone(h, lengths, 5), reference(h, lengths, 5);
    for (const cpu::Ops *ops : tables) {
        Layer together(h, lengths, 5);
        std::vector<std::vector<float>> expected;
        std::vector<Layer::Extend> prefill, last;
        for (size_t s = 0; s < lengths.size(); s++) {
            const int64_t tail = s % 2 ? 1 : std::min<int64_t>(5, lengths[s]);
            prefill.push_back({s, 0, lengths[s] - tail});
            last.push_back({s, lengths[s] - tail, tail});
            alone.step(*ops, pool, {prefill.back()});
            expected.push_back(alone.step(*ops, pool, {last.back()}));
        }
        together.step(*ops, pool, prefill); // too many results of segments for the scratch
        const std::vector<float> out = together.step(*ops, pool, last);
        size_t at = 0;
        for (size_t s = 0; s < lengths.size(); at += expected[s].size(), s++)
            CHECK_CASE(test::same_bits(expected[s].data(), out.data() + at, expected[s].size()), std::string(ops->isa) + " sequence " + std::to_string(s));
        if (ops == tables[0]) {
            reference.step(*ops, pool, prefill);
            reference.step(*ops, pool, last);
        }
        CHECK_CASE(reference.k_cache() == together.k_cache() && reference.v_cache() == together.v_cache(), ops->isa);
    }
}

// The bookkeeping of work: every (row, segment) has a slot of its own, and blocks end where sequences do.
void walk_covers_all(int32_t window) {
    const std::vector<int32_t> a(100), b(100);
    std::vector<cpu::QueryToken> tokens;
    for (int32_t p = 250; p < 260; p++) tokens.push_back({p, a.data()});
    tokens.push_back({900, b.data()});
    tokens.push_back({902, b.data()}); // not consecutive
    const cpu::AttentionShape shape{12, 2, 64, cpu::kPageTokens, 0.125f, window};
    cpu::AttentionWalk walk(shape, tokens.data(), static_cast<int64_t>(tokens.size()));
    cpu::AttentionItem item;
    std::vector<int> seen(tokens.size() * 12);
    int64_t slot = 0, index = 0;
    while (walk.next(item)) {
        CHECK_EQUAL(slot, item.slot);
        CHECK_EQUAL(index++, item.index);
        slot += item.tokens * item.heads * item.segments;
        CHECK(item.tokens * item.heads <= cpu::kMaxRows);
        for (int64_t t = item.token; t < item.token + item.tokens; t++) {
            CHECK(tokens[static_cast<size_t>(t)].pages == tokens[static_cast<size_t>(item.token)].pages);
            const int64_t position = tokens[static_cast<size_t>(t)].position;
            CHECK(cpu::first_seen(shape, position) / cpu::kKvSegment >= item.first_segment);
            CHECK(position / cpu::kKvSegment < item.first_segment + item.segments);
            for (int32_t head = item.head; head < item.head + item.heads; head++) {
                CHECK_EQUAL(item.head_kv, head / 6);
                seen[static_cast<size_t>(t * 12 + head)]++;
            }
        }
    }
    for (int count : seen) CHECK_EQUAL(1, count);
}

} // namespace

int main() {
    const std::vector<const cpu::Ops *> tables = test::usable_tables();
    for (const cpu::Ops *ops : tables) std::printf("%s\n", ops->isa);
    cpu::Pool one(1), two(2), three(3);
    for (int32_t window : {0, 1, 40, 500}) walk_covers_all(window);
    for (int64_t length : {1, 31, 32, 33, 64}) same_bits_everywhere({12, 2, 128}, length, tables, three);
    same_bits_everywhere({14, 2, 64}, 258, tables, one);
    same_bits_everywhere({3, 3, 48}, 70, tables, three);   // every head its own keys; a dimension that leaves half vectors
    same_bits_everywhere({9, 3, 80}, 70, tables, three);
    same_bits_everywhere({40, 1, 16}, 258, tables, two);   // more heads per kv head than rows of an item
    same_bits_everywhere({2, 1, 256}, 260, tables, two);
    // Windows: of one position, within a page, of pages and a bit, of a whole segment, of more; rows of one item that see
    // different first segments.
    for (int32_t window : {1, 20, 47, 256, 300}) same_bits_everywhere({6, 2, 32, window, true}, 600, tables, three);
    same_bits_everywhere({4, 1, 256, 40, true}, 300, tables, two);
    same_bits_everywhere({2, 1, 48, 0, true}, 40, tables, two);
    // A cache in Q8_0: one block to eight per head, windows, batches.
    for (int64_t length : {1, 33, 64}) same_bits_everywhere({12, 2, 128, 0, false, cpu::KvType::kQ8_0}, length, tables, three);
    same_bits_everywhere({14, 2, 64, 0, false, cpu::KvType::kQ8_0}, 258, tables, two);
    same_bits_everywhere({2, 1, 256, 0, false, cpu::KvType::kQ8_0}, 40, tables, one);
    same_bits_everywhere({3, 3, 96, 0, true, cpu::KvType::kQ8_0}, 70, tables, three);
    same_bits_everywhere({6, 2, 32, 47, true, cpu::KvType::kQ8_0}, 400, tables, three);
    mixed_batches({14, 2, 32, 0, false, cpu::KvType::kQ8_0}, tables, two);
    mixed_batches({14, 2, 32}, tables, two);
    mixed_batches({14, 2, 32, 33, true}, tables, two);
    // Long context, one token: segments spread over the workers.
    const Heads h{2, 1, 16};
    std::vector<float> expected;
    for (const cpu::Ops *ops : tables) {
        const std::vector<float> out = whole(h, 1100, *ops, two);
        if (expected.empty()) expected = out;
        CHECK_CASE(test::same_bits(expected.data(), out.data(), out.size()), ops->isa);
        Layer layer(h, {1100}, 11);
        layer.step(*ops, three, {{0, 0, 1099}});
        const std::vector<float> last = layer.step(*ops, three, {{0, 1099, 1}});
        CHECK_CASE(test::same_bits(expected.data() + expected.size() - last.size(), last.data(), last.size()), ops->isa);
    }
    return test::report();
}
