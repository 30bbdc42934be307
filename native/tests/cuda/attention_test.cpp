// Positions, the cache and attention on the device against the CPU's reference, bit for bit: borders of pages and segments, long contexts,
// ragged batches, windows, groups of heads, both kinds of cache.
#include <algorithm>

#include "cuda/fixtures.h"

namespace tr::test {

namespace {

struct Case {
    int32_t n_head, n_head_kv, head_dim, window;
    std::vector<std::pair<int32_t, int32_t>> extends; // first position, tokens
    bool norms;
};

class Run {
public:
    Run(const Case &c, cpu::KvType type) : c_(c), type_(type), random_(static_cast<uint64_t>(c.head_dim * 31 + c.n_head)) {
        shape_ = {c.n_head, c.n_head_kv, c.head_dim, cpu::kPageTokens, 0.11f, c.window};
        for (const auto &[position, n] : c.extends) {
            longest_ = std::max(longest_, position + n);
            std::vector<int32_t> pages;
            for (int32_t at = 0; at < position + n; at += cpu::kPageTokens) pages.push_back(n_pages_++);
            tables_.push_back(pages);
        }
        // Pages in an order of their own.
        for (auto &table : tables_)
            for (int32_t &page : table) page = n_pages_ - 1 - page;
        for (size_t i = 0; i < c.extends.size(); i++)
            for (int32_t j = 0; j < c.extends[i].second; j++) tokens_.push_back({c.extends[i].first + j, tables_[i].data()});
        half_ = c.head_dim / 2;
        cos_ = normals(random_, static_cast<size_t>(longest_ * half_));
        sin_ = normals(random_, cos_.size());
        gain_ = normals(random_, static_cast<size_t>(c.head_dim));
        q_ = normals(random_, tokens_.size() * static_cast<size_t>(c.n_head * c.head_dim));
        k_ = normals(random_, tokens_.size() * static_cast<size_t>(c.n_head_kv * c.head_dim));
        v_ = normals(random_, k_.size());
        bytes_ = static_cast<size_t>(n_pages_ * c.n_head_kv * cpu::kv_page_bytes(type, c.head_dim));
        // What was cached before: finite numbers. Where nothing is, what any use of would show.
        keys_.assign(bytes_, 0xff);
        values_.assign(bytes_, 0xff);
        fill_cache();
    }

    void compare(bool split) {
        const std::vector<float> expected = on_cpu();
        const std::vector<float> got = on_gpu(split);
        const std::string what = "heads " + std::to_string(c_.n_head) + "/" + std::to_string(c_.n_head_kv) + " of " + std::to_string(c_.head_dim) + ", position " +
                                 std::to_string(c_.extends[0].first) + (split ? ", split" : "") + (type_ == cpu::KvType::kQ8_0 ? ", Q8_0" : "");
        CHECK_CASE(same_bits(expected.data(), got.data(), expected.size()), what);
        CHECK_CASE(same_bits(cpu_keys_.data(), gpu_keys_.data(), bytes_), what + ": keys");
        CHECK_CASE(same_bits(cpu_values_.data(), gpu_values_.data(), bytes_), what + ": values");
    }

private:
    // Stores a random key and value at every position before the extends.
    void fill_cache() {
        const cpu::KvLayer kv{keys_.data(), values_.data(), type_};
        std::vector<cpu::QueryToken> earlier;
        for (size_t i = 0; i < tables_.size(); i++)
            for (int32_t at = 0; at < c_.extends[i].first; at++) earlier.push_back({at, tables_[i].data()});
        std::vector<float> q(earlier.size() * static_cast<size_t>(c_.n_head * c_.head_dim), 0.0f);
        std::vector<float> k = normals(random_, earlier.size() * static_cast<size_t>(c_.n_head_kv * c_.head_dim)), v = normals(random_, k.size());
        cpu::Worker alone = cpu::Worker::alone();
        reference().rope_store(alone, shape_, earlier.data(), static_cast<int64_t>(earlier.size()), q.data(), k.data(), v.data(), {cos_.data(), sin_.data()}, kv);
    }

