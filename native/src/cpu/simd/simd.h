// A small vector abstraction, so that a kernel is written once and compiled per instruction set.
//
// The build defines TR_ISA (the table's namespace), TR_VECTOR_BITS (256 or 512) and TR_VNNI (0 or 1), and compiles with that
// instruction set's flags. Everything lies in an unnamed namespace inside TR_ISA and is always inlined: a
// function with external linkage could be merged with another instruction set's copy.
//
// A vector has kLanes 32-bit lanes. VecI holds integers (or four bytes per lane), VecF floats, VecD kLanes/2 doubles.
//   mask_or(a, m, b)        (a & m) | b
//   dot_u8s8(acc, w, x)     acc + sum over the lane's four bytes of unsigned w * signed x, exact (kVnni only)
//   products_u8s8(w, x)     int16 pairs w[2i]*x[2i] + w[2i+1]*x[2i+1], saturating (without kVnni)
//   dot_s16(acc, a, b)      acc + a.lo*b.lo + a.hi*b.hi per lane, as int16
//   to_int(a)               rounds to nearest even
//   zero_where_less(v,x,b)  0 where x < b, else v (also where x is not a number)
//   repeat16(p)             16 bytes, as often as they fit
//   shuffle16(t, i)         byte i of t, within 16 bytes; 0 <= i < 16
//   load_half, store_half   IEEE half floats, rounding to nearest even
//   store_bytes32           32/kLanes vectors as 32 bytes
// min and max return their second operand when one is not a number.
#pragma once
#include <cstddef>
#include <cstdint>

#define TR_INLINE inline __attribute__((always_inline))

#if TR_VECTOR_BITS == 512
#include "cpu/simd/avx512.h"
#else
#include "cpu/simd/avx2.h"
#endif

namespace tr::cpu::TR_ISA {
namespace {

// A tile is two vectors of rows: 16 rows (one panel) or 32 (two panels).
constexpr int kTileRows = 2 * kLanes;

// How many of 32 bytes are zero; every instruction set here has vectors of 256 bits.
TR_INLINE int zero_bytes32(const int8_t *p) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p));
    return __builtin_popcount(static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, _mm256_setzero_si256()))));
}

// Keeps the compiler from hoisting the loads of later steps over this point: it would run out of registers and spill.
TR_INLINE void keep_order() { asm volatile("" ::: "memory"); }

} // namespace
} // namespace tr::cpu::TR_ISA
