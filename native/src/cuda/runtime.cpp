#include "cuda/runtime.h"

#include <mutex>
#include <new>

#include "base/error.h"

namespace tr::cuda {

namespace {

// Of this thread's launches.
struct Noted {
    cudaError_t error = cudaSuccess;
    const char *file = nullptr;
    int line = 0;
};
thread_local Noted noted;

} // namespace

void check(cudaError_t error, const char *doing) {
    if (error == cudaSuccess) return;
    fail(error == cudaErrorMemoryAllocation ? TR_ERR_NO_MEMORY : TR_ERR_DEVICE, "the GPU failed while %s: %s", doing, cudaGetErrorString(error));
}

void note_launch(cudaError_t error, const char *file, int line) {
    if (noted.error == cudaSuccess) noted = {error, file, line};
}

void check_launches() {
    if (noted.error == cudaSuccess) return;
    const Noted first = std::exchange(noted, {});
    fail(TR_ERR_DEVICE, "the GPU refused a kernel (%s:%d): %s", first.file, first.line, cudaGetErrorString(first.error));
}

void choose_device(int32_t number) {
    int count = 0;
    if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) {
        cudaGetLastError();
        fail(TR_ERR_DEVICE, "no GPU can be used: %s; is an NVIDIA driver installed, of release 580 or later?", cudaGetErrorString(error));
    }
    if (number >= count) fail(TR_ERR_DEVICE, "there is no GPU %d: this machine has %d, counted from 0", number, count);
    check(cudaSetDevice(number), "being opened");
}

void choose_device_of(const void *p) {
    cudaPointerAttributes attributes;
    check(cudaPointerGetAttributes(&attributes, p), "looking up its memory");
    check(cudaSetDevice(attributes.device), "being chosen");
}

Stream::Stream() { check(cudaStreamCreate(&stream_), "making a stream"); }
Stream::~Stream() { cudaStreamDestroy(stream_); }
void Stream::wait() const {
    check_launches();
    check(cudaStreamSynchronize(stream_), "running a step");
}

cpu::Buffer allocate_device(size_t bytes) {
    void *p = nullptr;
    const cudaError_t error = cudaMalloc(&p, bytes);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError(); // or the next call would report it again
        throw std::bad_alloc();
    }
    check(error, "allocating memory");
    return {static_cast<uint8_t *>(p), [](uint8_t *q) { cudaFree(q); }};
}

cpu::Buffer allocate_pinned(size_t bytes) {
    void *p = nullptr;
    if (cudaMallocHost(&p, bytes) != cudaSuccess) {
        cudaGetLastError();
        throw std::bad_alloc();
    }
    return {static_cast<uint8_t *>(p), [](uint8_t *q) { cudaFreeHost(q); }};
}

void to_device(void *to, const void *from, size_t bytes, cudaStream_t stream) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), "copying to it");
}

void within_device(void *to, const void *from, size_t bytes, cudaStream_t stream) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), "copying within it");
}

void to_host(void *to, const void *from, size_t bytes, cudaStream_t stream) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream), "copying from it");
}

void put(void *to, const void *from, size_t bytes) {
    if (bytes == 0) return;
    static std::mutex mutex;
    const std::lock_guard lock(mutex); // copies of several threads would only wait for each other in the driver
    choose_device_of(to);
    const Stream stream;
    to_device(to, from, bytes, stream);
    stream.wait();
}

} // namespace tr::cuda
