// How a kernel runs: one block after the other, each thread of a block on a fiber of its own, all in one thread of the operating
// system. A fiber runs until it waits: at a barrier of the block or for the other lanes of its warp. Which one goes on then is the
// order's choice, so that a kernel which depends on it is found out; every order can be repeated exactly.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

#include "emulation/vectors.h"

namespace tr::emulation {

// Where in the source a thread waits.
struct Place {
    const char *file;
    int line;
    bool operator==(const Place &) const = default;
};

// The built-in variables of the running thread.
struct Now {
    uint3 thread, block;
    dim3 block_size, grid_size;
};
extern Now now;
int lane();

enum class Order { kForward, kBackward, kRandom };
// For the launches that follow; `seed` is of the random one.
void set_order(Order order, uint64_t seed = 1);

struct Launch {
    dim3 grid, block;
    size_t shared_bytes;            // dynamic
    Place place;
    const void *kernel;             // to be named in reports
    std::function<void()> body;     // what every thread executes
};
void run(const Launch &launch);

// A thread's part of a barrier of its block.
void block_barrier(Place place);

inline const char *const kSyncWarp = "__syncwarp";
// A lane's part of an operation of its warp: `carry_out` gets the parts of all lanes of the mask when the last has come. Operations
// are told apart by name, mask and place.
void together(const char *name, uint32_t mask, void *part, void (*carry_out)(void *const *parts, uint32_t mask), Place place);

// ---- for reports and for the tracking of accesses
bool in_kernel();
int running_thread();               // its number in the block
uint32_t warp_epoch();              // of the running thread's warp: rises with each __syncwarp
const Launch &running_launch();
bool on_own_stack(const void *p);   // of the running thread
bool on_any_stack(const void *p);
bool on_launching_stack(const void *p); // of whoever launched: where arguments are

} // namespace tr::emulation
