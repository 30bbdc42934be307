#include "emulation/tracking.h"

#include <sys/mman.h>

#include <cstring>
#include <new>
#include <unordered_map>

#include "emulation/device_memory.h"
#include "emulation/execution.h"
#include "emulation/report.h"

extern "C" char __executable_start, _end;

namespace tr::emulation {

namespace {

constexpr size_t kPage = 4096, kStaticBytes = 48 << 10, kDynamicBytes = 128 << 10, kSharedBytes = kStaticBytes + kDynamicBytes;

// Epochs count blocks and barriers over all launches: an epoch at or above the running block's first is this block's.
using Epoch = uint32_t;
bool enabled = false;
Epoch epoch = 1, block_begin = 1, launch_begin = 1;

// Who read a byte last, if more than one thread did.
enum Readers : uint8_t { kOne, kOneWarp, kManyWarps };

struct Access {
    Epoch epoch;                // 0: none
    uint32_t pc;                // from the beginning of the program
    uint16_t thread, warp_epoch;
};
struct Cell {
    Access write, read;
    Epoch atomic;               // of the last atomic operation, 0: none
    Readers readers;
    bool written;
};

template <class T> T *reserve(size_t count) {
    void *p = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    return static_cast<T *>(p);
}

// Static arrays from the front, the dynamic one so that it ends at the last page.
struct Shared {
    unsigned char *base;
    Cell *cells = reserve<Cell>(kSharedBytes);
    std::unordered_map<const void *, size_t> tops; // of each kernel's static arrays, as far as they are known
    const void *kernel = nullptr;
    size_t static_top = 0, dynamic_bytes = 0;

