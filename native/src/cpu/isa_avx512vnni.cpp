// The table of AVX-512 (F, BW, DQ, VL) and VNNI. Compiled with -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mfma -mf16c
// -mprefer-vector-width=512.
#if defined(__x86_64__)
#define TR_ISA avx512vnni
#define TR_ISA_NAME "avx512vnni"
#define TR_VECTOR_BITS 512
#define TR_VNNI 1
#include "cpu/kernels/table.h"
#endif
