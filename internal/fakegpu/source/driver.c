/* A stand-in for libcuda: one or more GPUs that a control file describes. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "control.h"

int cuDriverGetVersion(int *version) { *version = says("driver=old") ? 12040 : 13000; return 0; }
int cuInit(unsigned flags) {
    (void)flags;
    misbehave("driver");
    if (says("driver=no-device")) return 100;
    if (says("driver=mismatch")) return 803;
    return 0;
}
int cuGetErrorString(int code, const char **text) {
    *text = code == 100 ? "no CUDA-capable device is detected" : code == 803 ? "system has unsupported display driver / cuda driver combination" : NULL;
    return *text ? 0 : 1;
}
int cuDeviceGetCount(int *n) { *n = says("gpus=2") ? 2 : 1; return 0; }
int cuDeviceGet(int *device, int number) { *device = number; return 0; }
int cuDeviceGetName(char *name, int length, int device) { snprintf(name, (size_t)length, "Fake GPU %d", device); return 0; }
int cuDeviceTotalMem_v2(uint64_t *bytes, int device) { (void)device; *bytes = says("memory=") ? value("memory=") : 1ull << 30; return 0; }
int cuDeviceGetAttribute(int *v, int attribute, int device) {
    (void)device;
    *v = attribute == 75 ? (says("gpu=old") ? 7 : 9) : says("gpu=old") ? 5 : 0;
    return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) { (void)device; *context = (void *)1; return 0; }
int cuCtxSetCurrent(void *context) { return context ? 0 : 1; }
int cuMemGetInfo_v2(uint64_t *free, uint64_t *total) {
    cuDeviceTotalMem_v2(total, 0);
    *free = says("free=") ? value("free=") : *total - (64 << 20);
    return 0;
}
