/* The header is plain C, and a C program can use the library: opened, asked, refused and closed through the shared object. */
#include <stdio.h>
#include <string.h>

#include "tokenrouter.h"

static int failures = 0;

static void check(int good, const char *what) {
    if (good) return;
    fprintf(stderr, "failed: %s\n", what);
    failures++;
}

int main(void) {
    char err[256] = "untouched";
    tr_device *device = (tr_device *)&failures;
    tr_model *model = (tr_model *)&failures;
    tr_device_params device_params;
    tr_device_info info;
    tr_model_params model_params;

    check(tr_abi_version() == TR_ABI_VERSION, "the library's ABI version is the header's");
    check(strstr(tr_version(), "tokenrouter ") == tr_version() && strstr(tr_version(), "reference") != NULL, "tr_version()");

    memset(&device_params, 0, sizeof device_params);
    check(tr_device_open(&device_params, &device, err, sizeof err) == TR_ERR_ARGUMENT, "a size of 0 is refused");
    check(device == NULL, "the out-parameter is NULL on failure");
    check(strstr(err, "tr_device_params.size is 0") != NULL, err);
    check(tr_device_open(&device_params, &device, NULL, 0) == TR_ERR_ARGUMENT, "no error buffer");
    check(tr_device_open(&device_params, &device, err, 10) == TR_ERR_ARGUMENT && strlen(err) == 9, "a short error buffer is filled and ended");

    device_params.size = sizeof device_params;
    device_params.n_threads = 1;
    check(tr_device_open(&device_params, &device, err, sizeof err) == TR_OK && device != NULL, "tr_device_open");
    memset(&info, 0, sizeof info);
    info.size = sizeof info;
    check(tr_device_describe(device, &info, err, sizeof err) == TR_OK && info.n_threads == 1 && strcmp(info.kind, "cpu") == 0, "tr_device_describe");

    memset(&model_params, 0, sizeof model_params);
    model_params.size = sizeof model_params;
    check(tr_model_load(device, "/nonexistent.gguf", &model_params, &model, err, sizeof err) == TR_ERR_IO && model == NULL, "a missing file");
    check(strstr(err, "/nonexistent.gguf") != NULL, err);

    tr_arena_free(NULL);
    tr_model_free(NULL);
    tr_device_close(device);
    tr_device_close(NULL);
    return failures != 0;
}