    std::vector<float> on_cpu() {
        cpu_keys_ = keys_;
        cpu_values_ = values_;
        const cpu::KvLayer kv{cpu_keys_.data(), cpu_values_.data(), type_};
        std::vector<float> q(q_), k(k_), out(q_.size());
        const float *gain = c_.norms ? gain_.data() : nullptr;
        cpu::AttentionScratch scratch;
        scratch.reserve(c_.head_dim);
        cpu::Worker alone = cpu::Worker::alone();
        const auto n = static_cast<int64_t>(tokens_.size());
        reference().rope_store(alone, shape_, tokens_.data(), n, q.data(), k.data(), v_.data(), {cos_.data(), sin_.data(), gain, gain, 1e-6f}, kv);
        reference().attention(alone, shape_, tokens_.data(), n, q.data(), kv, scratch, out.data());
        return out;
    }

    std::vector<float> on_gpu(bool split) {
        const cuda::Stream stream;
        const OnDevice<uint8_t> keys(keys_), values(values_);
        const OnDevice<float> q(q_), k(k_), v(v_), cos(cos_), sin(sin_), gain(gain_), out(q_.size());
        std::vector<int32_t> all_pages;
        for (const auto &table : tables_) all_pages.insert(all_pages.end(), table.begin(), table.end());
        const OnDevice<int32_t> pages(all_pages);
        std::vector<cpu::QueryToken> placed(tokens_);
        size_t at = 0, begin = 0;
        for (size_t i = 0; i < tables_.size(); begin += tables_[i++].size())
            for (int32_t j = 0; j < c_.extends[i].second; j++) placed[at++].pages = pages.get() + begin;
        const OnDevice<cpu::QueryToken> tokens(placed);
        const cuda::Tokens view{tokens.get(), static_cast<int64_t>(placed.size())};
        const cpu::KvLayer kv{keys.get(), values.get(), type_};
        const float *norm = c_.norms ? gain.get() : nullptr;
        cuda::rope_store(shape_, view, q.get(), k.get(), v.get(), {cos.get(), sin.get(), norm, norm, 1e-6f}, kv, stream);
        const int64_t segments = (longest_ - 1) / cpu::kKvSegment + 1;
        const OnDevice<float> partials(split ? placed.size() * static_cast<size_t>(c_.n_head * segments * (c_.head_dim + 2)) : 1);
        cuda::attend({shape_, kv, view, q.get(), out.get(), segments, split ? partials.get() : nullptr}, stream);
        gpu_keys_ = keys.values(stream);
        gpu_values_ = values.values(stream);
        return out.values(stream);
    }

    Case c_;
    cpu::KvType type_;
    Random random_;
    cpu::AttentionShape shape_;
    std::vector<std::vector<int32_t>> tables_;
    std::vector<cpu::QueryToken> tokens_;
    int32_t n_pages_ = 0, longest_ = 0, half_ = 0;
    std::vector<float> cos_, sin_, gain_, q_, k_, v_;
    std::vector<uint8_t> keys_, values_, cpu_keys_, cpu_values_, gpu_keys_, gpu_values_;
    size_t bytes_ = 0;
};

const std::vector<Case> kCases = {
    {4, 2, 64, 0, {{0, 1}}, false},
    {4, 2, 64, 0, {{31, 1}, {0, 5}, {32, 1}, {63, 2}}, true},
    {7, 1, 64, 0, {{255, 1}, {256, 1}, {257, 1}}, false},   // around a segment's border
    {2, 2, 16, 0, {{30, 4}, {510, 4}}, true},               // extends across borders
    {12, 1, 32, 0, {{300, 2}}, false},                      // more heads to a group than a block takes
    {2, 1, 128, 0, {{1100, 1}}, true},
    {2, 1, 256, 0, {{260, 2}}, false},
    {4, 2, 48, 40, {{0, 3}, {39, 2}, {300, 3}, {600, 1}}, true}, // a window that begins within pages and segments
};

} // namespace

} // namespace tr::test

int main() {
    using namespace tr::test;
    for (const Case &c : kCases) {
        for (const bool split : {false, true}) {
            Run(c, tr::cpu::KvType::kF16).compare(split);
            if (c.head_dim % 32 == 0) Run(c, tr::cpu::KvType::kQ8_0).compare(split);
        }
    }
    in_every_mode([] {
        for (const bool split : {false, true}) Run(kCases[1], tr::cpu::KvType::kF16).compare(split);
    });
    return report();
}
