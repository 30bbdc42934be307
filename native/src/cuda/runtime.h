// CUDA's runtime for the host side: errors become tr::Error, memory and streams have owners.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>

#include "cpu/memory.h"

#if defined(TR_EMULATION)
#include "emulation/cuda.h"
#else
#include <cuda_runtime_api.h>
#endif

namespace tr::cuda {

// Throws Error unless it is cudaSuccess: TR_ERR_NO_MEMORY for memory, else TR_ERR_DEVICE. `doing` says what was tried.
void check(cudaError_t error, const char *doing);

// A launch's error; kept until check_launches() throws it.
void note_launch(cudaError_t error, const char *file, int line);
void check_launches();

// Makes GPU `number` this thread's. Throws Error if there is none.
void choose_device(int32_t number);
// Makes the GPU whose memory p is this thread's.
void choose_device_of(const void *p);

class Stream {
public:
    Stream();
    ~Stream();
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    operator cudaStream_t() const { return stream_; }
    // Throws Error if anything on the stream failed.
    void wait() const;

private:
    cudaStream_t stream_ = nullptr;
};

// Device memory, not initialized; throws std::bad_alloc.
cpu::Buffer allocate_device(size_t bytes);
// Host memory that copies to and from the device need not be staged in; throws std::bad_alloc.
cpu::Buffer allocate_pinned(size_t bytes);

// Copies on a stream; done when it has been waited for.
void to_device(void *to, const void *from, size_t bytes, cudaStream_t stream);
void within_device(void *to, const void *from, size_t bytes, cudaStream_t stream);
void to_host(void *to, const void *from, size_t bytes, cudaStream_t stream);
// to := from on the device, done on return. From any thread.
void put(void *to, const void *from, size_t bytes);

} // namespace tr::cuda
