#include "emulation/report.h"

#include <link.h>
#include <signal.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "emulation/device_memory.h"
#include "emulation/execution.h"
#include "emulation/tracking.h"

namespace tr::emulation {

namespace {

// Where the program lies: addresses in its file are less that.
uintptr_t load_address() {
    uintptr_t address = 0;
    dl_iterate_phdr([](dl_phdr_info *info, size_t, void *out) { return *static_cast<uintptr_t *>(out) = info->dlpi_addr, 1; }, &address);
    return address;
}

// Function and line of an address, as addr2line (binutils) says, if it is there.
void print_place(const char *what, const void *pc) {
    char program[512], command[700];
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n < 0) return;
    program[n] = 0;
    std::snprintf(command, sizeof command, "addr2line -Cfpe '%s' %#zx 2>/dev/null", program, static_cast<size_t>(reinterpret_cast<uintptr_t>(pc) - load_address()));
    char line[600] = "";
    if (FILE *out = popen(command, "r")) {
        if (!std::fgets(line, sizeof line, out)) line[0] = 0;
        pclose(out);
    }
    std::fprintf(stderr, "  %s: %s", what, line[0] ? line : "unknown\n");
}

[[noreturn]] void end() {
    if (in_kernel()) {
        const Launch &l = running_launch();
        print_place("kernel", l.kernel);
        std::fprintf(stderr, "  launched at %s:%d, grid %u x %u x %u, block %u x %u x %u, %zu bytes of dynamic shared memory\n", l.place.file, l.place.line,
                     l.grid.x, l.grid.y, l.grid.z, l.block.x, l.block.y, l.block.z, l.shared_bytes);
        std::fprintf(stderr, "  block (%u, %u, %u), thread (%u, %u, %u)\n", now.block.x, now.block.y, now.block.z, now.thread.x, now.thread.y, now.thread.z);
    }
    std::fflush(nullptr);
    _exit(kExitCode);
}

void print(const char *format, va_list arguments) {
    std::fputs("emulation: ", stderr);
    std::vfprintf(stderr, format, arguments);
    std::fputc('\n', stderr);
}

// An access that no check saw before the hardware did.
void on_signal(int number, siginfo_t *info, void *) {
    signal(number, SIG_DFL);
    const void *p = info->si_addr;
    if (number == SIGALRM) fail("the time limit has passed: does a block wait for another? they run one after the other");
    if (number == SIGILL) fail("undefined behaviour: a shift, an index or an alignment");
    if (on_any_stack(p)) fail("the stack of a thread is too small for its local variables");
    if (device_memory().contains(p)) device_memory().check(p, 1, in_kernel() ? "access" : "access by the host", nullptr);
    if (is_shared(p) || is_shared(static_cast<const char *>(p) - 1) || is_shared(static_cast<const char *>(p) + 4096))
        fail("shared memory: an access beyond its end");
    fail("signal %d at %p", number, p);
}

struct Handlers {
    Handlers() {
        static char stack[64 << 10];
        stack_t alternate{};
        alternate.ss_sp = stack;
        alternate.ss_size = sizeof stack;
        sigaltstack(&alternate, nullptr);
        struct sigaction action{};
        action.sa_sigaction = on_signal;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGALRM}) sigaction(number, &action, nullptr);
    }
} handlers;

} // namespace

void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
    end();
}

void fail_at(const void *pc, const void *earlier, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
    // What is known is the address after the call that reported the access.
    if (pc) print_place("the access", static_cast<const char *>(pc) - 1);
    if (earlier) print_place("the earlier one", static_cast<const char *>(earlier) - 1);
    end();
}

void note(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::vfprintf(stderr, format, arguments);
    va_end(arguments);
    std::fputc('\n', stderr);
}

} // namespace tr::emulation
