// 256-bit vectors: AVX2, FMA and F16C, with or without AVX-VNNI. See simd.h for what the functions mean.
#pragma once
#include <immintrin.h>

namespace tr::cpu::TR_ISA {
namespace {

using VecI = __m256i;
using VecF = __m256;
using VecD = __m256d;
constexpr int kLanes = 8;
constexpr int kMaxColumns = 4; // 16 registers

TR_INLINE VecI load_i(const void *p) { return _mm256_loadu_si256(static_cast<const __m256i *>(p)); }
TR_INLINE void store_i(void *p, VecI v) { _mm256_storeu_si256(static_cast<__m256i *>(p), v); }
TR_INLINE VecI zero_i() { return _mm256_setzero_si256(); }
TR_INLINE VecI set8(int x) { return _mm256_set1_epi8(static_cast<char>(x)); }
TR_INLINE VecI set16(int x) { return _mm256_set1_epi16(static_cast<short>(x)); }
TR_INLINE VecI set32(int32_t x) { return _mm256_set1_epi32(x); }
TR_INLINE VecI broadcast_word(const void *p) {
    int32_t x;
    __builtin_memcpy(&x, p, sizeof x);
    return _mm256_set1_epi32(x);
}
TR_INLINE VecI and_i(VecI a, VecI b) { return _mm256_and_si256(a, b); }
TR_INLINE VecI or_i(VecI a, VecI b) { return _mm256_or_si256(a, b); }
TR_INLINE VecI xor_i(VecI a, VecI b) { return _mm256_xor_si256(a, b); }
TR_INLINE VecI mask_or(VecI a, VecI mask, VecI b) { return or_i(and_i(a, mask), b); }
TR_INLINE VecI add32(VecI a, VecI b) { return _mm256_add_epi32(a, b); }
TR_INLINE VecI max32(VecI a, VecI b) { return _mm256_max_epi32(a, b); }
template <int n> TR_INLINE VecI shift_right16(VecI a) { return _mm256_srli_epi16(a, n); }
template <int n> TR_INLINE VecI shift_right32(VecI a) { return _mm256_srli_epi32(a, n); }
template <int n> TR_INLINE VecI shift_left32(VecI a) { return _mm256_slli_epi32(a, n); }
template <int n> TR_INLINE VecI rotate_left32(VecI a) { return or_i(_mm256_slli_epi32(a, n), _mm256_srli_epi32(a, 32 - n)); }
TR_INLINE VecI repeat16(const void *p) { return _mm256_broadcastsi128_si256(_mm_loadu_si128(static_cast<const __m128i *>(p))); }
TR_INLINE VecI shuffle16(VecI table, VecI index) { return _mm256_shuffle_epi8(table, index); }
TR_INLINE VecI widen_u8(const uint8_t *p) { return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(p))); }
TR_INLINE VecI widen_u16(const uint16_t *p) { return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p))); }
TR_INLINE VecI widen_s8(const int8_t *p) { return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(p))); }

#if TR_VNNI
constexpr bool kVnni = true;
TR_INLINE VecI dot_u8s8(VecI acc, VecI w, VecI x) { return _mm256_dpbusd_avx_epi32(acc, w, x); }
TR_INLINE VecI dot_s16(VecI acc, VecI a, VecI b) { return _mm256_dpwssd_avx_epi32(acc, a, b); }
#else
constexpr bool kVnni = false;
TR_INLINE VecI dot_s16(VecI acc, VecI a, VecI b) { return add32(acc, _mm256_madd_epi16(a, b)); }
TR_INLINE VecI products_u8s8(VecI w, VecI x) { return _mm256_maddubs_epi16(w, x); }
TR_INLINE VecI add16(VecI a, VecI b) {
    VecI sum = _mm256_add_epi16(a, b);
    asm("" : "+x"(sum)); // else the compiler collects the terms to add them up as a tree, and spills them meanwhile
    return sum;
}
#endif

