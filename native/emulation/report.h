// An error of the program under emulation ends the process: kExitCode, and a report on stderr that names the kernel, the launch, the
// block, the thread, and the places in the source.
#pragma once

namespace tr::emulation {

constexpr int kExitCode = 86;

[[noreturn]] void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
// With the instruction that made the access, and the earlier one that it is at odds with (or null).
[[noreturn]] void fail_at(const void *pc, const void *earlier, const char *format, ...) __attribute__((format(printf, 3, 4)));
// A line of a report before its fail().
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

} // namespace tr::emulation
