// Tests of the emulation itself: kernels that are right give the right answer in every order, and every fault is found. Faults end the
// process, so each runs in a child. Built twice: with kernels as they are, and with every load and store checked (TR_CHECKED).
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cstdio>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "emulation/execution.h"
#include "emulation/report.h"
#include "emulation/streams.h"
#include "emulation/tests/faults.h"
#include "quant/types.h"
#include "support/check.h"

namespace tr::emulation::test {

using namespace tr::test;

namespace {

#if defined(TR_CHECKED)
constexpr bool kChecked = true;
#else
constexpr bool kChecked = false;
#endif

// Device memory of n values, filled from the host or not.
template <class T> class Device {
public:
    explicit Device(size_t n) : n_(n) { cudaMalloc(reinterpret_cast<void **>(&p_), n * sizeof(T)); }
    Device(const std::vector<T> &values, cudaStream_t stream) : Device(values.size()) {
        cudaMemcpyAsync(p_, values.data(), n_ * sizeof(T), cudaMemcpyHostToDevice, stream);
    }
    ~Device() { cudaFree(p_); }
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;
    T *get() const { return p_; }
    std::vector<T> values(cudaStream_t stream) const {
        std::vector<T> v(n_);
        cudaMemcpyAsync(v.data(), p_, n_ * sizeof(T), cudaMemcpyDeviceToHost, stream);
        cudaStreamSynchronize(stream);
        return v;
    }

private:
    T *p_ = nullptr;
    size_t n_;
};

struct Stream {
    cudaStream_t stream;
    Stream() { cudaStreamCreate(&stream); }
    ~Stream() { cudaStreamDestroy(stream); }
    operator cudaStream_t() const { return stream; }
};

std::vector<int> counting(size_t n) {
    std::vector<int> v(n);
    std::iota(v.begin(), v.end(), 1);
    return v;
}

template <class F> void in_every_order(F &&f) {
    for (const Order order : {Order::kForward, Order::kBackward}) {
        set_order(order);
        f();
    }
    for (uint64_t seed = 1; seed <= 3; seed++) {
        set_order(Order::kRandom, seed);
        f();
    }
    set_order(Order::kForward);
}

void test_right_kernels() {
    const Stream stream;
    for (const int n : {32, 96, 128, 160, 1024}) {
        const Device<int> in(counting(static_cast<size_t>(n)), stream), out(static_cast<size_t>(n)), sums(static_cast<size_t>(n / 32));
        sum_by_warps(in.get(), sums.get(), n, stream);
        for (int i = 0; i < n / 32; i++) CHECK_EQUAL(32 * 32 * i + 32 * 33 / 2, sums.values(stream)[static_cast<size_t>(i)]); // 32i+1 to 32i+32
        reverse(in.get(), out.get(), n, 1, stream);
        for (int i = 0; i < n; i++) CHECK_EQUAL(n - i, out.values(stream)[static_cast<size_t>(i)]);
        add_all(in.get(), sums.get(), n, stream);
        CHECK_EQUAL(n * (n + 1) / 2, sums.values(stream)[0]);
        if (n % 64) continue;
        reverse(in.get(), out.get(), n / 2, 2, stream);
        for (int i = 0; i < n; i++) CHECK_EQUAL(i < n / 2 ? n / 2 - i : n + n / 2 - i, out.values(stream)[static_cast<size_t>(i)]);
    }
}

void test_exchange() {
    const Stream stream;
    const std::vector<int> v = counting(64);
    const Device<int> in(v, stream), out(192);
    exchange(in.get(), out.get(), stream);
    const std::vector<int> got = out.values(stream);
    for (size_t i = 0; i < 64; i++) {
        CHECK_EQUAL(i % 32 < 28 ? v[i + 4] : v[i], got[3 * i]);
        CHECK_EQUAL(v[i ^ 3], got[3 * i + 1]);
        CHECK_EQUAL(v[i] & 1, got[3 * i + 2]);
    }
}

// Where the elements of a matrix are among the lanes is checked against the plain product.
void test_product() {
    const Stream stream;
    std::vector<int8_t> a(16 * 32), b(8 * 32);
    for (size_t i = 0; i < a.size(); i++) a[i] = static_cast<int8_t>(i * 37 + i / 32 * 11);
    for (size_t i = 0; i < b.size(); i++) b[i] = static_cast<int8_t>(i * 91 + i / 32 * 5);
    const Device<int8_t> in_a(a, stream), in_b(b, stream);
    const Device<int> out(256);
    multiply(in_a.get(), in_b.get(), out.get(), stream);
    const std::vector<int> got = out.values(stream);
    for (size_t depth : {32u, 16u}) {
        for (size_t row = 0; row < 16; row++) {
            for (size_t column = 0; column < 8; column++) {
                int sum = 0;
                for (size_t k = 0; k < depth; k++) sum += a[row * 32 + k] * b[column * 32 + k];
                CHECK_EQUAL(sum, got[(depth == 16 ? 128 : 0) + row * 8 + column]);
            }
        }
    }
}

// Half floats and brain floats that are small integers, so that every sum is exact, on top of what was there.
void test_product_of_halves() {
    const Stream stream;
    std::vector<int> a(16 * 16), b(8 * 16);
    std::vector<float> d(16 * 8);
    for (size_t i = 0; i < a.size(); i++) a[i] = static_cast<int>(i * 37 % 23) - 11;
    for (size_t i = 0; i < b.size(); i++) b[i] = static_cast<int>(i * 91 % 31) - 15;
    for (size_t i = 0; i < d.size(); i++) d[i] = static_cast<float>(i);
    for (const bool brain : {false, true}) {
        const auto bits = [brain](const std::vector<int> &values) {
            std::vector<uint16_t> halves;
            for (const int v : values) {
                const auto f = static_cast<float>(v);
                halves.push_back(brain ? static_cast<uint16_t>(std::bit_cast<uint32_t>(f) >> 16) : quant::float_to_half(f));
            }
            return halves;
        };
        const Device<uint16_t> in_a(bits(a), stream), in_b(bits(b), stream);
        const Device<float> out(d, stream);
        multiply_halves(in_a.get(), in_b.get(), out.get(), brain, stream);
        const std::vector<float> got = out.values(stream);
        for (size_t row = 0; row < 16; row++) {
            for (size_t column = 0; column < 8; column++) {
                int sum = static_cast<int>(row * 8 + column);
                for (size_t k = 0; k < 16; k++) sum += a[row * 16 + k] * b[column * 16 + k];
                CHECK_EQUAL(static_cast<float>(sum), got[row * 8 + column]);
            }
        }
    }
}

// What a child process does: its exit code, and what it said on stderr.
struct Outcome {
    int code;
    std::string said;
};
Outcome in_child(const std::function<void()> &body) {
    int ends[2];
    if (pipe(ends) != 0) return {-1, "no pipe"};
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        body();
        _exit(0);
    }
    close(ends[1]);
    Outcome outcome{};
    char buffer[4096];
    for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) outcome.said.append(buffer, static_cast<size_t>(n));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return outcome;
}

