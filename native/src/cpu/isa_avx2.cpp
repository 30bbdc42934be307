// The table of AVX2, FMA and F16C. Compiled with -mavx2 -mfma -mf16c.
#if defined(__x86_64__)
#define TR_ISA avx2
#define TR_ISA_NAME "avx2"
#define TR_VECTOR_BITS 256
#define TR_VNNI 0
#include "cpu/kernels/table.h"
#endif
