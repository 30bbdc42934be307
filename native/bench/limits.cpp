#include "limits.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <immintrin.h>

#include "cpu/memory.h"

namespace tr::bench {

namespace {

constexpr size_t kPiece = size_t{1} << 20, kPieces = 512; // half a gigabyte
constexpr int64_t kRounds = 64, kSteps = 1 << 16;

#define TR_TARGET(isa) __attribute__((target(isa), noinline))

TR_TARGET("avx2") uint64_t read_piece(const uint8_t *p) {
    __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
    for (size_t i = 0; i < kPiece; i += 128) {
        _mm_prefetch(reinterpret_cast<const char *>(p + i + 4096), _MM_HINT_T0);
        _mm_prefetch(reinterpret_cast<const char *>(p + i + 4096 + 64), _MM_HINT_T0);
        a = _mm256_xor_si256(a, _mm256_load_si256(reinterpret_cast<const __m256i *>(p + i)));
        b = _mm256_xor_si256(b, _mm256_load_si256(reinterpret_cast<const __m256i *>(p + i + 32)));
        c = _mm256_xor_si256(c, _mm256_load_si256(reinterpret_cast<const __m256i *>(p + i + 64)));
        d = _mm256_xor_si256(d, _mm256_load_si256(reinterpret_cast<const __m256i *>(p + i + 96)));
    }
    const __m256i all = _mm256_xor_si256(_mm256_xor_si256(a, b), _mm256_xor_si256(c, d));
    return static_cast<uint64_t>(_mm256_extract_epi64(all, 0));
}

// kSteps times 12 independent chains of dot products; returns multiply-adds. Accumulators are single variables, since
// the compiler keeps an array of them in memory.
#define TR_TWELVE(F) F(a0) F(a1) F(a2) F(a3) F(a4) F(a5) F(a6) F(a7) F(a8) F(a9) F(a10) F(a11)

#define TR_DECLARE(a) __m512i a = x;
#define TR_STEP(a) asm volatile("vpdpbusd %1, %1, %0" : "+v"(a) : "v"(x));
#define TR_SUM(a) *sink += _mm512_cvtsi512_si32(a);
TR_TARGET("avx512f,avx512vnni") double dots_512(int *sink) {
    const __m512i x = _mm512_set1_epi32(*sink);
    TR_TWELVE(TR_DECLARE)
    for (int64_t i = 0; i < kSteps; i++) { TR_TWELVE(TR_STEP) }
    TR_TWELVE(TR_SUM)
    return static_cast<double>(kSteps) * 12 * 64;
}
#undef TR_DECLARE
#undef TR_STEP
#undef TR_SUM

#define TR_DECLARE(a) __m256i a = x;
#define TR_STEP(a) asm volatile("%{vex%} vpdpbusd %1, %1, %0" : "+x"(a) : "x"(x));
#define TR_SUM(a) *sink += _mm256_cvtsi256_si32(a);
TR_TARGET("avx2,avxvnni") double dots_vnni(int *sink) {
    const __m256i x = _mm256_set1_epi32(*sink);
    TR_TWELVE(TR_DECLARE)
    for (int64_t i = 0; i < kSteps; i++) { TR_TWELVE(TR_STEP) }
    TR_TWELVE(TR_SUM)
    return static_cast<double>(kSteps) * 12 * 32;
}
#undef TR_STEP

#define TR_STEP(a) asm volatile("vpmaddubsw %2, %2, %1\n\tvpaddw %1, %0, %0" : "+x"(a), "=&x"(p) : "x"(x));
TR_TARGET("avx2") double dots_avx2(int *sink) {
    const __m256i x = _mm256_set1_epi32(*sink);
    __m256i p;
    TR_TWELVE(TR_DECLARE)
    for (int64_t i = 0; i < kSteps; i++) { TR_TWELVE(TR_STEP) }
    TR_TWELVE(TR_SUM)
    return static_cast<double>(kSteps) * 12 * 32;
}

using Dots = double (*)(int *);

// Of the calling thread with one worker, which other programs disturb least; else of the wall clock.
double now(const cpu::Pool &pool) {
    timespec t;
    clock_gettime(pool.size() == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// Best of five: a limit is what the undisturbed machine does.
double reads(cpu::Pool &pool, const uint8_t *memory) {
    double best = 0;
    for (int i = 0; i < 5; i++) {
        std::atomic<uint64_t> sink{0};
        const double start = now(pool);
        pool.run([&](cpu::Worker &w) {
            for (int64_t p, n = kPieces; (p = w.next(n)) < n;) sink ^= read_piece(memory + static_cast<size_t>(p) * kPiece);
        });
        best = std::max(best, static_cast<double>(kPiece * kPieces) / (now(pool) - start) / 1e9);
    }
    return best;
}

double operations(cpu::Pool &pool, Dots dots) {
    double best = 0;
    for (int i = 0; i < 5; i++) {
        double each = 0;
        const double start = now(pool);
        pool.run([&](cpu::Worker &w) {
            int sink = w.index();
            for (int64_t r; (r = w.next(kRounds)) < kRounds;) {
                const double n = dots(&sink);
                if (w.index() == 0) each = n;
            }
        });
        best = std::max(best, 2 * each * kRounds / (now(pool) - start) / 1e12);
    }
    return best;
}

} // namespace

void print_limits(cpu::Pool &pool) {
    const cpu::Buffer memory = cpu::allocate_buffer(kPiece * kPieces + 8192);
    std::memset(memory.get(), 1, kPiece * kPieces + 8192);
    std::printf("limit   threads %d  memory reads %.2f GB/s", pool.size(), reads(pool, memory.get()));
    if (__builtin_cpu_supports("avx512vnni")) std::printf("  512-bit VNNI %.3f TOPS", operations(pool, dots_512));
    if (__builtin_cpu_supports("avxvnni")) std::printf("  256-bit VNNI %.3f TOPS", operations(pool, dots_vnni));
    std::printf("  AVX2 %.3f TOPS\n", operations(pool, dots_avx2));
    std::fflush(stdout);
}

} // namespace tr::bench