struct Case {
    Fault fault;
    const char *says;   // a part of the report
    bool checked_only;  // found by checking every access, not by guard pages
};
constexpr Case kCases[] = {
    {Fault::kReadBeyondEnd, "at byte 256 of an allocation of 256", false},
    {Fault::kReadFreed, "that was freed", false},
    {Fault::kReadUninitialised, "a read of uninitialised device memory", true},
    {Fault::kReadHost, "a kernel follows a pointer to host memory", true},
    {Fault::kMisalignedVector, "a load of 16 bytes", false},
    {Fault::kMissingBarrierBeforeRead, "shared memory", true},
    {Fault::kMissingBarrierBeforeWrite, "no barrier between", true},
    {Fault::kMissingSyncWarp, "shared memory", true},
    {Fault::kGlobalRaceInBlock, "no barrier between", true},
    {Fault::kRaceBetweenBlocks, "a race between blocks", true},
    {Fault::kSharedBeyondEnd, "shared memory: a write of 4 bytes at byte 252 of the 252 dynamic ones", true},
    {Fault::kMissingBarrierBeforeAtomic, "shared memory", true},
    {Fault::kMissingBarrierAfterAtomic, "shared memory", true},
    {Fault::kUninitialisedShared, "uninitialised shared memory", true},
    {Fault::kLaneSkipsShuffle, "divergence", false},
    {Fault::kLaneNotInMask, "is not in mask 0000ffff", false},
    {Fault::kWarpSkipsBarrier, "32 threads (the first is 32) have returned", false},
    {Fault::kDifferentBarriers, "different barriers", false},
    {Fault::kOtherThreadsLocal, "another thread's local memory", true},
    {Fault::kTooMuchStack, "the stack of a thread is too small", false},
};