    Shared() {
        base = reserve<unsigned char>(kSharedBytes + 2 * kPage) + kPage;
        mprotect(base - kPage, kPage, PROT_NONE);
        mprotect(base + kSharedBytes, kPage, PROT_NONE);
    }
    size_t dynamic_begin() const { return kSharedBytes - (dynamic_bytes + 15) / 16 * 16; }
};
Shared &shared() {
    static Shared s;
    return s;
}
Cell *global_cells() {
    static Cell *cells = reserve<Cell>(DeviceMemory::kBytes);
    return cells;
}

uint32_t short_pc(const void *pc) { return static_cast<uint32_t>(static_cast<const char *>(pc) - &__executable_start); }
const void *long_pc(uint32_t pc) { return &__executable_start + pc; }

// Whether an earlier access of this epoch comes before the running thread's of necessity.
bool ordered(const Access &a, int thread) {
    return a.thread == thread || (a.thread / 32 == thread / 32 && a.warp_epoch != static_cast<uint16_t>(warp_epoch()));
}

void note_read(Cell &c, const Access &by) {
    if (c.read.epoch != epoch) c.readers = kOne;
    else if (c.read.thread / 32 != by.thread / 32) c.readers = kManyWarps;
    else if (c.readers != kManyWarps && c.read.warp_epoch != by.warp_epoch) c.readers = kOne; // all earlier reads of the warp come before its __syncwarp
    else if (c.readers == kOne && c.read.thread != by.thread) c.readers = kOneWarp;
    c.read = by;
}

// One byte of an atomic operation. These are ordered among themselves.
void track_atomic_byte(Cell &c, const Access &by, const char *where, size_t at) {
    if (!c.written) fail_at(long_pc(by.pc), nullptr, "an atomic operation on uninitialised %s memory (byte %zu)", where, at);
    if (c.write.epoch == epoch && !ordered(c.write, by.thread)) {
        fail_at(long_pc(by.pc), long_pc(c.write.pc), "a race: an atomic operation by thread %u after a write by thread %u, no barrier between (byte %zu of %s memory)",
                by.thread, c.write.thread, at, where);
    }
    c.atomic = epoch;
}

// One byte. `where` names the memory for messages, `at` the byte.
void track_byte(Cell &c, bool write, const Access &by, const char *where, size_t at) {
    const char *what = write ? "write" : "read";
    if (c.atomic == epoch) {
        fail_at(long_pc(by.pc), nullptr, "a race: a %s by thread %u after an atomic operation, no barrier between (byte %zu of %s memory)", what, by.thread, at, where);
    }
    if (!write && !c.written) fail_at(long_pc(by.pc), nullptr, "a read of uninitialised %s memory (byte %zu)", where, at);
    if (c.write.epoch >= launch_begin && c.write.epoch < block_begin) {
        fail_at(long_pc(by.pc), long_pc(c.write.pc), "a race between blocks: a %s of byte %zu of %s memory after another block's write in this launch", what, at, where);
    }
    if (write && c.read.epoch >= launch_begin && c.read.epoch < block_begin) {
        fail_at(long_pc(by.pc), long_pc(c.read.pc), "a race between blocks: a write of byte %zu of %s memory after another block's read in this launch", at, where);
    }
    if (c.write.epoch == epoch && !ordered(c.write, by.thread)) {
        fail_at(long_pc(by.pc), long_pc(c.write.pc), "a race: a %s by thread %u after a write by thread %u, no barrier between (byte %zu of %s memory)", what,
                by.thread, c.write.thread, at, where);
    }
    if (!write) return note_read(c, by);
    // Of one warp's readers only the last is known by name; all of them read within one of the warp's epochs.
    const bool alone = c.readers == kOne ? ordered(c.read, by.thread)
                                         : c.readers == kOneWarp && c.read.thread / 32 == by.thread / 32 &&
                                               c.read.warp_epoch != static_cast<uint16_t>(warp_epoch());
    if (c.read.epoch == epoch && !alone) {
        fail_at(long_pc(by.pc), long_pc(c.read.pc), "a race: a write by thread %u after a read by thread %u%s, no barrier between (byte %zu of %s memory)",
                by.thread, c.read.thread, c.readers == kOne ? "" : " and others", at, where);
    }
    c.write = by;
    c.written = true;
}

void track_shared(size_t at, size_t n, bool write, const Access &by, bool atomic) {
    Shared &s = shared();
    const size_t begin = s.dynamic_begin();
    if (at + n > s.static_top && (at < begin || at + n > begin + s.dynamic_bytes)) {
        fail_at(long_pc(by.pc), nullptr, "shared memory: a %s of %zu bytes at byte %td of the %zu dynamic ones", write ? "write" : "read", n,
                static_cast<ptrdiff_t>(at) - static_cast<ptrdiff_t>(begin), s.dynamic_bytes);
    }
    for (size_t i = at; i < at + n; i++) {
        Cell &c = s.cells[i];
        if (c.write.epoch < block_begin) c.written = false; // every block begins with nothing, in memory of its own
        if (c.write.epoch < block_begin) c.write.epoch = 0;
        if (c.read.epoch < block_begin) c.read.epoch = 0;
        if (atomic) track_atomic_byte(c, by, "shared", at < begin ? i : i - begin);
        else track_byte(c, write, by, "shared", at < begin ? i : i - begin);
    }
}

void track_any(const void *p, size_t n, bool write, const void *pc, bool atomic) {
    if (!in_kernel()) return;
    DeviceMemory &memory = device_memory();
    const Access by{epoch, short_pc(pc), static_cast<uint16_t>(running_thread()), static_cast<uint16_t>(warp_epoch())};
    if (memory.contains(p)) {
        memory.check(p, n, write ? "write" : "read", pc);
        Cell *cells = global_cells() + memory.offset(p);
        const auto at = static_cast<size_t>(static_cast<const unsigned char *>(p) - memory.find(p)->begin);
        for (size_t i = 0; i < n; i++) {
            if (atomic) track_atomic_byte(cells[i], by, "device", at + i);
            else track_byte(cells[i], write, by, "device", at + i);
        }
        return;
    }
    if (is_shared(p)) return track_shared(static_cast<size_t>(static_cast<const unsigned char *>(p) - shared().base), n, write, by, atomic);
    const char *address = static_cast<const char *>(p);
    if (on_own_stack(p) || (address >= &__executable_start && address < &_end) || on_launching_stack(p)) return;
    if (on_any_stack(p)) fail_at(pc, nullptr, "an access to another thread's local memory at %p", p);
    fail_at(pc, nullptr, "a kernel follows a pointer to host memory, %p", p);
}

} // namespace

unsigned char *dynamic_shared() { return shared().base + shared().dynamic_begin(); }
bool is_shared(const void *p) { return static_cast<size_t>(static_cast<const unsigned char *>(p) - shared().base) < kSharedBytes; }

unsigned char *static_shared(const StaticArray &array) {
    if (array.kernel != shared().kernel) fail("a static shared array is used by two kernels; declare it in each");
    return shared().base + array.at;
}

StaticArray reserve_static_shared(size_t bytes) {
    Shared &s = shared();
    const size_t at = s.static_top;
    s.static_top += (bytes + 15) / 16 * 16;
    if (s.static_top > kStaticBytes) fail("the kernel's static shared arrays take %zu bytes; %zu are allowed", s.static_top, kStaticBytes);
    s.tops[s.kernel] = s.static_top;
    std::memset(s.base + at, 0xff, bytes);
    return {at, s.kernel};
}

void begin_launch(const void *kernel, size_t shared_bytes) {
    Shared &s = shared();
    s.kernel = kernel;
    s.static_top = s.tops[kernel];
    s.dynamic_bytes = shared_bytes;
    launch_begin = ++epoch;
}

void begin_block() {
    block_begin = ++epoch;
    Shared &s = shared();
    std::memset(s.base, 0xff, s.static_top);
    std::memset(s.base + s.dynamic_begin(), 0xff, kSharedBytes - s.dynamic_begin());
}

void pass_barrier() { epoch++; }
void end_launch() { launch_begin = block_begin = ++epoch; }

void enable_tracking() { enabled = true; }
bool tracking() { return enabled; }

void track(const void *p, size_t n, bool write, const void *pc) { track_any(p, n, write, pc, false); }
void track_atomic(const void *p, size_t n, const void *pc) { track_any(p, n, true, pc, true); }

void mark_written(const void *p, size_t n) {
    if (!enabled) return;
    Cell *cells = global_cells() + device_memory().offset(p);
    for (size_t i = 0; i < n; i++) {
        cells[i] = {};
        cells[i].written = true;
    }
}

void copy_marks(const void *to, const void *from, size_t n) {
    if (!enabled) return;
    Cell *t = global_cells() + device_memory().offset(to);
    const Cell *f = global_cells() + device_memory().offset(from);
    for (size_t i = 0; i < n; i++) {
        const bool written = f[i].written;
        t[i] = {};
        t[i].written = written;
    }
}

void copy_bytes(void *to, const void *from, size_t n) { std::memcpy(to, from, n); }

} // namespace tr::emulation
