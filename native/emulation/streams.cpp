// The runtime API. Work is queued on its stream; when it runs is the mode's choice: at once, or (set_lazy) only when a synchronisation
// needs it, streams in reverse order of their creation, so that a forgotten one is found out. A stream that is captured keeps its work for
// the graph, with the arguments as they were.
#include "emulation/streams.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "emulation/cuda.h"
#include "emulation/device_memory.h"
#include "emulation/report.h"
#include "emulation/tracking.h"

using Recorded = std::vector<std::function<void()>>;
struct CudaGraph {
    Recorded work;
};
struct CudaGraphExec {
    std::shared_ptr<const Recorded> work; // shared with launches that have not run
};
struct CudaStream {
    std::deque<std::function<void()>> queue;
    std::unique_ptr<CudaGraph> captured; // while it is
    uint64_t done = 0, issued = 0;
};
struct CudaEvent {
    CudaStream *stream = nullptr;
    uint64_t issued = 0; // work of the stream that the event stands for
};

namespace tr::emulation {

namespace {

bool lazy = false;
std::vector<CudaStream *> streams;
std::unordered_map<void *, size_t> pinned;

// What the runtime refuses while a stream is captured.
void refuse_in_capture(const char *what) {
    for (const CudaStream *s : streams) {
        if (s->captured) fail("%s while a stream is captured", what);
    }
}

void run_until(CudaStream &s, uint64_t count) {
    while (s.done < count && !s.queue.empty()) {
        const std::function<void()> work = std::move(s.queue.front());
        s.queue.pop_front();
        s.done++;
        work();
    }
}

void run_all() {
    for (size_t i = streams.size(); i-- > 0;) run_until(*streams[i], UINT64_MAX);
}

void check_side(const void *p, size_t n, bool device, bool write) {
    if (device_memory().contains(p) != device) fail("a copy takes %p for %s memory, which it is not", p, device ? "device" : "host");
    if (device) device_memory().check(p, n, write ? "write" : "read", nullptr);
}

bool to_device(cudaMemcpyKind kind) { return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice; }
bool from_device(cudaMemcpyKind kind) { return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice; }

void copy(void *to, const void *from, size_t n, cudaMemcpyKind kind) {
    if (n == 0) return;
    check_side(to, n, to_device(kind), true);
    check_side(from, n, from_device(kind), false);
    std::memmove(to, from, n);
    if (to_device(kind) && from_device(kind)) copy_marks(to, from, n);
    else if (to_device(kind)) mark_written(to, n);
}

} // namespace

void set_lazy(bool on) {
    run_all();
    lazy = on;
}

void enqueue(CudaStream *stream, std::function<void()> work) {
    if (!stream) fail("work for the default stream, which waits for all others; give it one of its own");
    if (stream->captured) return stream->captured->work.push_back(std::move(work));
    if (!lazy) return work();
    stream->queue.push_back(std::move(work));
    stream->issued++;
}

size_t device_bytes_in_use() { return device_memory().in_use(); }

} // namespace tr::emulation

using namespace tr::emulation;

cudaError_t cudaGetDeviceCount(int *count) { return *count = 1, cudaSuccess; }
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *p) {
    if (!device_memory().contains(p)) fail("%p is not device memory", p);
    return *attributes = {0}, cudaSuccess;
}
cudaError_t cudaMalloc(void **p, size_t n) {
    refuse_in_capture("cudaMalloc");
    return (*p = device_memory().allocate(n)) ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void *p) {
    refuse_in_capture("cudaFree");
    run_all(); // as the real one does
    if (p) device_memory().release(p);
    return cudaSuccess;
}
cudaError_t cudaMallocHost(void **p, size_t n) {
    if (!(*p = std::malloc(n ? n : 1))) return cudaErrorMemoryAllocation;
    pinned[*p] = n;
    return cudaSuccess;
}
cudaError_t cudaFreeHost(void *p) {
    run_all();
    if (p && !pinned.erase(p)) fail("cudaFreeHost of %p, which cudaMallocHost did not give", p);
    std::free(p);
    return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, cudaMemcpyKind kind, cudaStream_t stream) {
    enqueue(stream, [=] { copy(to, from, n, kind); });
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t n, cudaStream_t stream) {
    enqueue(stream, [=] {
        if (n == 0) return;
        check_side(to, n, true, true);
        std::memset(to, value, n);
        mark_written(to, n);
    });
    return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    *stream = new CudaStream;
    streams.push_back(*stream);
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    run_until(*stream, UINT64_MAX);
    std::erase(streams, stream);
    delete stream;
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    refuse_in_capture("cudaStreamSynchronize");
    run_until(*stream, UINT64_MAX);
    return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    const CudaEvent at = *event;
    if (at.stream) enqueue(stream, [at] { run_until(*at.stream, at.issued); });
    return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *event) {
    *event = new CudaEvent;
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete event;
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    *event = {stream, stream->issued};
    return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
    if (stream->captured) fail("cudaStreamBeginCapture of a stream that is captured already");
    stream->captured = std::make_unique<CudaGraph>();
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    if (!stream->captured) fail("cudaStreamEndCapture of a stream that is not captured");
    *graph = stream->captured.release();
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long) {
    *executable = new CudaGraphExec{std::make_shared<const Recorded>(graph->work)};
    return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
    enqueue(stream, [recorded = executable->work] {
        for (const auto &work : *recorded) work();
    });
    return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    delete graph;
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
    delete executable;
    return cudaSuccess;
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char *cudaGetErrorString(cudaError_t error) { return error == cudaErrorMemoryAllocation ? "out of memory" : "no error"; }