void run_in_child(const Case &c) {
    const Stream stream;
    const std::vector<int> host = counting(64);
    const Device<int> out(std::vector<int>(256), stream), unset(64);
    auto *in = new Device<int>(host, stream);
    const int *from = in->get();
    if (c.fault == Fault::kReadFreed) delete in;
    if (c.fault == Fault::kReadUninitialised) from = unset.get();
    if (c.fault == Fault::kReadHost) from = host.data();
    run_fault(c.fault, from, out.get(), stream);
    cudaStreamSynchronize(stream);
}

void test_faults() {
    for (const Case &c : kCases) {
        if (c.checked_only && !kChecked) continue;
        in_every_order([&] {
            const Outcome outcome = in_child([&] { run_in_child(c); });
            const std::string which = "fault " + std::to_string(static_cast<int>(c.fault)) + ": ";
            if (outcome.code != kExitCode) failed(__FILE__, __LINE__, which + "exit code " + std::to_string(outcome.code) + ", said: " + outcome.said);
            if (outcome.said.find(c.says) == std::string::npos) failed(__FILE__, __LINE__, which + "expected \"" + c.says + "\", said: " + outcome.said);
        });
    }
}

void test_wrong_fragment() {
    const Stream stream;
    const std::vector<int> host = counting(128); // 512 bytes: 16 x 32
    const Device<int> in(host, stream), out(256);
    const auto *bytes = reinterpret_cast<const int8_t *>(in.get());
    multiply(bytes, bytes, out.get(), stream);
    const std::vector<int> right = out.values(stream);
    run_fault(Fault::kWrongFragment, in.get(), out.get(), stream);
    CHECK(right != out.values(stream));

    std::vector<int> halves(128);
    for (size_t i = 0; i < halves.size(); i++) halves[i] = 0x38003c00 + static_cast<int>(i * 37 % 512); // 1 to 1.5, 0.5
    const Device<int> in_halves(halves, stream);
    const Device<float> sums(std::vector<float>(128), stream), wrong(std::vector<float>(128), stream);
    multiply_halves(reinterpret_cast<const uint16_t *>(in_halves.get()), reinterpret_cast<const uint16_t *>(in_halves.get()), sums.get(), false, stream);
    run_fault(Fault::kWrongHalves, in_halves.get(), reinterpret_cast<int *>(wrong.get()), stream);
    CHECK(sums.values(stream) != wrong.values(stream));
}

