// Micro-benchmark of the CPU operators on the matrices of Qwen2.5 0.5B and 1.5B (Q4_K_M files), beside the machine's limits
// measured in the same run: memory reads in GB/s, and int8 dot products in TOPS (two operations per multiply-add).
//
//   ops_bench [--isa NAME] [--threads 1,2] [--batches 1,4,8,16,64] [--only limits,matmul,attention,small,model] [--types Q4_K,Q8_0] [--repeats 5] [--take median|best] [--kv f16|q8_0]
//
// With one thread, times are the thread's CPU time, which other programs on the machine disturb least; with more, wall
// time. Figures are medians; the best is for comparing kernels on a busy machine. Weights are random and rotate through copies of at least 400 MB, so that they come from memory as
// in a whole model.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "cpu/memory.h"
#include "cpu/ops.h"
#include "limits.h"

using namespace tr;

namespace {

struct Options {
    std::string isa = cpu::best_ops()->isa, only = "limits,matmul,attention,small,model", types;
    std::vector<int> threads = {1, 2}, batches = {1, 4, 8, 16, 64};
    int repeats = 5;
    bool best = false;
    cpu::KvType kv = cpu::KvType::kF16;
};

std::vector<int> numbers(const char *text) {
    std::vector<int> out;
    for (char *end; *text; text = *end ? end + 1 : end) {
        out.push_back(static_cast<int>(std::strtol(text, &end, 10)));
        if (end == text) break;
    }
    return out;
}

double now(bool cpu_time) {
    timespec t;
    clock_gettime(cpu_time ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// Seconds of one call.
double measure(const Options &o, int calls, bool cpu_time, const std::function<void()> &call) {
    call();
    std::vector<double> times;
    for (int r = 0; r < o.repeats; r++) {
        const double start = now(cpu_time);
        for (int i = 0; i < calls; i++) call();
        times.push_back((now(cpu_time) - start) / calls);
    }
    std::sort(times.begin(), times.end());
    return o.best ? times[0] : times[times.size() / 2];
}

uint64_t random_state = 88172645463325252u;
uint64_t random_bits() {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}
float random_float() { return static_cast<float>(static_cast<int64_t>(random_bits())) * 0x1p-63f; }

struct Shape {
    quant::Type type;
    int64_t rows, cols;
};

const quant::TypeInfo &info_of(quant::Type type) { return *quant::type_info(static_cast<uint32_t>(type)); }

// A packed matrix of random weights, as often as it takes to leave the caches.
class Weights {
public:
    Weights(const cpu::Ops &ops, cpu::Pool &pool, const Shape &s, size_t at_least) {
        const quant::TypeInfo &info = info_of(s.type);
        std::vector<uint8_t> file(static_cast<size_t>(s.rows * s.cols / info.block) * info.bytes);
        for (size_t i = 0; i + 8 <= file.size(); i += 8) {
            uint64_t r = random_bits() & 0x3fff3fff3fff3fff; // halves below 2
            // No subnormals: floats of 0.5 to 1, exponents of 2^-96 and above.
            if (s.type == quant::Type::F32) r = (r & 0x007fffff007fffff) | 0x3f0000003f000000;
            if (s.type == quant::Type::BF16) r = (r & 0x007f007f007f007f) | 0x3f003f003f003f00;
            if (s.type == quant::Type::MXFP4) r |= 0x2020202020202020;
            std::memcpy(file.data() + i, &r, 8);
        }
        const size_t copies = std::max<size_t>(1, at_least / file.size());
        for (size_t i = 0; i < copies; i++) {
            cpu::Matrix m;
            m.type = s.type;
            m.rows = s.rows;
            m.cols = s.cols;
            m.allocate(ops.packed_bytes(m));
            if (i == 0) pool.run([&](cpu::Worker &w) { ops.pack(w, m, file.data()); });
            else std::memcpy(m.data.get(), copies_[0].data.get(), m.bytes);
            copies_.push_back(std::move(m));
        }
    }
    const cpu::Matrix &next() { return copies_[at_++ % copies_.size()]; }
    const cpu::Matrix &first() const { return copies_[0]; }
    size_t copies() const { return copies_.size(); }

private:
    std::vector<cpu::Matrix> copies_;
    size_t at_ = 0;
};

struct Columns {
    Columns(const cpu::Ops &ops, cpu::Pool &pool, int64_t n, int64_t k, uint32_t forms) : x(static_cast<size_t>(n * k)) {
        for (float &v : x) v = random_float();
        acts.reserve(n, k, forms);
        pool.run([&](cpu::Worker &w) { ops.prepare(w, x.data(), n, k, forms, acts); });
    }
    std::vector<float> x;
    cpu::Activations acts;
};

void bench_matmul(const Options &o, const cpu::Ops &ops, cpu::Pool &pool) {
    using quant::Type;
    const Shape shapes[] = {{Type::Q4_K, 1536, 8960}, {Type::Q4_K, 8960, 1536}, {Type::Q4_K, 256, 1536},  {Type::Q6_K, 1536, 8960},
                            {Type::Q6_K, 896, 4864},  {Type::Q5_0, 896, 896},   {Type::Q5_0, 4864, 896},  {Type::Q5_0, 128, 896},
                            {Type::Q8_0, 4864, 896},  {Type::Q8_0, 151936, 896}, {Type::F16, 1536, 1536}, {Type::F32, 1536, 1536},
                            {Type::Q8_0, 1536, 8960}, {Type::Q4_0, 1536, 8960}, {Type::Q4_1, 1536, 8960}, {Type::Q5_0, 1536, 8960},
                            {Type::Q5_1, 1536, 8960}, {Type::IQ4_NL, 1536, 8960}, {Type::MXFP4, 1536, 8960}, {Type::Q2_K, 1536, 8960},
                            {Type::Q3_K, 1536, 8960}, {Type::Q5_K, 1536, 8960}, {Type::IQ4_XS, 1536, 8960}, {Type::BF16, 1536, 1536}};
    for (const Shape &s : shapes) {
        if (!o.types.empty() && ("," + o.types + ",").find("," + std::string(info_of(s.type).name) + ",") == std::string::npos) continue;
        Weights weights(ops, pool, s, size_t{400} << 20);
        for (int b : o.batches) {
            Columns columns(ops, pool, b, s.cols, weights.first().form());
            std::vector<float> out(static_cast<size_t>(b * s.rows));
            const double operations = 2.0 * static_cast<double>(s.rows * s.cols * b);
            const int calls = static_cast<int>(std::clamp(2e10 / operations, 1.0, static_cast<double>(std::max<size_t>(weights.copies(), 8))));
            const double t = measure(o, calls, pool.size() == 1, [&] {
                const cpu::Matrix &m = weights.next();
                pool.run([&](cpu::Worker &w) { ops.matmul(w, m, columns.acts, b, nullptr, out.data(), s.rows); });
            });
            std::printf("matmul  %-6s %6lldx%-5lld batch %3d  threads %d  %9.1f us  %6.2f GB/s  %.4f TOPS\n", info_of(s.type).name,
                        static_cast<long long>(s.rows), static_cast<long long>(s.cols), b, pool.size(), t * 1e6,
                        static_cast<double>(weights.first().bytes) / t / 1e9, operations / t / 1e12);
            std::fflush(stdout);
        }
    }
}

void bench_attention(const Options &o, const cpu::Ops &ops, cpu::Pool &pool) {
    const struct {
        const char *name;
        int32_t n_head, n_head_kv, head_dim;
    } models[] = {{"0.5B", 14, 2, 64}, {"1.5B", 12, 2, 128}};
    const struct {
        int sequences, tokens, context;
    } cases[] = {{1, 1, 256}, {1, 1, 1024}, {1, 1, 4096}, {8, 1, 1024}, {8, 1, 4096}, {1, 8, 1024}, {1, 64, 64}, {1, 512, 512}};
    for (const auto &m : models) {
        const cpu::AttentionShape shape{m.n_head, m.n_head_kv, m.head_dim, cpu::kPageTokens, 0.1f};
        cpu::AttentionScratch scratch;
        scratch.reserve(m.head_dim);
        for (const auto &c : cases) {
            const int pages = (c.context + cpu::kPageTokens - 1) / cpu::kPageTokens, n = c.sequences * c.tokens;
            const size_t layer = static_cast<size_t>(c.sequences) * static_cast<size_t>(pages) * cpu::kPageTokens * static_cast<size_t>(m.n_head_kv * m.head_dim);
            const size_t layers = std::max<size_t>(1, (size_t{200} << 20) / (4 * layer));
            std::vector<uint16_t> k(layer * layers, 0x3000), v(layer * layers, 0x3000); // codes of 0x30 and scales too, read as Q8_0
            std::vector<std::vector<int32_t>> tables;
            std::vector<cpu::QueryToken> tokens;
            for (int s = 0; s < c.sequences; s++) {
                tables.emplace_back();
                for (int p = 0; p < pages; p++) tables.back().push_back(s * pages + p);
                for (int t = 0; t < c.tokens; t++) tokens.push_back({c.context - c.tokens + t, tables.back().data()});
            }
            std::vector<float> q(static_cast<size_t>(n * m.n_head * m.head_dim), 0.1f), out(q.size());
            double pairs = 0; // query-key pairs
            for (const cpu::QueryToken &t : tokens) pairs += t.position + 1;
            size_t at = 0;
            const double flops = 4 * pairs * m.n_head * m.head_dim;
            const int calls = static_cast<int>(std::clamp(2e9 / flops, 1.0, 200.0));
            const double time = measure(o, calls, pool.size() == 1, [&] {
                const cpu::KvLayer kv{reinterpret_cast<uint8_t *>(k.data() + at * layer), reinterpret_cast<uint8_t *>(v.data() + at * layer), o.kv};
                at = (at + 1) % layers;
                pool.run([&](cpu::Worker &w) { ops.attention(w, shape, tokens.data(), n, q.data(), kv, scratch, out.data()); });
            });
            std::printf("attention %s  %d x %3d tokens at %4d  threads %d  %9.1f us  %6.2f GB/s of cache  %6.1f GFLOPS\n", m.name, c.sequences, c.tokens,
                        c.context, pool.size(), time * 1e6, (o.kv == cpu::KvType::kF16 ? 4.0 : 2.125) * static_cast<double>(layer) / time / 1e9, flops / time / 1e9);
            std::fflush(stdout);
        }
    }
}

void bench_small(const Options &o, const cpu::Ops &ops, cpu::Pool &pool) {
    for (int64_t n : {int64_t{1}, int64_t{16}})
        for (int64_t k : {int64_t{896}, int64_t{1536}, int64_t{8960}}) {
            std::vector<float> gain(static_cast<size_t>(k), 1.0f);
            for (uint32_t form : {static_cast<uint32_t>(cpu::kActQ32), static_cast<uint32_t>(cpu::kActQ256)}) {
                if (form == cpu::kActQ256 && k % 256) continue;
                Columns c(ops, pool, n, k, form);
                const char *name = form == cpu::kActQ32 ? "Q32" : "Q256";
                const double norm = measure(o, 1000, pool.size() == 1, [&] {
                    pool.run([&](cpu::Worker &w) { ops.rms_norm(w, c.x.data(), n, k, gain.data(), 1e-6f, nullptr, form, c.acts); });
                });
                const double prepare = measure(o, 1000, pool.size() == 1, [&] {
                    pool.run([&](cpu::Worker &w) { ops.prepare(w, c.x.data(), n, k, form, c.acts); });
                });
                std::printf("small   %2lld x %4lld  %-4s threads %d  rms_norm %7.2f us  prepare %7.2f us\n", static_cast<long long>(n),
                            static_cast<long long>(k), name, pool.size(), norm * 1e6, prepare * 1e6);
            }
        }
    std::vector<float> logits(151936);
    for (float &v : logits) v = 10 * random_float();
    float max;
    double sum, dot;
    const double t = measure(o, 20, true, [&] { ops.softmax_stats(logits.data(), static_cast<int64_t>(logits.size()), nullptr, &max, &sum, &dot); });
    std::printf("small   softmax_stats of 151936: %.1f us\n", t * 1e6);
    const double join = measure(o, 100, false, [&] {
        pool.run([](cpu::Worker &w) {
            for (int i = 0; i < 100; i++) w.join();
        });
    });
    std::printf("small   join threads %d: %.3f us\n", pool.size(), join * 1e4);
}

// All products of one step, in the order of a forward pass, without what lies between.
void bench_model(const Options &o, const cpu::Ops &ops, cpu::Pool &pool, bool large) {
    using quant::Type;
    struct Layer {
        Weights q, k, v, o, gate, up, down;
    };
    const auto make = [&](Type type, int64_t rows, int64_t cols) { return Weights(ops, pool, {type, rows, cols}, 1); };
    std::vector<Layer> layers;
    const int64_t n_embd = large ? 1536 : 896, n_kv = large ? 256 : 128, n_ff = large ? 8960 : 4864;
    for (int l = 0; l < (large ? 28 : 24); l++) {
        const Type base = large ? Type::Q4_K : Type::Q5_0, better = large ? Type::Q6_K : Type::Q8_0;
        const bool more = l % 2; // half of the layers keep more bits of v and down
        layers.push_back({make(base, n_embd, n_embd), make(base, n_kv, n_embd), make(more ? better : base, n_kv, n_embd), make(base, n_embd, n_embd),
                          make(base, n_ff, n_embd), make(base, n_ff, n_embd), make(more ? Type::Q6_K : Type::Q4_K, n_embd, n_ff)});
    }
    Weights output = make(large ? Type::Q6_K : Type::Q8_0, 151936, n_embd);
    double bytes = static_cast<double>(output.first().bytes);
    for (Layer &l : layers)
        for (Weights *w : {&l.q, &l.k, &l.v, &l.o, &l.gate, &l.up, &l.down}) bytes += static_cast<double>(w->first().bytes);
    for (int b : o.batches) {
        Columns narrow(ops, pool, b, n_embd, large ? cpu::kActQ256 : cpu::kActQ32), wide(ops, pool, b, n_ff, cpu::kActQ256);
        std::vector<float> out(static_cast<size_t>(b) * 151936), hidden(static_cast<size_t>(b * n_ff));
        const double t = measure(o, 1, pool.size() == 1, [&] {
            pool.run([&](cpu::Worker &w) {
                for (Layer &l : layers) {
                    ops.matmul(w, l.q.first(), narrow.acts, b, nullptr, hidden.data(), n_embd);
                    ops.matmul(w, l.k.first(), narrow.acts, b, nullptr, hidden.data(), n_embd);
                    ops.matmul(w, l.v.first(), narrow.acts, b, nullptr, hidden.data(), n_embd);
                    w.join();
                    ops.matmul_add(w, l.o.first(), narrow.acts, b, hidden.data(), n_embd);
                    w.join();
                    ops.matmul_gated(w, l.gate.first(), l.up.first(), cpu::Gate::kSilu, narrow.acts, b, hidden.data(), n_ff);
                    w.join();
                    ops.matmul_add(w, l.down.first(), wide.acts, b, hidden.data(), n_embd);
                    w.join();
                }
                ops.matmul(w, output.first(), narrow.acts, b, nullptr, out.data(), 151936);
            });
        });
        std::printf("model   %s  batch %3d  threads %d  %8.2f ms/step  %7.2f tokens/s  %6.2f GB/s\n", large ? "1.5B" : "0.5B", b, pool.size(), t * 1e3, b / t,
                    bytes / t / 1e9);
        std::fflush(stdout);
    }
}

int usage(const char *what) {
    std::fprintf(stderr, "ops_bench: %s\nusage: ops_bench [--isa NAME] [--threads 1,2] [--batches 1,4,...] [--only SECTIONS] [--types TYPES] [--repeats N]\n", what);
    return 2;
}

} // namespace

int main(int argc, char **argv) {
    Options o;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string flag = argv[i];
        if (flag == "--isa") o.isa = argv[i + 1];
        else if (flag == "--threads") o.threads = numbers(argv[i + 1]);
        else if (flag == "--batches") o.batches = numbers(argv[i + 1]);
        else if (flag == "--only") o.only = argv[i + 1];
        else if (flag == "--types") o.types = argv[i + 1];
        else if (flag == "--repeats") o.repeats = std::max(1, std::atoi(argv[i + 1]));
        else if (flag == "--kv") o.kv = std::strcmp(argv[i + 1], "q8_0") == 0 ? cpu::KvType::kQ8_0 : cpu::KvType::kF16;
        else if (flag == "--take") o.best = std::strcmp(argv[i + 1], "best") == 0;
        else return usage(("unknown option " + flag).c_str());
    }
    if (argc % 2 == 0) return usage("an option lacks its value");
    if (!cpu::isa_usable(o.isa.c_str())) return usage(("this processor does not run " + o.isa).c_str());
    const cpu::Ops &ops = *cpu::ops_by_name(o.isa.c_str());
    const auto wanted = [&](const char *section) { return o.only.find(section) != std::string::npos; };
    std::printf("isa %s\n", ops.isa);
    for (int threads : o.threads) {
        cpu::Pool pool(threads);
        if (wanted("limits")) bench::print_limits(pool);
        if (wanted("matmul")) bench_matmul(o, ops, pool);
        if (wanted("attention")) bench_attention(o, ops, pool);
        if (wanted("small")) bench_small(o, ops, pool);
        if (wanted("model")) {
            bench_model(o, ops, pool, false);
            bench_model(o, ops, pool, true);
        }
    }
    return 0;
}
