// 512-bit vectors: AVX-512 F, BW, DQ, VL and VNNI. See simd.h for what the functions mean.
#pragma once
#include <immintrin.h>

// GCC 12 takes the operand that its own unmasked intrinsics leave undefined for a mistake of ours. The warning is given
// where they are inlined, so it stays off to the end of the translation unit.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

namespace tr::cpu::TR_ISA {
namespace {

using VecI = __m512i;
using VecF = __m512;
using VecD = __m512d;
constexpr int kLanes = 16;
constexpr int kMaxColumns = 8; // 32 registers

TR_INLINE VecI load_i(const void *p) { return _mm512_loadu_si512(p); }
TR_INLINE void store_i(void *p, VecI v) { _mm512_storeu_si512(p, v); }
TR_INLINE VecI zero_i() { return _mm512_setzero_si512(); }
TR_INLINE VecI set8(int x) { return _mm512_set1_epi8(static_cast<char>(x)); }
TR_INLINE VecI set16(int x) { return _mm512_set1_epi16(static_cast<short>(x)); }
TR_INLINE VecI set32(int32_t x) { return _mm512_set1_epi32(x); }
TR_INLINE VecI broadcast_word(const void *p) {
    int32_t x;
    __builtin_memcpy(&x, p, sizeof x);
    return _mm512_set1_epi32(x);
}
TR_INLINE VecI and_i(VecI a, VecI b) { return _mm512_and_si512(a, b); }
TR_INLINE VecI or_i(VecI a, VecI b) { return _mm512_or_si512(a, b); }
TR_INLINE VecI xor_i(VecI a, VecI b) { return _mm512_xor_si512(a, b); }
TR_INLINE VecI mask_or(VecI a, VecI mask, VecI b) { return _mm512_ternarylogic_epi32(a, mask, b, 0xEA); }
TR_INLINE VecI add32(VecI a, VecI b) { return _mm512_add_epi32(a, b); }
TR_INLINE VecI max32(VecI a, VecI b) { return _mm512_max_epi32(a, b); }
template <int n> TR_INLINE VecI shift_right16(VecI a) { return _mm512_srli_epi16(a, n); }
template <int n> TR_INLINE VecI shift_right32(VecI a) { return _mm512_srli_epi32(a, n); }
template <int n> TR_INLINE VecI shift_left32(VecI a) { return _mm512_slli_epi32(a, n); }
template <int n> TR_INLINE VecI rotate_left32(VecI a) { return _mm512_rol_epi32(a, n); }
TR_INLINE VecI repeat16(const void *p) { return _mm512_broadcast_i32x4(_mm_loadu_si128(static_cast<const __m128i *>(p))); }
TR_INLINE VecI shuffle16(VecI table, VecI index) { return _mm512_shuffle_epi8(table, index); }
TR_INLINE VecI widen_u8(const uint8_t *p) { return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p))); }
TR_INLINE VecI widen_u16(const uint16_t *p) { return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(p))); }
TR_INLINE VecI widen_s8(const int8_t *p) { return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p))); }

constexpr bool kVnni = true;
TR_INLINE VecI dot_u8s8(VecI acc, VecI w, VecI x) { return _mm512_dpbusd_epi32(acc, w, x); }
TR_INLINE VecI dot_s16(VecI acc, VecI a, VecI b) { return _mm512_dpwssd_epi32(acc, a, b); }

TR_INLINE VecF load(const float *p) { return _mm512_loadu_ps(p); }
TR_INLINE void store(float *p, VecF v) { _mm512_storeu_ps(p, v); }
TR_INLINE VecF zero() { return _mm512_setzero_ps(); }
TR_INLINE VecF set(float x) { return _mm512_set1_ps(x); }
TR_INLINE VecF broadcast(const float *p) { return _mm512_set1_ps(*p); }
TR_INLINE VecF add(VecF a, VecF b) { return _mm512_add_ps(a, b); }
TR_INLINE VecF sub(VecF a, VecF b) { return _mm512_sub_ps(a, b); }
TR_INLINE VecF mul(VecF a, VecF b) { return _mm512_mul_ps(a, b); }
TR_INLINE VecF div(VecF a, VecF b) { return _mm512_div_ps(a, b); }
TR_INLINE VecF fma(VecF a, VecF b, VecF c) { return _mm512_fmadd_ps(a, b, c); }
TR_INLINE VecF fnma(VecF a, VecF b, VecF c) { return _mm512_fnmadd_ps(a, b, c); }
TR_INLINE VecF min(VecF a, VecF b) { return _mm512_min_ps(a, b); }
TR_INLINE VecF max(VecF a, VecF b) { return _mm512_max_ps(a, b); }
TR_INLINE VecF round_even(VecF a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
TR_INLINE VecF zero_where_less(VecF v, VecF x, VecF bound) { return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, bound, _CMP_NLT_UQ), v); }
TR_INLINE VecF to_float(VecI a) { return _mm512_cvtepi32_ps(a); }
TR_INLINE VecI to_int(VecF a) { return _mm512_cvtps_epi32(a); }
TR_INLINE VecI bits(VecF a) { return _mm512_castps_si512(a); }
TR_INLINE VecF from_bits(VecI a) { return _mm512_castsi512_ps(a); }
TR_INLINE VecF load_half(const uint16_t *p) { return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(p))); }
TR_INLINE VecF broadcast_half(const uint16_t *p) { return _mm512_cvtph_ps(_mm256_set1_epi16(static_cast<short>(*p))); }
TR_INLINE VecF load_bfloat(const uint16_t *p) { return from_bits(shift_left32<16>(widen_u16(p))); }
TR_INLINE void store_half(uint16_t *p, VecF v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(p), _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

// Lanes whose bit is clear in the low 16 bits of `mask` get `otherwise`.
TR_INLINE VecF select_bits(uint32_t mask, VecF v, VecF otherwise) {
    return _mm512_mask_mov_ps(otherwise, static_cast<__mmask16>(mask), v);
}

TR_INLINE VecD zero_d() { return _mm512_setzero_pd(); }
TR_INLINE void store_d(double *p, VecD v) { _mm512_storeu_pd(p, v); }
TR_INLINE VecD add_d(VecD a, VecD b) { return _mm512_add_pd(a, b); }
TR_INLINE VecD fma_d(VecD a, VecD b, VecD c) { return _mm512_fmadd_pd(a, b, c); }
TR_INLINE VecD low_to_double(VecF v) { return _mm512_cvtps_pd(_mm512_castps512_ps256(v)); }
TR_INLINE VecD high_to_double(VecF v) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)); }

// 32 lanes, each in -127..127, as bytes.
TR_INLINE void store_bytes32(int8_t *p, const VecI v[2]) {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(p), _mm512_cvtepi32_epi8(v[0]));
    _mm_storeu_si128(reinterpret_cast<__m128i *>(p + 16), _mm512_cvtepi32_epi8(v[1]));
}
TR_INLINE int32_t sum_lanes(VecI v) { return _mm512_reduce_add_epi32(v); }
TR_INLINE int32_t max_lanes(VecI v) { return _mm512_reduce_max_epi32(v); }

} // namespace
} // namespace tr::cpu::TR_ISA
