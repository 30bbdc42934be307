// The one thread pool of the process, and a worker's view of a running step.
//
// A whole forward pass is one pool run: every worker executes the same function top to bottom and meets the others at
// join(). The calling thread is worker 0. Whoever waits spins for a few microseconds, then parks on a futex, since Go, the
// tokenizer and HTTP need the same cores, and since a hypervisor may take a core away for a while.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace tr::cpu {

class Pool;

// One thread's part in a pool run. Valid only during the run.
class Worker {
public:
    // The worker of a run of one. For an operator that every worker of a run carries out on its own, into memory of its own,
    // because that takes less time than sharing the work and meeting the others.
    static Worker alone() { return Worker(nullptr, 0); }

    int index() const { return index_; }      // 0 .. count()-1
    int count() const;                        // workers of this run
    void join();                              // waits until all workers have arrived
    // The next index of a shared loop over [0, n) that nobody has taken yet, or n when none is left. Work is handed out
    // one index at a time, so that a slow core takes less; what an index computes must not depend on who takes it.
    //
    // The call that returns n ends this worker's part in the loop, and its next call begins the next loop. So all workers
    // must run the same loops to their ends: `while ((i = w.next(n)) < n)`. Loops may follow each other without a join
    // between them; a worker that is done with one goes on to the next.
    int64_t next(int64_t n);

private:
    friend class Pool;
    Worker(Pool *pool, int index) : pool_(pool), index_(index) {}
    Pool *pool_;                              // NULL: alone
    int index_;
    uint32_t loop_ = 0;                       // loops ended since the last join
    int64_t taken_ = 0;                       // alone: indices of this loop that were handed out
};

class Pool {
public:
    explicit Pool(int n_threads);             // n_threads >= 1, the caller of run() included; throws std::system_error
    ~Pool();                                  // no run may be in progress
    Pool(const Pool &) = delete;
    Pool &operator=(const Pool &) = delete;
    int size() const;
    uint64_t joins() const;                   // joins completed, the one that ends each run included
    uint64_t parks() const;                   // times a thread went to sleep: between runs, in a join, or waiting for its turn
    // Runs body on all workers and returns when all are done. One run at a time: a second caller waits its turn, first
    // come, first served. body must not throw and must call join() equally often on every worker. Not from within a run.
    void run(void (*body)(Worker &, void *), void *context);
    template <class F> void run(F &&f) {
        run([](Worker &w, void *c) { (*static_cast<std::remove_reference_t<F> *>(c))(w); }, &f);
    }

private:
    friend class Worker;
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace tr::cpu
