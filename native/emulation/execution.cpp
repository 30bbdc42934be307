#include "emulation/execution.h"

#include <bit>
#include <map>
#include <string>
#include <utility>

#include "emulation/fiber.h"
#include "emulation/report.h"
#include "emulation/tracking.h"

namespace tr::emulation {

Now now;

namespace {

enum class State : uint8_t { kReady, kAtBarrier, kInWarp, kReturned };

struct Thread {
    void *stack;
    uint3 index;
    State state;
    Place place;
    const char *name;   // of the warp's operation that it waits in
    uint32_t mask;
    void *part;
};

struct Warp {
    uint32_t ready, waiting; // lanes that can run, lanes that wait for others of the warp
    uint32_t epoch;
    // What the last lane that waits asks for: whoever asks for the same need not be compared with the others.
    const char *name;
    uint32_t mask;
    Place place;
};

// What of a block runs. There is one at a time, and so one of these.
struct Block {
    Stacks stacks;
    Thread threads[kMaxThreads];
    Warp warps[kMaxThreads / 32];
    int n_threads = 0, n_warps = 0, n_returned = 0, n_at_barrier = 0;
    int running = 0;
    bool active = false;
    void *host = nullptr; // stack of the launching thread
    const Launch *launch = nullptr;
    Order order = Order::kForward;
    uint64_t random = 1;
};
Block the_block;
Block &block() { return the_block; }

constexpr size_t kMaxSharedBytes = 99 << 10; // of a block, on processors of compute capability 8.6, 8.9 and 12.0: the smallest here

uint32_t random_bits() { // xorshift
    uint64_t &x = block().random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return static_cast<uint32_t>(x >> 16);
}

void activate(int i) {
    block().running = i;
    now.thread = block().threads[i].index;
}

void go_to(int i) {
    Block &b = block();
    if (i == b.running && b.threads[i].state == State::kReady) return;
    void **from = &b.threads[b.running].stack;
    activate(i);
    tr_emulation_switch(from, b.threads[i].stack);
}

[[noreturn]] void report_stuck(const char *what) {
    Block &b = block();
    std::map<std::string, std::pair<int, int>> groups; // what they do -> how many, the first
    for (int i = 0; i < b.n_threads; i++) {
        const Thread &t = b.threads[i];
        std::string doing = "have returned";
        if (t.state == State::kAtBarrier) doing = "wait at __syncthreads";
        if (t.state == State::kInWarp) doing = std::string("wait at ") + t.name;
        if (t.state != State::kReturned) doing += std::string(" ") + t.place.file + ":" + std::to_string(t.place.line);
        auto [at, added] = groups.try_emplace(doing, 0, i);
        at->second.first++;
    }
    for (const auto &[doing, count] : groups) note("  %d threads (the first is %d) %s", count.first, count.second, doing.c_str());
    fail("divergence: %s", what);
}

// The next lane of a warp in the order, after `lane`; the warp has one that is ready.
int pick_lane(uint32_t ready, int lane) {
    if (block().order == Order::kRandom) lane = static_cast<int>(random_bits() % 32);
    if (block().order == Order::kBackward) {
        const uint32_t rotated = std::rotl(ready, 32 - lane); // lane-1 on top
        return (lane + 31 - std::countl_zero(rotated)) % 32;
    }
    const int first = (lane + 1) % 32;
    return (first + std::countr_zero(std::rotr(ready, first))) % 32;
}

// Goes on with whoever can run. Returns when this thread can.
void yield() {
    Block &b = block();
    const int warp = b.running / 32;
    if (b.warps[warp].ready) return go_to(warp * 32 + pick_lane(b.warps[warp].ready, b.running % 32));
    const int start = b.order == Order::kRandom ? static_cast<int>(random_bits() % static_cast<uint32_t>(b.n_warps)) : warp;
    for (int i = 1; i <= b.n_warps; i++) {
        const int w = (start + (b.order == Order::kBackward ? b.n_warps - i : i)) % b.n_warps;
        if (b.warps[w].ready) return go_to(w * 32 + pick_lane(b.warps[w].ready, b.order == Order::kBackward ? 0 : 31));
    }
    if (b.n_returned == b.n_threads) {
        void *gone;
        tr_emulation_switch(&gone, b.host);
    }
    report_stuck("no thread of the block can go on");
}

uint32_t bit_of(int thread) { return 1u << thread % 32; }

void begin() {
    block().launch->body();
    Block &b = block();
    b.threads[b.running].state = State::kReturned;
    b.warps[b.running / 32].ready &= ~bit_of(b.running);
    b.n_returned++;
    yield();
    __builtin_unreachable();
}

void check_launch(const Launch &l) {
    const unsigned threads = l.block.x * l.block.y * l.block.z;
    if (threads == 0 || threads > kMaxThreads || threads % 32) fail("a block of %u threads; expected a multiple of 32 up to %d", threads, kMaxThreads);
    if (!l.grid.x || !l.grid.y || !l.grid.z || l.grid.x > 0x7fffffff || l.grid.y > 65535 || l.grid.z > 65535) {
        fail("a grid of %u x %u x %u blocks; expected 1 to 2^31-1, 65535 and 65535", l.grid.x, l.grid.y, l.grid.z);
    }
    if (l.shared_bytes > kMaxSharedBytes) fail("%zu bytes of dynamic shared memory; a block has at most %zu", l.shared_bytes, kMaxSharedBytes);
}

void run_block(uint3 index) {
    Block &b = block();
    now.block = index;
    b.n_returned = b.n_at_barrier = 0;
    begin_block();
    for (int i = 0; i < b.n_threads; i++) {
        b.threads[i].state = State::kReady;
        b.threads[i].stack = b.stacks.prepare(i, begin);
    }
    for (int w = 0; w < b.n_warps; w++) b.warps[w] = {~0u, 0, 0, nullptr, 0, {}};
    const int first = b.order == Order::kBackward ? b.n_threads - 1
                      : b.order == Order::kRandom ? static_cast<int>(random_bits() % static_cast<uint32_t>(b.n_threads))
                                                  : 0;
    b.active = true;
    activate(first);
    tr_emulation_switch(&b.host, b.threads[first].stack);
    b.active = false;
}

} // namespace

int lane() { return block().running % 32; }

void set_order(Order order, uint64_t seed) {
    block().order = order;
    block().random = seed * 0x9E3779B97F4A7C15 | 1;
}

void run(const Launch &launch) {
    Block &b = block();
    b.launch = &launch;
    check_launch(launch);
    now.grid_size = launch.grid;
    now.block_size = launch.block;
    b.n_threads = static_cast<int>(launch.block.x * launch.block.y * launch.block.z);
    b.n_warps = b.n_threads / 32;
    for (int i = 0; i < b.n_threads; i++) {
        const auto n = static_cast<unsigned>(i);
        b.threads[i].index = {n % launch.block.x, n / launch.block.x % launch.block.y, n / launch.block.x / launch.block.y};
    }
    begin_launch(launch.kernel, launch.shared_bytes);
    const uint64_t blocks = uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    for (uint64_t i = 0; i < blocks; i++) {
        const uint64_t at = b.order == Order::kBackward ? blocks - 1 - i : i;
        run_block({static_cast<unsigned>(at % launch.grid.x), static_cast<unsigned>(at / launch.grid.x % launch.grid.y),
                   static_cast<unsigned>(at / launch.grid.x / launch.grid.y)});
    }
    end_launch();
    b.launch = nullptr;
}

void block_barrier(Place place) {
    Block &b = block();
    Thread &t = b.threads[b.running];
    t.place = place;
    t.state = State::kAtBarrier;
    if (++b.n_at_barrier < b.n_threads) {
        b.warps[b.running / 32].ready &= ~bit_of(b.running);
        return yield();
    }
    for (int i = 0; i < b.n_threads; i++) {
        if (b.threads[i].place != place) report_stuck("threads of a block wait at different barriers");
    }
    for (int i = 0; i < b.n_threads; i++) b.threads[i].state = State::kReady;
    for (int w = 0; w < b.n_warps; w++) b.warps[w].ready = ~0u;
    b.n_at_barrier = 0;
    pass_barrier();
    if (b.order != Order::kForward) {
        go_to(b.order == Order::kBackward ? b.n_threads - 1 : static_cast<int>(random_bits() % static_cast<uint32_t>(b.n_threads)));
    }
}

void together(const char *name, uint32_t mask, void *part, void (*carry_out)(void *const *parts, uint32_t mask), Place place) {
    Block &b = block();
    Thread &t = b.threads[b.running];
    Warp &w = b.warps[b.running / 32];
    Thread *lanes = b.threads + b.running / 32 * 32;
    const uint32_t bit = bit_of(b.running);
    if (!(mask & bit)) fail("%s at %s:%d: the calling lane %d is not in mask %08x", name, place.file, place.line, lane(), mask);
    t.name = name;
    t.mask = mask;
    t.place = place;
    t.part = part;
    const bool compared = w.waiting && w.name == name && w.mask == mask && w.place == place;
    for (uint32_t rest = compared ? 0 : w.waiting & mask; rest; rest &= rest - 1) {
        const Thread &o = lanes[std::countr_zero(rest)];
        if (!(o.mask & bit) || (o.name == name && o.mask == mask && o.place == place)) continue;
        fail("divergence within a warp: lane %d is at %s (mask %08x) %s:%d, lane %d waits at %s (mask %08x) %s:%d", lane(), name, mask, place.file,
             place.line, std::countr_zero(rest), o.name, o.mask, o.place.file, o.place.line);
    }
    w.waiting |= bit;
    w.name = name;
    w.mask = mask;
    w.place = place;
    if ((w.waiting & mask) != mask) {
        t.state = State::kInWarp;
        w.ready &= ~bit;
        return yield();
    }
    void *parts[32];
    for (uint32_t rest = mask; rest; rest &= rest - 1) parts[std::countr_zero(rest)] = lanes[std::countr_zero(rest)].part;
    carry_out(parts, mask);
    for (uint32_t rest = mask; rest; rest &= rest - 1) lanes[std::countr_zero(rest)].state = State::kReady;
    w.waiting &= ~mask;
    w.ready |= mask;
    if (name == kSyncWarp) w.epoch++;
}

bool in_kernel() { return block().active; }
int running_thread() { return block().running; }
uint32_t warp_epoch() { return block().warps[block().running / 32].epoch; }
const Launch &running_launch() { return *block().launch; }
bool on_own_stack(const void *p) { return block().stacks.find(p) == block().running; }
bool on_any_stack(const void *p) { return block().stacks.find(p) >= 0; }
bool on_launching_stack(const void *p) {
    constexpr uintptr_t kNear = 1 << 20;
    return reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(block().host) < kNear;
}

} // namespace tr::emulation