// A consumer on another stream: with the event it gets what was produced, without it not, in the lazy mode.
void test_streams() {
    set_lazy(true);
    for (const bool waits : {true, false}) {
        const Stream first, second;
        cudaEvent_t event;
        cudaEventCreate(&event);
        const std::vector<int> host = counting(32);
        const Device<int> in(host, first), sums(1);
        cudaMemsetAsync(sums.get(), 0, sizeof(int), first);
        cudaStreamSynchronize(first);
        sum_by_warps(in.get(), sums.get(), 32, first);
        cudaEventRecord(event, first);
        if (waits) cudaStreamWaitEvent(second, event, 0);
        CHECK_EQUAL(waits ? 32 * 33 / 2 : 0, sums.values(second)[0]);
        cudaEventDestroy(event);
    }
    // Nor is a result there before its stream was waited for.
    const Stream stream;
    const std::vector<int> host = counting(32);
    const Device<int> in(host, stream), sums(1);
    int result = -1;
    sum_by_warps(in.get(), sums.get(), 32, stream);
    cudaMemcpyAsync(&result, sums.get(), sizeof result, cudaMemcpyDeviceToHost, stream);
    CHECK_EQUAL(-1, result);
    cudaStreamSynchronize(stream);
    CHECK_EQUAL(32 * 33 / 2, result);
    set_lazy(false);
}

// What is captured runs when its graph is launched, and as often: with the arguments as they were, and memory as it is then.
void test_graphs() {
    for (const bool is_lazy : {false, true}) {
        set_lazy(is_lazy);
        const Stream stream;
        const std::vector<int> first = counting(32), second(32, 2), zero{0};
        const Device<int> in(first, stream), sums(zero, stream);
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
        sum_by_warps(in.get(), sums.get(), 32, stream);
        cudaGraph_t graph;
        cudaStreamEndCapture(stream, &graph);
        CHECK_EQUAL(0, sums.values(stream)[0]);
        cudaGraphExec_t executable;
        cudaGraphInstantiate(&executable, graph, 0);
        cudaGraphDestroy(graph);
        cudaGraphLaunch(executable, stream);
        CHECK_EQUAL(32 * 33 / 2, sums.values(stream)[0]);
        cudaMemcpyAsync(in.get(), second.data(), 32 * sizeof(int), cudaMemcpyHostToDevice, stream);
        cudaGraphLaunch(executable, stream);
        cudaGraphExecDestroy(executable); // what is queued still runs
        CHECK_EQUAL(64, sums.values(stream)[0]);
    }
    set_lazy(false);
    const auto in_capture = [](void (*f)(cudaStream_t)) {
        return in_child([=] {
            const Stream stream;
            cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
            f(stream);
        }).said;
    };
    CHECK_CONTAINS(in_capture([](cudaStream_t stream) { cudaStreamSynchronize(stream); }), "cudaStreamSynchronize while a stream is captured");
    CHECK_CONTAINS(in_capture([](cudaStream_t) { const Device<int> some(1); }), "cudaMalloc while a stream is captured");
    CHECK_CONTAINS(in_capture([](cudaStream_t stream) { cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal); }), "captured already");
}

void test_memory() {
    const size_t before = device_bytes_in_use();
    {
        const Device<char> some(1000);
        CHECK_EQUAL(before + 1000, device_bytes_in_use());
    }
    CHECK_EQUAL(before, device_bytes_in_use());
    void *p = nullptr;
    CHECK_EQUAL(cudaError_t{cudaErrorMemoryAllocation}, cudaMalloc(&p, size_t{1} << 40));
    const Outcome outcome = in_child([] {
        int on_host = 0;
        cudaFree(&on_host);
    });
    CHECK_EQUAL(kExitCode, outcome.code);
    const Outcome wrong_side = in_child([] {
        const Stream stream;
        int a = 0, b = 0;
        cudaMemcpyAsync(&a, &b, sizeof a, cudaMemcpyDeviceToHost, stream);
    });
    CHECK_CONTAINS(wrong_side.said, "for device memory, which it is not");
}

} // namespace

} // namespace tr::emulation::test

int main() {
    using namespace tr::emulation::test;
    in_every_order([] {
        test_right_kernels();
        test_exchange();
        test_product();
        test_product_of_halves();
    });
    test_wrong_fragment();
    test_streams();
    test_graphs();
    test_memory();
    test_faults();
    return tr::test::report();
}
