// What every kernel includes: CUDA, or its emulation on the CPU, in one spelling. docs/cuda.md has the rules that kernels keep so that both
// run them. All instructions that C++ has no words for are wrapped here.
#pragma once
#if defined(TR_EMULATION)
#include <bit>
#include <functional>
#include <tuple>

#include "emulation/cuda.h"
#include "emulation/device_memory.h"
#include "emulation/report.h"
#include "emulation/streams.h"
#include "emulation/tracking.h"
#include "quant/types.h"
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#endif

// Arrays that the threads of a block share: of a fixed size, and of the size that the launch states.
#if defined(TR_EMULATION)
#define TR_SHARED(T, name, n)                                                                                   \
    static const ::tr::emulation::StaticArray name##_at = ::tr::emulation::reserve_static_shared(sizeof(T) * (n)); \
    T(&name)[n] = *reinterpret_cast<T(*)[n]>(::tr::emulation::static_shared(name##_at))
#define TR_DYNAMIC_SHARED(T, name) T *name = reinterpret_cast<T *>(::tr::emulation::dynamic_shared())
#else
#define TR_SHARED(T, name, n) __shared__ __align__(16) T name[n]
#define TR_DYNAMIC_SHARED(T, name)                                                                              \
    extern __shared__ __align__(16) unsigned char tr_dynamic_shared[];                                          \
    T *name = reinterpret_cast<T *>(tr_dynamic_shared)
#endif

namespace tr::cuda {

constexpr uint32_t kAllLanes = 0xffffffff;

// The first error of a launch since the last call, to be turned into an Error by whoever waits for the stream; see stream.h.
void note_launch(cudaError_t error, const char *file, int line);

struct Grid {
    dim3 blocks, threads;
    size_t shared_bytes;
    cudaStream_t stream;
    const char *file;
    int line;
    Grid(dim3 blocks_, dim3 threads_, cudaStream_t stream_, size_t shared_bytes_ = 0, const char *file_ = __builtin_FILE(), int line_ = __builtin_LINE())
        : blocks(blocks_), threads(threads_), shared_bytes(shared_bytes_), stream(stream_), file(file_), line(line_) {}
};

template <class... Parameters, class... Arguments> void launch(void (*kernel)(Parameters...), const Grid &g, Arguments &&...arguments) {
#if defined(TR_EMULATION)
    const std::tuple<Parameters...> packed(static_cast<Parameters>(arguments)...);
    emulation::enqueue(g.stream, [=] {
        const auto call = std::tuple(kernel, packed); // on this stack, where a kernel may read its arguments
        emulation::run({g.blocks, g.threads, g.shared_bytes, {g.file, g.line}, reinterpret_cast<const void *>(kernel),
                        [&call] { std::apply(std::get<0>(call), std::get<1>(call)); }});
    });
#else
    constexpr size_t kWithoutAsking = 48 << 10;
    cudaError_t error = cudaSuccess;
    if (g.shared_bytes > kWithoutAsking) error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(g.shared_bytes));
    if (error == cudaSuccess) {
        kernel<<<g.blocks, g.threads, g.shared_bytes, g.stream>>>(static_cast<Parameters>(arguments)...);
        error = cudaGetLastError();
    }
    if (error != cudaSuccess) note_launch(error, g.file, g.line);
#endif
}

// Half floats as their bits; the conversions round to nearest even.
__device__ __forceinline__ float from_half(uint16_t bits) {
#if defined(TR_EMULATION)
    return quant::half_to_float(bits);
#else
    return __half2float(__ushort_as_half(bits));
#endif
}
__device__ __forceinline__ uint16_t to_half(float value) {
#if defined(TR_EMULATION)
    return quant::float_to_half(value);
#else
    return __half_as_ushort(__float2half_rn(value));
#endif
}

// Two numbers as brain floats in a word, rounded to nearest even; the first is its lower half. They are finite.
__device__ __forceinline__ uint32_t to_brain_floats(float first, float second) {
#if defined(TR_EMULATION)
    const auto rounded = [](float v) { return (std::bit_cast<uint32_t>(v) + 0x7fff + (std::bit_cast<uint32_t>(v) >> 16 & 1)) >> 16; };
    return rounded(first) | rounded(second) << 16;
#else
    const __nv_bfloat162 both = __floats2bfloat162_rn(first, second);
    return *reinterpret_cast<const uint32_t *>(&both);
#endif
}
// The same as half floats.
__device__ __forceinline__ uint32_t to_half_floats(float first, float second) {
#if defined(TR_EMULATION)
    return to_half(first) | static_cast<uint32_t>(to_half(second)) << 16;
#else
    const __half2 both = __floats2half2_rn(first, second);
    return *reinterpret_cast<const uint32_t *>(&both);
#endif
}

// A vector of 8 or 16 bytes. A plain dereference would be split by g++ where its parts are used one by one, and its alignment with it.
template <class T> __device__ __forceinline__ T load_vector(const void *p) {
#if defined(TR_EMULATION)
    if (reinterpret_cast<uintptr_t>(p) % sizeof(T)) emulation::fail("a load of %zu bytes at %p, which is not a multiple of that", sizeof(T), p);
    if (emulation::tracking()) emulation::track(p, sizeof(T), false, __builtin_return_address(0));
    else if (emulation::device_memory().contains(p)) emulation::device_memory().check(p, sizeof(T), "read", nullptr);
    T value;
    emulation::copy_bytes(&value, p, sizeof value);
    return value;
#else
    return *static_cast<const T *>(p);
#endif
}

// D += A B on 8-bit integers: A is 16 x 32 (or 16 x 16), B is 32 x 8 (or 16 x 8). Lane 4g+t holds bytes 4t..4t+3 of rows g (a[0]) and g+8
// (a[1]) of A and of column g of B (b[0]), those 16 further on in a[2], a[3] and b[1]; and of D the elements (g, 2t), (g, 2t+1),
// (g+8, 2t), (g+8, 2t+1).
__device__ __forceinline__ void multiply_16x8x32(int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
#if defined(TR_EMULATION)
    emulation::MatrixProduct part{a, b, d};
    emulation::together("a product of 16 x 8 x 32", kAllLanes, &part, emulation::product_16x8x32, {__FILE__, __LINE__});
#else
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}
__device__ __forceinline__ void multiply_16x8x16(int32_t (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[1]) {
#if defined(TR_EMULATION)
    emulation::MatrixProduct part{a, b, d};
    emulation::together("a product of 16 x 8 x 16", kAllLanes, &part, emulation::product_16x8x16, {__FILE__, __LINE__});
#else
    asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
#endif
}

// D += A B on half floats or, with kBrain, brain floats, two to a word: A is 16 x 16, B is 16 x 8. Lane 4g+t holds numbers 2t, 2t+1 of rows g
// (a[0]) and g+8 (a[1]) of A and of column g of B (b[0]), those 8 further on in a[2], a[3] and b[1]; and of D what the products of integers
// leave there. Products are exact. How their sum is rounded is the hardware's own: the same for every element of D, wherever it lies.
template <bool kBrain> __device__ __forceinline__ void multiply_halves(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
#if defined(TR_EMULATION)
    emulation::FloatProduct part{a, b, d};
    emulation::together(kBrain ? "a product of brain floats" : "a product of half floats", kAllLanes, &part, kBrain ? emulation::product_brain : emulation::product_half,
                        {__FILE__, __LINE__});
#else
    if constexpr (kBrain) {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    } else {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
#endif
}

} // namespace tr::cuda
