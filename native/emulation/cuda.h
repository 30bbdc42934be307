// What CUDA sources see in place of cuda_runtime.h when they are compiled for the CPU: the language's keywords, the built-in
// variables, the functions of a device, and the part of the runtime API that this project calls. docs/cuda.md says how kernels must be
// written so that they run on both.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "emulation/intrinsics.h"
#include "emulation/vectors.h"
#include "emulation/warp.h"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

#define threadIdx (::tr::emulation::now.thread)
#define blockIdx (::tr::emulation::now.block)
#define blockDim (::tr::emulation::now.block_size)
#define gridDim (::tr::emulation::now.grid_size)

// ---- the runtime API. Errors that a program could handle come back as codes; those that are faults of the program end it with a report.

using cudaError_t = int;
using cudaStream_t = struct CudaStream *;
using cudaEvent_t = struct CudaEvent *;
using cudaGraph_t = struct CudaGraph *;
using cudaGraphExec_t = struct CudaGraphExec *;
enum : cudaError_t { cudaSuccess = 0, cudaErrorMemoryAllocation = 2 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal };
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };

cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int device);
struct cudaPointerAttributes {
    int device;
};
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *p);
cudaError_t cudaMalloc(void **p, size_t n);
cudaError_t cudaFree(void *p);
cudaError_t cudaMallocHost(void **p, size_t n);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *to, int value, size_t n, cudaStream_t stream);
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);
cudaError_t cudaGetLastError();
const char *cudaGetErrorString(cudaError_t error);
