// Functions that the processor and kernels share.
#pragma once

#if defined(__CUDACC__)
#define TR_HOST_DEVICE __host__ __device__
#else
#define TR_HOST_DEVICE
#endif
