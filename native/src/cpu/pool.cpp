#include "cpu/pool.h"

#include <chrono>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tr::cpu {

namespace {

using Clock = std::chrono::steady_clock;

// Between steps a worker spins this long before it parks: about what the caller needs to come back with the next batch.
constexpr auto kIdleSpin = std::chrono::microseconds(10);
// In a join: longer than the usual imbalance of two workers, shorter than a scheduler's time slice. Sleeping and being
// woken costs tens of microseconds on a virtual machine.
constexpr auto kJoinSpin = std::chrono::microseconds(50);
constexpr auto kNoSpin = std::chrono::microseconds(0);
// A worker that spins longer than this gives its core up between looks: the scheduler may have put the one it waits for on
// the same core, and then every join would cost the whole of kJoinSpin (55 microseconds seen; 14 so).
constexpr auto kSelfishSpin = std::chrono::microseconds(4);

// Shared loops that may follow each other without a join. One more and next() joins by itself.
constexpr uint32_t kLoops = 16;

void pause_core() {
#if defined(__x86_64__)
    _mm_pause();
#endif
}

// A word that threads wait on until it changes.
class alignas(64) Gate {
public:
    uint32_t load() const { return word_.load(std::memory_order_acquire); }

    void advance() {
        word_.fetch_add(1, std::memory_order_seq_cst);
        // A waiter announces itself before the kernel checks the word once more, so either it is seen here or it sees
        // the new word.
        if (sleepers_.load(std::memory_order_seq_cst) > 0)
            syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
    }

    // Returns once the word is no longer `seen`: after spinning for `spin`, asleep.
    void wait(uint32_t seen, Clock::duration spin, std::atomic<uint64_t> &parks) {
        if (spin_until_changed(seen, spin)) return;
        sleepers_.fetch_add(1, std::memory_order_seq_cst);
        while (word_.load(std::memory_order_seq_cst) == seen) {
            parks.fetch_add(1, std::memory_order_relaxed);
            syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
        }
        sleepers_.fetch_sub(1, std::memory_order_relaxed);
    }

private:
    bool spin_until_changed(uint32_t seen, Clock::duration spin) {
        if (load() != seen) return true;
        if (spin == Clock::duration::zero()) return false;
        const auto start = Clock::now(), end = start + spin;
        auto now = start;
        do {
            for (int i = 0; i < 16; i++) { // reading the clock costs about as much as a pause
                if (load() != seen) return true;
                pause_core();
            }
            if (now - start >= kSelfishSpin) sched_yield();
            now = Clock::now();
        } while (now < end);
        return false;
    }

    std::atomic<uint32_t> word_{0};
    std::atomic<uint32_t> sleepers_{0};
};
static_assert(sizeof(std::atomic<uint32_t>) == 4, "the futex word");

struct alignas(64) LoopCounter {
    std::atomic<int64_t> taken{0};
};

struct alignas(64) Core {
    std::atomic<int> last{-1};                   // where a worker was seen last
};

} // namespace

struct Pool::State {
    explicit State(int n) : count(n), cores(static_cast<size_t>(n)) {}

    const int count;
    std::vector<Core> cores;                     // by worker
    std::vector<Worker> workers;
    std::vector<std::thread> threads;

    // What the current run executes. Written before `start` advances.
    void (*body)(Worker &, void *) = nullptr;
    void *context = nullptr;
    bool stop = false;

    Gate start;                                  // advances with every run
    Gate joined;                                 // advances with every join
    alignas(64) std::atomic<int> arrived{0};     // workers in the current join
    LoopCounter loops[kLoops];                   // zero from `loop_` of the slowest worker on

    // Callers' turns: a ticket lock.
    alignas(64) std::atomic<uint32_t> next_ticket{0};
    Gate serving;

    alignas(64) std::atomic<uint64_t> joins{0};
    std::atomic<uint64_t> parks{0};

    // How long a worker may spin. On a busy machine two workers may have been put on one core, where the one that spins
    // keeps off the one it waits for.
    Clock::duration spin_of(int index, Clock::duration spin) {
        const int here = sched_getcpu();
        cores[static_cast<size_t>(index)].last.store(here, std::memory_order_relaxed);
        for (int i = 0; i < count; i++)
            if (i != index && cores[static_cast<size_t>(i)].last.load(std::memory_order_relaxed) == here) return kNoSpin;
        return spin;
    }

    void join(int index, uint32_t loops_used) {
        const uint32_t seen = joined.load();
        const Clock::duration spin = spin_of(index, kJoinSpin);
        if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < count) {
            joined.wait(seen, spin, parks);
            return;
        }
        // Last to arrive: nobody else touches the counters until the gate opens.
        for (uint32_t i = 0; i < loops_used; i++) loops[i].taken.store(0, std::memory_order_relaxed);
        arrived.store(0, std::memory_order_relaxed);
        joins.fetch_add(1, std::memory_order_relaxed);
        joined.advance();
    }

    void work(Worker &worker) {
        body(worker, context);
        worker.join(); // ends the run: the caller returns when all have arrived
    }
};

Pool::Pool(int n_threads) : state_(std::make_unique<State>(n_threads < 1 ? 1 : n_threads)) {
    State &s = *state_;
    for (int i = 0; i < s.count; i++) s.workers.push_back(Worker(this, i));
    s.threads.reserve(static_cast<size_t>(s.count - 1));
    const auto idle = [&s](int index) {
        for (uint32_t seen = 0;; seen++) {
            s.start.wait(seen, s.spin_of(index, kIdleSpin), s.parks);
            if (s.stop) return;
            s.work(s.workers[static_cast<size_t>(index)]);
        }
    };
    try {
        for (int i = 1; i < s.count; i++) s.threads.emplace_back(idle, i);
    } catch (...) {
        s.stop = true;
        s.start.advance();
        for (std::thread &t : s.threads) t.join();
        throw;
    }
}

Pool::~Pool() {
    state_->stop = true;
    state_->start.advance();
    for (std::thread &t : state_->threads) t.join();
}

int Pool::size() const { return state_->count; }
uint64_t Pool::joins() const { return state_->joins.load(std::memory_order_relaxed); }
uint64_t Pool::parks() const { return state_->parks.load(std::memory_order_relaxed); }

void Pool::run(void (*body)(Worker &, void *), void *context) {
    State &s = *state_;
    const uint32_t ticket = s.next_ticket.fetch_add(1, std::memory_order_relaxed);
    for (uint32_t now; (now = s.serving.load()) != ticket;) s.serving.wait(now, kNoSpin, s.parks);
    s.body = body;
    s.context = context;
    s.start.advance();
    s.work(s.workers[0]);
    s.serving.advance();
}

int Worker::count() const { return pool_ ? pool_->state_->count : 1; }

void Worker::join() {
    const uint32_t used = loop_;
    loop_ = 0;
    if (pool_) pool_->state_->join(index_, used);
}

int64_t Worker::next(int64_t n) {
    if (!pool_) {
        if (taken_ < n) return taken_++;
        taken_ = 0;
        return n;
    }
    if (loop_ == kLoops) join();
    const int64_t i = pool_->state_->loops[loop_].taken.fetch_add(1, std::memory_order_relaxed);
    if (i < n) return i;
    loop_++;
    return n;
}

} // namespace tr::cpu
