/* A stand-in for libtokenrouter-cuda: GPUs are the processor, by the library REAL, and fail as a control file says. */
#include <dlfcn.h>
#include "control.h"
#include "tokenrouter.h"

#define FORWARD(name)                                                    \
    __attribute__((visibility("hidden"))) void *real_##name;             \
    __attribute__((naked, visibility("default"))) void name##_(void) __asm__(#name); \
    __attribute__((naked)) void name##_(void) { __asm__("jmp *real_" #name "(%rip)"); }

/* Those that do nothing else. */
FORWARD(tr_abi_version) FORWARD(tr_version) FORWARD(tr_model_describe)
FORWARD(tr_head_load) FORWARD(tr_head_describe) FORWARD(tr_head_free) FORWARD(tr_arena_copy_page) FORWARD(tr_convert)

static void *library;
#define REAL_CALL(name) ((__typeof__(&name))dlsym(library, #name))

__attribute__((constructor)) static void begin(void) {
    library = dlopen(REAL, RTLD_NOW | RTLD_LOCAL);
    if (!library) { fprintf(stderr, "%s\n", dlerror()); abort(); }
#define LOOK(name) real_##name = dlsym(library, #name);
    LOOK(tr_abi_version) LOOK(tr_version) LOOK(tr_model_describe)
    LOOK(tr_head_load) LOOK(tr_head_describe) LOOK(tr_head_free) LOOK(tr_arena_copy_page) LOOK(tr_convert)
}

static tr_status fails(tr_status status, char *err, size_t err_len, const char *message) {
    if (err_len) snprintf(err, err_len, "%s", message);
    return status;
}

/* What was made on a GPU, of either kind of handle; enough for a test. */
static const void *of_gpu[64];
static void remember(const void *made) {
    for (int i = 0; i < 64; i++)
        if (!of_gpu[i]) { of_gpu[i] = made; return; }
}
static int on_gpu(const void *handle) {
    for (int i = 0; i < 64; i++)
        if (of_gpu[i] == handle) return 1;
    return 0;
}
static void forget(const void *handle) {
    for (int i = 0; i < 64; i++)
        if (of_gpu[i] == handle) of_gpu[i] = NULL;
}

tr_status tr_device_open(const tr_device_params *params, tr_device **out, char *err, size_t err_len) {
    tr_device_params cpu = *params;
    const int gpu = params->kind && !strncmp(params->kind, "cuda", 4);
    if (gpu) {
        misbehave("open");
        if (says("open=old-driver")) return fails(TR_ERR_DEVICE, err, err_len, "no GPU can be used: CUDA driver version is insufficient for CUDA runtime version");
        if (says("open=no-memory")) return fails(TR_ERR_DEVICE, err, err_len, "the GPU failed while being opened: out of memory");
        if (says("open=fails")) return fails(TR_ERR_DEVICE, err, err_len, "the GPU failed while being opened: unknown error");
        cpu.kind = "cpu";
    }
    tr_status status = REAL_CALL(tr_device_open)(&cpu, out, err, err_len);
    if (status == TR_OK && gpu) remember(*out);
    return status;
}

tr_status tr_device_describe(const tr_device *device, tr_device_info *info, char *err, size_t err_len) {
    tr_status status = REAL_CALL(tr_device_describe)(device, info, err, err_len);
    if (status == TR_OK && on_gpu(device)) info->kind = "cuda";
    return status;
}

void tr_device_close(tr_device *device) {
    forget(device);
    REAL_CALL(tr_device_close)(device);
}

tr_status tr_model_load(tr_device *device, const char *path, const tr_model_params *params, tr_model **out, char *err, size_t err_len) {
    if (on_gpu(device) && says("load=no-memory")) return fails(TR_ERR_NO_MEMORY, err, err_len, "cannot allocate 123 bytes for weights");
    tr_status status = REAL_CALL(tr_model_load)(device, path, params, out, err, err_len);
    if (status == TR_OK && on_gpu(device)) remember(*out);
    return status;
}

void tr_model_free(tr_model *model) {
    forget(model);
    REAL_CALL(tr_model_free)(model);
}

tr_status tr_arena_create(tr_model *model, const tr_arena_params *params, tr_arena **out, char *err, size_t err_len) {
    if (on_gpu(model) && says("arena=no-memory")) return fails(TR_ERR_NO_MEMORY, err, err_len, "cannot allocate 123 bytes for the KV cache");
    tr_status status = REAL_CALL(tr_arena_create)(model, params, out, err, err_len);
    if (status == TR_OK && on_gpu(model)) remember(*out);
    return status;
}

/* Every step but the first has a graph. */
tr_status tr_arena_describe(const tr_arena *arena, tr_arena_info *info, char *err, size_t err_len) {
    tr_status status = REAL_CALL(tr_arena_describe)(arena, info, err, err_len);
    if (status == TR_OK && on_gpu(arena)) {
        info->has_graphs = 1;
        info->graph_misses = info->steps > 0;
        info->graph_hits = info->steps - info->graph_misses;
    }
    return status;
}

void tr_arena_free(tr_arena *arena) {
    forget(arena);
    REAL_CALL(tr_arena_free)(arena);
}

tr_status tr_step(tr_arena *arena, const tr_batch *batch, char *err, size_t err_len) {
    if (on_gpu(arena) && says("step=lost")) return fails(TR_ERR_DEVICE, err, err_len, "the GPU failed while running a step: unspecified launch failure");
    return REAL_CALL(tr_step)(arena, batch, err, err_len);
}
