// The edge of the C ABI: exceptions become a status and a message, structs are checked before they are read.
#pragma once
#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

#include "base/error.h"

namespace tr::api {

inline tr_status refuse(tr_status status, const char *message, char *err, size_t err_len) noexcept {
    if (err && err_len > 0) std::snprintf(err, err_len, "%s", message);
    return status;
}

// Runs f; nothing it throws gets past.
template <class F> tr_status guarded(char *err, size_t err_len, F &&f) noexcept {
    try {
        f();
        return TR_OK;
    } catch (const Error &e) {
        return refuse(e.status(), e.what(), err, err_len);
    } catch (const std::bad_alloc &) {
        return refuse(TR_ERR_NO_MEMORY, "out of memory", err, err_len);
    } catch (const std::system_error &e) {
        return refuse(TR_ERR_DEVICE, e.what(), err, err_len);
    } catch (const std::exception &e) {
        return refuse(TR_ERR_INTERNAL, e.what(), err, err_len);
    } catch (...) {
        return refuse(TR_ERR_INTERNAL, "an unknown exception", err, err_len);
    }
}

template <class T> void check_pointer(const T *p, const char *name) {
    if (!p) fail(TR_ERR_ARGUMENT, "%s is NULL", name);
}

// A struct of the caller: there, and of the size that this library knows.
template <class T> void check_struct(const T *p, const char *name) {
    check_pointer(p, name);
    if (p->size != sizeof(T)) {
        fail(TR_ERR_ARGUMENT, "%s.size is %u; this library (ABI version %d) expects %zu", name, p->size, TR_ABI_VERSION, sizeof(T));
    }
}

} // namespace tr::api
