// Any bytes at all, loaded as a model through the C ABI, are refused with a message, or make a model that runs a step.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "tokenrouter.h"

namespace {

tr_device *open_device() {
    tr_device_params params{};
    params.size = sizeof params;
    params.n_threads = 1;
    tr_device *device = nullptr;
    if (tr_device_open(&params, &device, nullptr, 0) != TR_OK) std::abort();
    return device;
}

// One step of one token. Only what a file asks for beyond this machine's memory may be refused, and a kind of KV cache that
// does not fit its heads.
void run(tr_model *model, int32_t kv_type) {
    const tr_arena_params params{sizeof(tr_arena_params), 1, 1, 1, kv_type};
    tr_arena *arena = nullptr;
    if (const tr_status status = tr_arena_create(model, &params, &arena, nullptr, 0); status != TR_OK) {
        if (status != TR_ERR_NO_MEMORY && !(status == TR_ERR_UNSUPPORTED && kv_type != TR_KV_F16)) std::abort();
        return;
    }
    const int32_t token = 0, page = 0;
    tr_segment segment{};
    segment.size = sizeof segment;
    segment.tokens = &token;
    segment.pages = &page;
    segment.n_tokens = segment.n_pages = 1;
    tr_row row{};
    row.size = sizeof row;
    row.want = TR_WANT_LOGITS;
    row.n_top = 3;
    const tr_batch batch{sizeof(tr_batch), 1, 1, 0, &segment, &row};
    if (tr_step(arena, &batch, nullptr, 0) != TR_OK) std::abort();
    tr_arena_free(arena);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static tr_device *device = open_device();
    const int fd = memfd_create("model", MFD_CLOEXEC);
    if (fd < 0) std::abort();
    for (size_t done = 0; done < size;) {
        const ssize_t n = write(fd, data + done, size - done);
        if (n <= 0) std::abort();
        done += static_cast<size_t>(n);
    }
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    tr_model_params params{};
    params.size = sizeof params;
    tr_model *model = nullptr;
    char err[512] = "";
    const tr_status status = tr_model_load(device, path.c_str(), &params, &model, err, sizeof err);
    close(fd);
    if (status == TR_OK) {
        for (const int32_t kv_type : {TR_KV_F16, TR_KV_Q8_0}) run(model, kv_type);
        tr_model_free(model);
    } else if (status == TR_ERR_INTERNAL || status == TR_ERR_ARGUMENT || status == TR_ERR_DEVICE || err[0] == 0 || model) {
        std::fprintf(stderr, "status %d, \"%s\"\n", status, err);
        std::abort();
    }
    return 0;
}
