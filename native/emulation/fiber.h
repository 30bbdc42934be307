// Fibers: stacks of their own, and the change from one to another.
#pragma once
#include <cstddef>

namespace tr::emulation {

constexpr int kMaxThreads = 1024;       // of a block
constexpr size_t kStackBytes = 128 << 10;

class Stacks {
public:
    Stacks();
    // Makes stack i ready: a switch to the result calls `entry`, which must not return.
    void *prepare(int i, void (*entry)()) const;
    // The stack that an address is on, its guard page included, or -1.
    int find(const void *p) const;

private:
    unsigned char *base_;
};

} // namespace tr::emulation

// Saves the stack pointer to *from and goes on at `to`.
extern "C" void tr_emulation_switch(void **from, void *to);
