// The thread pool: every index once, joins that order memory, first come first served, parking.
#include "cpu/pool.h"

#include <chrono>
#include <thread>
#include <vector>

#include "support/check.h"

using tr::cpu::Pool;
using tr::cpu::Worker;

namespace {

#ifdef TR_SANITIZED
constexpr int kRuns = 100;
#else
constexpr int kRuns = 500;
#endif

// Loops of different lengths follow each other without a join; each index must be taken exactly once.
void every_index_once(int threads) {
    Pool pool(threads);
    CHECK_EQUAL(threads, pool.size());
    const int lengths[] = {0, 1, 5, 64, 3, 0, 7, 1, 1, 2, 9, 4, 4, 1, 6, 2, 3, 5, 8, 1}; // more than may follow without a join
    for (int run = 0; run < kRuns / 10; run++) {
        std::atomic<int> taken[20][64] = {};
        pool.run([&](Worker &w) {
            for (int loop = 0; loop < 20; loop++)
                for (int64_t i; (i = w.next(lengths[loop])) < lengths[loop];) taken[loop][i]++;
            w.join();
            for (int64_t i; (i = w.next(5)) < 5;) taken[0][i]++;
        });
        for (int loop = 0; loop < 20; loop++)
            for (int i = 0; i < 64; i++) CHECK_EQUAL((loop == 0 ? i < 5 : i < lengths[loop]) ? 1 : 0, taken[loop][i].load());
    }
}

// A prefix sum in which every phase reads what all workers wrote before the join.
void joins_order_memory(int threads) {
    Pool pool(threads);
    const uint64_t before = pool.joins();
    constexpr int kPhases = 8;
    for (int run = 0; run < kRuns; run++) {
        std::vector<int64_t> cells(static_cast<size_t>(threads), run), next(cells.size());
        pool.run([&](Worker &w) {
            for (int phase = 0; phase < kPhases; phase++) {
                int64_t sum = 0;
                for (int64_t c : cells) sum += c;
                next[static_cast<size_t>(w.index())] = sum % 1000003;
                w.join();
                cells[static_cast<size_t>(w.index())] = next[static_cast<size_t>(w.index())];
                w.join();
            }
        });
        int64_t expected = run;
        for (int phase = 0; phase < kPhases; phase++) expected = expected * threads % 1000003;
        for (int64_t c : cells) CHECK_EQUAL(expected, c);
    }
    CHECK_EQUAL(static_cast<uint64_t>(kRuns) * (2 * kPhases + 1), pool.joins() - before);
}

void callers_take_turns() {
    Pool pool(2);
    std::atomic<int> running{0}, most{0}, runs{0};
    std::vector<std::thread> callers;
    for (int i = 0; i < 4; i++)
        callers.emplace_back([&] {
            for (int run = 0; run < kRuns / 10; run++)
                pool.run([&](Worker &w) {
                    if (w.index() == 0) {
                        const int now = ++running;
                        if (now > most) most = now;
                        runs++;
                    }
                    w.join();
                    if (w.index() == 0) running--;
                });
        });
    for (std::thread &t : callers) t.join();
    CHECK_EQUAL(1, most.load());
    CHECK_EQUAL(4 * (kRuns / 10), runs.load());
}

// While one run is held up, callers queue; they are served in the order in which they came.
void first_come_first_served() {
    Pool pool(2);
    std::atomic<bool> hold{true};
    std::vector<int> order;
    std::vector<std::thread> callers;
    callers.emplace_back([&] {
        pool.run([&](Worker &w) {
            if (w.index() == 0)
                while (hold) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        });
    });
    for (int i = 0; i < 3; i++) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50)); // long enough to have queued
        callers.emplace_back([&, i] {
            pool.run([&](Worker &w) {
                if (w.index() == 0) order.push_back(i);
            });
        });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    hold = false;
    for (std::thread &t : callers) t.join();
    CHECK(order == (std::vector<int>{0, 1, 2}));
}

void idle_workers_park() {
    Pool pool(3);
    pool.run([](Worker &) {});
    std::this_thread::sleep_for(std::chrono::milliseconds(100)); // a thousand times what they spin
    CHECK(pool.parks() >= 2);
    const uint64_t before = pool.parks();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK_EQUAL(before, pool.parks()); // asleep, not waking and parking again
    int count = 0;
    pool.run([&](Worker &w) {
        if (w.index() == 0) count = w.count();
    });
    CHECK_EQUAL(3, count);
}

} // namespace

int main() {
    for (int threads = 1; threads <= 4; threads++) {
        every_index_once(threads);
        joins_order_memory(threads);
    }
    callers_take_turns();
    first_come_first_served();
    idle_workers_park();
    return tr::test::report();
}
