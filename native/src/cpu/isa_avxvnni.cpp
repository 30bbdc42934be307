// The table of AVX2 and AVX-VNNI. Compiled with -mavx2 -mfma -mf16c -mavxvnni.
#if defined(__x86_64__)
#define TR_ISA avxvnni
#define TR_ISA_NAME "avxvnni"
#define TR_VECTOR_BITS 256
#define TR_VNNI 1
#include "cpu/kernels/table.h"
#endif
