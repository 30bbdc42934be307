// The processor as a device, and its part in others.
#pragma once
#include "api/handles.h"

namespace tr::api {

struct Host {
    std::shared_ptr<cpu::Pool> pool;
    const cpu::Ops &ops;
};
// As tr_device_params ask. Throws Error.
Host open_host(const tr_device_params &params);

std::shared_ptr<const Device> open_cpu(const tr_device_params &params);

// ---- the kinds of devices that this library has; "cpu" is there always

struct Kind {
    const char *name;      // "cuda"; tr_device_params.kind is that, or with the device's number behind it: "cuda:1"
    std::shared_ptr<const Device> (*open)(const tr_device_params &params, int32_t number);
};
// Called by initializers of the library's other parts.
bool register_kind(const Kind &kind);

} // namespace tr::api
