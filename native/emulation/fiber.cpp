#include "emulation/fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

// The registers that a call must preserve (System V ABI for AMD64) go to the stack that is left. The floating-point control words are
// the same everywhere.
asm(R"(
.text
.globl tr_emulation_switch
.hidden tr_emulation_switch
.type tr_emulation_switch,@function
tr_emulation_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size tr_emulation_switch,.-tr_emulation_switch
)");

namespace tr::emulation {

namespace {
constexpr size_t kGuard = 4096, kStride = kStackBytes + kGuard;
}

Stacks::Stacks() {
    void *p = mmap(nullptr, kMaxThreads * kStride, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<unsigned char *>(p);
    for (int i = 0; i < kMaxThreads; i++) mprotect(base_ + static_cast<size_t>(i) * kStride, kGuard, PROT_NONE);
}

void *Stacks::prepare(int i, void (*entry)()) const {
    // Tops at different offsets within a page, or the first-level cache would hold few of them at once.
    const size_t colour = static_cast<size_t>(i % 14) * 272;
    auto *top = reinterpret_cast<uintptr_t *>(base_ + static_cast<size_t>(i + 1) * kStride - colour);
    *--top = 0;                                     // where entry would return to; it also aligns the stack as a call does
    *--top = reinterpret_cast<uintptr_t>(entry);
    for (int saved = 0; saved < 6; saved++) *--top = 0;
    return top;
}

int Stacks::find(const void *p) const {
    const auto at = static_cast<size_t>(static_cast<const unsigned char *>(p) - base_);
    return at < kMaxThreads * kStride ? static_cast<int>(at / kStride) : -1;
}

} // namespace tr::emulation
