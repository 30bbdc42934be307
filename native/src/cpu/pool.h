// The one thread pool of the process, and a worker's view of a running step.
//
// A whole forward pass is one pool run: every worker executes the same function top to bottom and meets the others at
// join(). The calling thread is worker 0. Idle workers spin for a few microseconds, then park on a futex, since Go, the
// tokenizer and HTTP need the same cores.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

namespace tr::cpu {

class Pool;

// One thread's part in a pool run. Valid only during the run.
class Worker {
public:
    int index() const { return index_; }      // 0 .. count()-1
    int count() const;                        // workers of this run
    void join();                              // waits until all workers have arrived; also resets the chunk counter
    // Next index of [0, n) that nobody has taken since the last join, or n. Work is handed out one index at a time, so
    // that a slow core takes less. What an index computes must not depend on who takes it.
    int64_t next(int64_t n);

private:
    friend class Pool;
    Worker(Pool &pool, int index) : pool_(pool), index_(index) {}
    Pool &pool_;
    int index_;
};

class Pool {
public:
    explicit Pool(int n_threads);             // n_threads >= 1, the caller of run() included
    ~Pool();
    int size() const;
    uint64_t joins() const;
    uint64_t parks() const;
    // Runs body on all workers and returns when all are done. One run at a time: a second caller waits its turn, first
    // come, first served. body must not throw and must call join() equally often on every worker.
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
