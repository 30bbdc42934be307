#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <mutex>

#include "api/cores.h"
#include "api/guard.h"
#include "api/host.h"

namespace tr::api {

namespace {

constexpr int32_t kMostThreads = 1024;
constexpr const char *kIsaNames[] = {"reference", "avx2", "avxvnni", "avx512vnni"};

// The process's one pool, alive while a device is open.
std::shared_ptr<cpu::Pool> shared_pool(int32_t n_threads) {
    static std::mutex mutex;
    static std::weak_ptr<cpu::Pool> current;
    const std::lock_guard lock(mutex);
    if (auto pool = current.lock()) {
        if (n_threads > 0 && n_threads != pool->size()) {
            fail(TR_ERR_ARGUMENT, "n_threads is %d, but the open device of this process runs on %d threads, which all share", n_threads,
                 pool->size());
        }
        return pool;
    }
    auto pool = std::make_shared<cpu::Pool>(n_threads > 0 ? n_threads : usable_cores());
    current = pool;
    return pool;
}

std::string isa_list(bool usable_only) {
    std::string list;
    for (const char *name : kIsaNames) {
        if (!cpu::ops_by_name(name) || (usable_only && !cpu::isa_usable(name))) continue;
        list += (list.empty() ? "" : ", ") + std::string(name);
    }
    return list;
}

const cpu::Ops *choose_ops(const char *asked) {
    const char *source = "isa";
    if (!asked || !*asked) {
        asked = std::getenv("TR_CPU_ISA");
        source = "environment variable TR_CPU_ISA";
    }
    if (!asked || !*asked) return cpu::best_ops();
    const cpu::Ops *ops = cpu::ops_by_name(asked);
    if (!ops) fail(TR_ERR_ARGUMENT, "%s is %s; this build has: %s", source, quoted(asked).c_str(), isa_list(false).c_str());
    if (!cpu::isa_usable(asked)) {
        fail(TR_ERR_UNSUPPORTED, "%s is \"%s\", which this processor does not run; it runs: %s", source, asked, isa_list(true).c_str());
    }
    return ops;
}

std::vector<Kind> &kinds() {
    static std::vector<Kind> all{{"cpu", [](const tr_device_params &params, int32_t) { return open_cpu(params); }}};
    return all;
}

// "cuda:1": the kind, and the number behind the colon, 0 without one.
std::shared_ptr<const Device> open_kind(const tr_device_params &params) {
    const std::string_view asked = params.kind && *params.kind ? params.kind : "cpu";
    const size_t colon = asked.find(':');
    const std::string_view name = asked.substr(0, colon);
    int32_t number = 0;
    if (colon != std::string_view::npos) {
        const char *end = asked.data() + asked.size();
        const auto [at, error] = std::from_chars(asked.data() + colon + 1, end, number);
        if (error != std::errc() || at != end || number < 0) fail(TR_ERR_ARGUMENT, "device kind %s: expected a number behind the colon", quoted(asked).c_str());
    }
    std::string list;
    for (const Kind &kind : kinds()) {
        if (name == kind.name && (number == 0 || name != "cpu")) return kind.open(params, number);
        list += std::string(list.empty() ? "" : ", ") + "\"" + kind.name + "\"";
    }
    fail(TR_ERR_UNSUPPORTED, "device kind %s is not in this library; it has %s", quoted(asked).c_str(), list.c_str());
}

} // namespace

bool register_kind(const Kind &kind) {
    kinds().push_back(kind);
    return true;
}

Host open_host(const tr_device_params &params) {
    if (params.n_threads < 0 || params.n_threads > kMostThreads) {
        fail(TR_ERR_ARGUMENT, "n_threads is %d; expected 0 (all cores) to %d", params.n_threads, kMostThreads);
    }
    const cpu::Ops &ops = *choose_ops(params.isa);
    return {shared_pool(params.n_threads), ops};
}

} // namespace tr::api

using namespace tr::api;

uint32_t tr_abi_version(void) { return TR_ABI_VERSION; }

const char *tr_version(void) {
    static char text[256];
    static std::once_flag once;
    std::call_once(once, [] {
        int at = std::snprintf(text, sizeof text, "tokenrouter %s, %s, gcc %s, cpu:", TR_VERSION, TR_BUILD_KIND, __VERSION__);
        for (const char *name : kIsaNames) {
            if (tr::cpu::ops_by_name(name) && at > 0 && at < static_cast<int>(sizeof text)) {
                at += std::snprintf(text + at, sizeof text - static_cast<size_t>(at), " %s", name);
            }
        }
    });
    return text;
}

tr_status tr_device_open(const tr_device_params *params, tr_device **out, char *err, size_t err_len) {
    return guarded(err, err_len, [&] {
        check_pointer(out, "out");
        *out = nullptr;
        check_struct(params, "tr_device_params");
        *out = new tr_device{open_kind(*params)};
    });
}

tr_status tr_device_describe(const tr_device *device, tr_device_info *info, char *err, size_t err_len) {
    return guarded(err, err_len, [&] {
        check_pointer(device, "device");
        check_struct(info, "tr_device_info");
        const Device &d = *device->device;
        *info = {sizeof *info, d.pool->size(), d.kind(), d.isa(), d.pool->joins(), d.pool->parks()};
    });
}

void tr_device_close(tr_device *device) { delete device; }
