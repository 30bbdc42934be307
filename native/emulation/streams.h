// Work of streams.
#pragma once
#include <cstddef>
#include <functional>

struct CudaStream;

namespace tr::emulation {

// Whether queued work waits until a synchronisation needs it. Off at first.
void set_lazy(bool on);
void enqueue(CudaStream *stream, std::function<void()> work);
size_t device_bytes_in_use();

} // namespace tr::emulation
