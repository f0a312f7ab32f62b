/*
 * Controls the fake NVML library without Java: writes the control file of a healthy machine beside the library, and then
 * reads commands from its standard input, one per line.
 *
 *   play DIRECTORY GPUS         H100s with NVSwitches and PCI addresses of two NUMA nodes
 *   xid GPU CODE                posts an event
 *   lose GPU                    fails every call about a GPU
 *   gpus COUNT                  shows so many GPUs to the next session
 *   waits CODE                  fails each wait for events; 0 ends that
 *   waited                      prints the number of waits so far
 *   delivered                   prints the time at which the library last delivered an event (CLOCK_MONOTONIC, ns)
 */
#define _GNU_SOURCE
#include "control.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIXED_TEXT(to, ...) snprintf(to, sizeof(to), __VA_ARGS__)

static void healthy(ControlGpu *gpu, unsigned i) {
    FIXED_TEXT(gpu->uuid, "GPU-8f1c0000-0000-4000-8000-%012u", i);
    FIXED_TEXT(gpu->name, "NVIDIA H100 80GB HBM3");
    FIXED_TEXT(gpu->serial, "16549220%05u", i);
    FIXED_TEXT(gpu->busId, "00000000:%02X:00.0", 7 + 8 * i);
    FIXED_TEXT(gpu->vbios, "96.00.74.00.01");
    gpu->minorNumber = i;
    gpu->ccMajor = 9;
    gpu->gpuUtil = 10 + i;
    gpu->memoryUtil = 5 + i;
    gpu->power = 120000 + i;
    gpu->temperature = 40 + i;
    gpu->smClock = 1980;
    gpu->memoryClock = 2619;
    gpu->memoryTotal = 81559ull << 20;
    gpu->memoryUsed = 1ull << 30;
    gpu->energy = 1000000 + i;
    gpu->clockReasons = 1;
    gpu->eventTypes = 0xff9f;
    gpu->pcieGeneration = gpu->pcieGenerationMax = 5;
    gpu->pcieWidth = gpu->pcieWidthMax = 16;
    gpu->pcieSent = 4000;
    gpu->pcieReceived = 2000;
    for (int field = 0; field < MAX_FIELDS; field++) gpu->fields[field] = UNSUPPORTED_LONG;
    for (int metric = 0; metric < MAX_METRICS; metric++) gpu->metrics[metric] = -1;
    for (int link = 0; link < MAX_LINKS; link++) gpu->link[link] = LINK_SWITCH;
}

static Control *open_control(const char *directory) {
    char path[4096];
    FIXED_TEXT(path, "%s/nvml.control", directory);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, sizeof(Control)) != 0) return NULL;
    void *mapped = mmap(NULL, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return mapped == MAP_FAILED ? NULL : mapped;
}

static void post(Control *control, unsigned gpu, unsigned code) {
    uint64_t posted = control->posted;
    Event *event = &control->events[posted % MAX_EVENTS];
    event->gpu = gpu;
    event->gpuInstance = 0xffffffffu;
    event->computeInstance = 0xffffffffu;
    event->type = 8;
    event->data = code;
    __atomic_store_n(&control->posted, posted + 1, __ATOMIC_RELEASE);
    __atomic_add_fetch(&control->futex, 1, __ATOMIC_ACQ_REL);
    syscall(SYS_futex, &control->futex, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void show(Control *control, unsigned count) {
    for (unsigned i = control->gpuCount; i < count; i++) healthy(&control->gpus[i], i);
    __atomic_store_n(&control->gpuCount, count, __ATOMIC_RELEASE);
}

static void fail_waits(Control *control, unsigned code) {
    for (unsigned i = 0; i < MAX_GPUS; i++) ((volatile ControlGpu *)&control->gpus[i])->waitFails = code;
    __atomic_add_fetch(&control->futex, 1, __ATOMIC_ACQ_REL);
    syscall(SYS_futex, &control->futex, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

int main(int count, char **words) {
    unsigned gpus = count == 3 ? (unsigned)atoi(words[2]) : 0;
    if (gpus == 0 || gpus > MAX_GPUS) {
        fprintf(stderr, "usage: play DIRECTORY GPUS, with 1 to %d GPUs\n", MAX_GPUS);
        return 2;
    }
    Control *control = open_control(words[1]);
    if (!control) {
        perror(words[1]);
        return 1;
    }
    for (unsigned i = 0; i < gpus; i++) healthy(&control->gpus[i], i);
    FIXED_TEXT(control->driverVersion, "570.124.06");
    control->cudaVersion = 12080;
    control->gpuCount = gpus;
    control->usesFutex = 1;
    __atomic_store_n(&control->magic, CONTROL_MAGIC, __ATOMIC_RELEASE);
    puts("ready");
    fflush(stdout);
    char line[128];
    while (fgets(line, sizeof line, stdin)) {
        unsigned gpu, code, shown;
        if (sscanf(line, "xid %u %u", &gpu, &code) == 2 && gpu < gpus) post(control, gpu, code);
        else if (sscanf(line, "lose %u", &gpu) == 1 && gpu < MAX_GPUS) ((volatile ControlGpu *)&control->gpus[gpu])->lost = 1;
        else if (sscanf(line, "gpus %u", &shown) == 1 && shown <= MAX_GPUS) show(control, shown);
        else if (sscanf(line, "waits %u", &code) == 1) fail_waits(control, code);
        else if (strncmp(line, "waited", 6) == 0)
            printf("%u\n", __atomic_load_n(&control->waitCalls, __ATOMIC_ACQUIRE));
        else if (strncmp(line, "delivered", 9) == 0)
            printf("%llu\n", (unsigned long long)__atomic_load_n(&control->deliveredNanos, __ATOMIC_ACQUIRE));
        else puts("what?");
        fflush(stdout);
    }
    return 0;
}
