// What a model runs on: the operators, and the memory that they work in. A model's code is the same on every backend; it hands pointers
// from one operator to the next and reads none of what they point to.
//
// On the processor the workers of a pool share out every operator among themselves. On another device one worker queues each operator
// behind the one before, and a join waits for nothing.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/memory.h"
#include "cpu/ops.h"

namespace tr::arch {

struct Shape;
struct Experts;
struct ExpertWorkspace;

struct Backend {
    const cpu::Ops &ops;
    bool host;                                    // the memory is the processor's: every pointer may be followed

    // ---- memory
    cpu::Buffer (*allocate)(size_t bytes);        // uninitialized; throws std::bad_alloc
    void (*put)(void *to, const void *from, size_t bytes); // from the processor's memory; done on return
    // Memory for n columns of at most k values in `forms`; throws std::bad_alloc.
    void (*reserve)(cpu::Activations &acts, int64_t n, int64_t k, uint32_t forms);

    // ---- operators besides ops
    // x[i] := row ids[i] of m, times scale. Joins.
    void (*embed)(cpu::Worker &, const cpu::Matrix &m, const int32_t *ids, int64_t n, float scale, float *x);
    // x += the networks that the router of `experts` picks for each column, weighted. `h` is the norm of x, which ws.normed holds, too. Joins.
    void (*add_experts)(const cpu::Ops &, cpu::Worker &, const Shape &, ExpertWorkspace &ws, int64_t n, const Experts &experts, const cpu::Activations &h, float *x);

    // n values of T in this memory. Throws Error(TR_ERR_NO_MEMORY) naming `what`.
    template <class T> Array<T> array(size_t n, const char *what) const { return Array<T>(allocate_memory(n, sizeof(T), what, allocate), n); }
    // The array, moved to this memory if it is not there.
    template <class T> Array<T> place(Array<T> values, const char *what) const {
        if (host) return values;
        Array<T> placed = array<T>(values.size(), what);
        put(placed.data(), values.data(), values.size() * sizeof(T));
        return placed;
    }
};

// The processor, with these operators.
Backend host_backend(const cpu::Ops &ops);

} // namespace tr::arch