TR_INLINE VecF load(const float *p) { return _mm256_loadu_ps(p); }
TR_INLINE void store(float *p, VecF v) { _mm256_storeu_ps(p, v); }
TR_INLINE VecF zero() { return _mm256_setzero_ps(); }
TR_INLINE VecF set(float x) { return _mm256_set1_ps(x); }
TR_INLINE VecF broadcast(const float *p) { return _mm256_broadcast_ss(p); }
TR_INLINE VecF add(VecF a, VecF b) { return _mm256_add_ps(a, b); }
TR_INLINE VecF sub(VecF a, VecF b) { return _mm256_sub_ps(a, b); }
TR_INLINE VecF mul(VecF a, VecF b) { return _mm256_mul_ps(a, b); }
TR_INLINE VecF div(VecF a, VecF b) { return _mm256_div_ps(a, b); }
TR_INLINE VecF fma(VecF a, VecF b, VecF c) { return _mm256_fmadd_ps(a, b, c); }
TR_INLINE VecF fnma(VecF a, VecF b, VecF c) { return _mm256_fnmadd_ps(a, b, c); }
TR_INLINE VecF min(VecF a, VecF b) { return _mm256_min_ps(a, b); }
TR_INLINE VecF max(VecF a, VecF b) { return _mm256_max_ps(a, b); }
TR_INLINE VecF round_even(VecF a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
TR_INLINE VecF zero_where_less(VecF v, VecF x, VecF bound) { return _mm256_and_ps(v, _mm256_cmp_ps(x, bound, _CMP_NLT_UQ)); }
TR_INLINE VecF to_float(VecI a) { return _mm256_cvtepi32_ps(a); }
TR_INLINE VecI to_int(VecF a) { return _mm256_cvtps_epi32(a); }
TR_INLINE VecI bits(VecF a) { return _mm256_castps_si256(a); }
TR_INLINE VecF from_bits(VecI a) { return _mm256_castsi256_ps(a); }
TR_INLINE VecF load_half(const uint16_t *p) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p))); }
TR_INLINE VecF broadcast_half(const uint16_t *p) { return _mm256_cvtph_ps(_mm_set1_epi16(static_cast<short>(*p))); }
TR_INLINE VecF load_bfloat(const uint16_t *p) { return from_bits(shift_left32<16>(widen_u16(p))); }
TR_INLINE void store_half(uint16_t *p, VecF v) {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(p), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

// Lanes whose bit is clear in the low 8 bits of `mask` get `otherwise`.
TR_INLINE VecF select_bits(uint32_t mask, VecF v, VecF otherwise) {
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i set = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(static_cast<int>(mask)), bit), bit);
    return _mm256_blendv_ps(otherwise, v, _mm256_castsi256_ps(set));
}

TR_INLINE VecD zero_d() { return _mm256_setzero_pd(); }
TR_INLINE void store_d(double *p, VecD v) { _mm256_storeu_pd(p, v); }
TR_INLINE VecD add_d(VecD a, VecD b) { return _mm256_add_pd(a, b); }
TR_INLINE VecD fma_d(VecD a, VecD b, VecD c) { return _mm256_fmadd_pd(a, b, c); }
TR_INLINE VecD low_to_double(VecF v) { return _mm256_cvtps_pd(_mm256_castps256_ps128(v)); }
TR_INLINE VecD high_to_double(VecF v) { return _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)); }

// 32 lanes, each in -127..127, as bytes.
TR_INLINE void store_bytes32(int8_t *p, const VecI v[4]) {
    const __m256i words = _mm256_packs_epi32(v[0], v[1]), words2 = _mm256_packs_epi32(v[2], v[3]);
    const __m256i bytes = _mm256_packs_epi16(words, words2); // the packs interleave 128-bit halves
    store_i(p, _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
}
TR_INLINE int32_t sum_lanes(VecI v) {
    __m128i s = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1));
    return _mm_cvtsi128_si32(s);
}
TR_INLINE int32_t max_lanes(VecI v) {
    __m128i s = _mm_max_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    s = _mm_max_epi32(s, _mm_shuffle_epi32(s, 0x4e));
    s = _mm_max_epi32(s, _mm_shuffle_epi32(s, 0xb1));
    return _mm_cvtsi128_si32(s);
}

} // namespace
} // namespace tr::cpu::TR_ISA
