// What is known of every byte that kernels share, and the checks of accesses against it. Kernels that are compiled with -fsanitize=thread
// report each load and store to hooks.cpp, which comes here; all others are checked by guard pages alone.
//
// Two accesses to a byte, of which one is a write, must be ordered: by a barrier of the block, by __syncwarp within a warp, or by being
// in different launches. Whether they are does not depend on the order in which threads happened to run.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tr::emulation {

// Shared memory of a block. Its dynamic part ends at a page that nobody may touch.
unsigned char *dynamic_shared();
// A static array of a kernel: declared in the kernel itself, since its place is among those of the kernel that ran first.
struct StaticArray {
    size_t at;
    const void *kernel;
};
// Once per declaration and instantiation.
StaticArray reserve_static_shared(size_t bytes);
unsigned char *static_shared(const StaticArray &array);
bool is_shared(const void *p);

// ---- from the execution
void begin_launch(const void *kernel, size_t shared_bytes);
void begin_block();
void pass_barrier();
void end_launch();

// Called by kernels that are compiled with hooks, before main(). Without it nothing is marked.
void enable_tracking();
bool tracking();

// ---- from hooks and from functions that access memory for a kernel
void track(const void *p, size_t n, bool write, const void *pc);
void track_atomic(const void *p, size_t n, const void *pc);
// The host wrote device memory, or a copy within it did.
void mark_written(const void *p, size_t n);
void copy_marks(const void *to, const void *from, size_t n);

// memcpy that is never instrumented nor split.
void copy_bytes(void *to, const void *from, size_t n);

} // namespace tr::emulation
