/*
 * A fake libnvidia-ml.so without GPUs: real names, real layouts, and results that a test writes at run time into the file
 * nvml.control beside it (control.h). Compiled with -DOLD it lacks what a driver of the R450 line lacks.
 */
#define _GNU_SOURCE
#include "nvml.h"
#include "control.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

struct nvmlEventSet_st {
    unsigned int generation;
    uint64_t next;
    uint64_t types[MAX_GPUS];
};

static Control *volatile control;
static int held = -1;

#include "sessions.inc"

static void pause_briefly(void) {
    struct timespec millisecond = {0, 1000000};
    nanosleep(&millisecond, NULL);
}

/* Waits until the futex changes from a value, at most so long: a real driver wakes its waiters, too. */
static void pause_until_posted(uint32_t seen, long milliseconds) {
    struct timespec longest = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    if (!__atomic_load_n(&control->usesFutex, __ATOMIC_ACQUIRE)) pause_briefly();
    else syscall(SYS_futex, &control->futex, FUTEX_WAIT, seen, &longest, NULL, 0);
}

static int beside(char *path, size_t size, const char *name) {
    Dl_info info;
    char resolved[PATH_MAX];
    if (!dladdr((void *)beside, &info) || !realpath(info.dli_fname, resolved)) return 0;
    char *slash = strrchr(resolved, '/');
    if (!slash) return 0;
    *slash = 0;
    return snprintf(path, size, "%s/%s", resolved, name) < (int)size;
}

static int attach(void) {
    char path[PATH_MAX];
    if (control) return 1;
    if (!beside(path, sizeof path, "nvml.control")) return 0;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return 0;
    Control *mapped = mmap(NULL, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped == MAP_FAILED || mapped->magic != CONTROL_MAGIC) return 0;
    control = mapped;
    return 1;
}

/* Return code that a rule of the test sets for this call; 0 without one. */
static nvmlReturn_t ruled(const char *call, int gpu) {
    for (int i = 0; i < MAX_RULES; i++) {
        volatile Rule *rule = &control->rules[i];
        if (!__atomic_load_n(&rule->used, __ATOMIC_ACQUIRE)) continue;
        if (strcmp((const char *)rule->call, call) != 0) continue;
        if (rule->gpu != ANY_GPU && rule->gpu != gpu) continue;
        if (rule->hang) {
            __atomic_add_fetch(&control->hanging, 1, __ATOMIC_ACQ_REL);
            while (__atomic_load_n(&rule->used, __ATOMIC_ACQUIRE)) pause_briefly();
            __atomic_sub_fetch(&control->hanging, 1, __ATOMIC_ACQ_REL);
            return NVML_SUCCESS;
        }
        return (nvmlReturn_t)rule->code;
    }
    return NVML_SUCCESS;
}

static nvmlReturn_t enter(const char *call) {
    if (!control || __atomic_load_n(&sessions, __ATOMIC_ACQUIRE) == 0) return NVML_ERROR_UNINITIALIZED;
    return ruled(call, ANY_GPU);
}

/* Checks a handle of a GPU; `at` becomes the place at which the test keeps that GPU. */
static nvmlReturn_t enter_device(const char *call, nvmlDevice_t device, int *at) {
    if (!control || __atomic_load_n(&sessions, __ATOMIC_ACQUIRE) == 0) return NVML_ERROR_UNINITIALIZED;
    if (!is_device(device)) return NVML_ERROR_INVALID_ARGUMENT;
    if (!is_of_session(device)) return stale();
    *at = kept_at(position_of(device));
    nvmlReturn_t wanted = ruled(call, *at < 0 ? (int)position_of(device) : *at);
    if (wanted) return wanted;
    /* The call may have hung until now; the session that ended under it is counted already. */
    if (!is_of_session(device)) return NVML_ERROR_UNINITIALIZED;
    return *at < 0 || ((volatile ControlGpu *)&control->gpus[*at])->lost ? NVML_ERROR_GPU_IS_LOST : NVML_SUCCESS;
}

/* The instance behind a handle; NULL for a whole GPU. */
static volatile ControlMig *mig_of(nvmlDevice_t device, int at) {
    return is_slice(device) ? &control->gpus[at].mig[(device - slices) % MAX_MIG] : NULL;
}

/* A handle of a GPU, or of an instance that still exists. */
static nvmlReturn_t enter_either(const char *call, nvmlDevice_t device, int *at) {
    if (!control || __atomic_load_n(&sessions, __ATOMIC_ACQUIRE) == 0) return NVML_ERROR_UNINITIALIZED;
    if (!is_slice(device)) return enter_device(call, device, at);
    if (!is_of_session(device)) return stale();
    nvmlReturn_t wanted = enter_device(call, device_at(position_of(device)), at);
    if (wanted) return wanted;
    return __atomic_load_n(&mig_of(device, *at)->used, __ATOMIC_ACQUIRE) ? NVML_SUCCESS : NVML_ERROR_NOT_FOUND;
}

#define ENTER                                      \
    do {                                           \
        nvmlReturn_t wanted = enter(__func__);     \
        if (wanted) return wanted;                 \
    } while (0)

#define ENTER_DEVICE                                               \
    int at = 0;                                                    \
    do {                                                           \
        nvmlReturn_t wanted = enter_device(__func__, device, &at); \
        if (wanted) return wanted;                                 \
    } while (0);                                                   \
    volatile ControlGpu *gpu = &control->gpus[at]

#define ENTER_EITHER                                               \
    int at = 0;                                                    \
    do {                                                           \
        nvmlReturn_t wanted = enter_either(__func__, device, &at); \
        if (wanted) return wanted;                                 \
    } while (0);                                                   \
    volatile ControlGpu *gpu = &control->gpus[at];                 \
    volatile ControlMig *mig = mig_of(device, at)

static nvmlReturn_t give(char *to, unsigned int length, volatile const char *from) {
    size_t wanted = strlen((const char *)from) + 1;
    if (wanted == 1) return NVML_ERROR_NOT_SUPPORTED;
    if (wanted > length) return NVML_ERROR_INSUFFICIENT_SIZE;
    memcpy(to, (const char *)from, wanted);
    return NVML_SUCCESS;
}

static nvmlReturn_t give_number(unsigned int *to, uint32_t from) {
    if (from == UNSUPPORTED) return NVML_ERROR_NOT_SUPPORTED;
    *to = from;
    return NVML_SUCCESS;
}

static nvmlReturn_t init(const char *call) {
    if (!attach()) return NVML_ERROR_DRIVER_NOT_LOADED;
    __atomic_add_fetch(&control->initCalls, 1, __ATOMIC_ACQ_REL);
    nvmlReturn_t wanted = ruled(call, ANY_GPU);
    if (wanted) return wanted;
    if (__atomic_add_fetch(&sessions, 1, __ATOMIC_ACQ_REL) == 1) {
        begin_session();
        /* Stands for the descriptors below /dev/nvidia* that the real library keeps. */
        char path[PATH_MAX];
        if (beside(path, sizeof path, "nvidiactl")) held = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    }
    __atomic_add_fetch(&control->openSessions, 1, __ATOMIC_ACQ_REL);
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlShutdown(void) {
    if (!control || __atomic_load_n(&sessions, __ATOMIC_ACQUIRE) == 0) return NVML_ERROR_UNINITIALIZED;
    __atomic_add_fetch(&control->shutdownCalls, 1, __ATOMIC_ACQ_REL);
    nvmlReturn_t wanted = ruled(__func__, ANY_GPU);
    if (wanted) return wanted;
    __atomic_sub_fetch(&control->openSessions, 1, __ATOMIC_ACQ_REL);
    if (__atomic_load_n(&control->hanging, __ATOMIC_ACQUIRE)) {
        __atomic_add_fetch(&control->shutdownsDuringCalls, 1, __ATOMIC_ACQ_REL);
    }
    if (__atomic_sub_fetch(&sessions, 1, __ATOMIC_ACQ_REL) == 0 && held >= 0) {
        close(held);
        held = -1;
    }
    return NVML_SUCCESS;
}

static nvmlReturn_t count(unsigned int *gpus) {
    *gpus = seenCount;
    return NVML_SUCCESS;
}

static nvmlReturn_t handle(const char *call, unsigned int index, nvmlDevice_t *device) {
    if (index >= seenCount) return NVML_ERROR_INVALID_ARGUMENT;
    int at = 0;
    nvmlReturn_t wanted = enter_device(call, device_at(index), &at);
    if (wanted) return wanted;
    *device = device_at(index);
    return NVML_SUCCESS;
}

static void pci(volatile ControlGpu *gpu, nvmlPciInfo_t *info, int withBusId) {
    memset(info, 0, sizeof *info);
    sscanf((const char *)gpu->busId, "%x:%x:%x", &info->domain, &info->bus, &info->device);
    snprintf(info->busIdLegacy, sizeof info->busIdLegacy, "%04X:%02X:%02X.0", info->domain & 0xffff, info->bus & 0xff,
             info->device & 0x1f);
    if (withBusId) give(info->busId, sizeof info->busId, gpu->busId);
}

static nvmlReturn_t remote(volatile ControlGpu *gpu, unsigned int link, nvmlPciInfo_t *info, int withBusId) {
    if (link >= MAX_LINKS || gpu->link[link] == LINK_DOWN) return NVML_ERROR_NOT_SUPPORTED;
    if (gpu->link[link] == LINK_SWITCH) {
        memset(info, 0, sizeof *info);
        info->bus = 0xf0;
        if (withBusId) strcpy(info->busId, "00000000:F0:00.0");
        return NVML_SUCCESS;
    }
    pci(&control->gpus[gpu->link[link] % MAX_GPUS], info, withBusId);
    return NVML_SUCCESS;
}

static nvmlReturn_t failure_of_wait(nvmlEventSet_t set) {
    for (unsigned int position = 0; position < seenCount; position++) {
        int at = set->types[position] ? kept_at(position) : -1;
        if (at >= 0 && ((volatile ControlGpu *)&control->gpus[at])->waitFails) {
            return (nvmlReturn_t)control->gpus[at].waitFails;
        }
    }
    return NVML_SUCCESS;
}

static nvmlReturn_t wait_event(nvmlEventSet_t set, nvmlEventData_t *data, unsigned int timeout, int withInstances) {
    if (!is_current(set->generation)) return stale();
    __atomic_add_fetch(&control->waitCalls, 1, __ATOMIC_ACQ_REL);
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (;;) {
        nvmlReturn_t failure = failure_of_wait(set);
        if (failure) return failure;
        uint32_t seen = __atomic_load_n(&control->futex, __ATOMIC_ACQUIRE);
        uint64_t posted = __atomic_load_n(&control->posted, __ATOMIC_ACQUIRE);
        while (set->next < posted) {
            volatile Event *event = &control->events[set->next++ % MAX_EVENTS];
            int position = event->gpu < MAX_GPUS ? position_in_session(event->gpu) : -1;
            if (position >= 0 && (set->types[position] & event->type)) {
                data->device = device_at((unsigned int)position);
                data->eventType = event->type;
                data->eventData = event->data;
                if (withInstances) {
                    data->gpuInstanceId = event->gpuInstance;
                    data->computeInstanceId = event->computeInstance;
                }
                clock_gettime(CLOCK_MONOTONIC, &now);
                __atomic_store_n(&control->deliveredNanos, now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec,
                                 __ATOMIC_RELEASE);
                return NVML_SUCCESS;
            }
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
        long waited = (now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000;
        if (waited >= (long)timeout) return NVML_ERROR_TIMEOUT;
        pause_until_posted(seen, (long)timeout - waited);
    }
}

#ifdef OLD
#define INIT nvmlInit
#define COUNT nvmlDeviceGetCount
#define HANDLE nvmlDeviceGetHandleByIndex
#define PCI nvmlDeviceGetPciInfo
#define REMOTE nvmlDeviceGetNvLinkRemotePciInfo
#define CUDA_VERSION nvmlSystemGetCudaDriverVersion
#define WAIT nvmlEventSetWait
#define REASONS nvmlDeviceGetCurrentClocksThrottleReasons
#define ATTRIBUTES nvmlDeviceGetAttributes
#define PROCESSES nvmlDeviceGetComputeRunningProcesses_v2
#define NEW 0
#else
#define INIT nvmlInit_v2
#define COUNT nvmlDeviceGetCount_v2
#define HANDLE nvmlDeviceGetHandleByIndex_v2
#define PCI nvmlDeviceGetPciInfo_v3
#define REMOTE nvmlDeviceGetNvLinkRemotePciInfo_v2
#define CUDA_VERSION nvmlSystemGetCudaDriverVersion_v2
#define WAIT nvmlEventSetWait_v2
#define REASONS nvmlDeviceGetCurrentClocksEventReasons
#define ATTRIBUTES nvmlDeviceGetAttributes_v2
#define PROCESSES nvmlDeviceGetComputeRunningProcesses_v3
#define NEW 1

EXPORT nvmlReturn_t nvmlInitWithFlags(unsigned int flags) {
    (void)flags;
    return init(__func__);
}

EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory) {
    ENTER_EITHER;
    if (memory->version != NVML_STRUCT_VERSION(nvmlMemory_v2_t, 2)) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    memory->total = mig ? mig->memoryMb << 20 : gpu->memoryTotal;
    memory->reserved = memory->total / 100;
    memory->used = mig ? mig->memoryUsed : gpu->memoryUsed;
    memory->free = memory->total - memory->reserved - memory->used;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned int link, unsigned int *type) {
    ENTER_DEVICE;
    if (link >= MAX_LINKS || gpu->link[link] == LINK_DOWN) return NVML_ERROR_NOT_SUPPORTED;
    *type = gpu->link[link] == LINK_SWITCH ? NVML_NVLINK_DEVICE_TYPE_SWITCH : NVML_NVLINK_DEVICE_TYPE_GPU;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device, nvmlGpuFabricInfo_t *info) {
    ENTER_DEVICE;
    if (gpu->fabricState == NVML_GPU_FABRIC_STATE_NOT_SUPPORTED) return NVML_ERROR_NOT_SUPPORTED;
    memcpy(info->clusterUuid, (const void *)gpu->clusterUuid, sizeof info->clusterUuid);
    info->status = (nvmlReturn_t)gpu->fabricStatus;
    info->cliqueId = gpu->cliqueId;
    info->state = (unsigned char)gpu->fabricState;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t device, nvmlGpuFabricInfo_v2_t *info) {
    ENTER_DEVICE;
    if (gpu->fabricHealth == UNSUPPORTED || info->version != NVML_STRUCT_VERSION(nvmlGpuFabricInfo_v2_t, 2))
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    if (gpu->fabricState == NVML_GPU_FABRIC_STATE_NOT_SUPPORTED) return NVML_ERROR_NOT_SUPPORTED;
    memcpy(info->clusterUuid, (const void *)gpu->clusterUuid, sizeof info->clusterUuid);
    info->status = (nvmlReturn_t)gpu->fabricStatus;
    info->cliqueId = gpu->cliqueId;
    info->state = (unsigned char)gpu->fabricState;
    info->healthMask = gpu->fabricHealth;
    return NVML_SUCCESS;
}
#endif

EXPORT nvmlReturn_t INIT(void) {
    return init(__func__);
}

EXPORT const char *nvmlErrorString(nvmlReturn_t code) {
    return code == NVML_SUCCESS ? "The operation was successful" : "Fake NVML error";
}

EXPORT nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length) {
    ENTER;
    return give(version, length, control->driverVersion);
}

EXPORT nvmlReturn_t CUDA_VERSION(int *version) {
    ENTER;
    *version = (int)((volatile Control *)control)->cudaVersion;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t COUNT(unsigned int *gpus) {
    ENTER;
    return count(gpus);
}

EXPORT nvmlReturn_t HANDLE(unsigned int index, nvmlDevice_t *device) {
    if (!control || __atomic_load_n(&sessions, __ATOMIC_ACQUIRE) == 0) return NVML_ERROR_UNINITIALIZED;
    return handle(__func__, index, device);
}

/* Not called by our daemon; other device plugins, which are measured beside it, do. */
EXPORT nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device) {
    ENTER;
    for (unsigned int index = 0; index < seenCount; index++) {
        int at = 0;
        if (enter_device(__func__, device_at(index), &at) == NVML_SUCCESS
            && strcmp((const char *)((volatile ControlGpu *)&control->gpus[at])->uuid, uuid) == 0) {
            *device = device_at(index);
            return NVML_SUCCESS;
        }
    }
    return NVML_ERROR_NOT_FOUND;
}

EXPORT nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length) {
    ENTER_EITHER;
    return give(uuid, length, mig ? mig->uuid : gpu->uuid);
}

EXPORT nvmlReturn_t nvmlDeviceGetSerial(nvmlDevice_t device, char *serial, unsigned int length) {
    ENTER_DEVICE;
    return give(serial, length, gpu->serial);
}

EXPORT nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length) {
    ENTER_EITHER;
    if (!mig) return give(name, length, gpu->name);
    char whole[160];
    snprintf(whole, sizeof whole, "%s MIG %s", (const char *)gpu->name, (const char *)mig->profile);
    return give(name, length, whole);
}

EXPORT nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int *number) {
    ENTER_DEVICE;
    return give_number(number, gpu->minorNumber);
}

EXPORT nvmlReturn_t PCI(nvmlDevice_t device, nvmlPciInfo_t *info) {
    ENTER_DEVICE;
    pci(gpu, info, NEW);
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
    ENTER_EITHER;
    memory->total = mig ? mig->memoryMb << 20 : gpu->memoryTotal;
    memory->used = mig ? mig->memoryUsed : gpu->memoryUsed;
    memory->free = memory->total - memory->used;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor) {
    ENTER_DEVICE;
    *major = (int)gpu->ccMajor;
    *minor = (int)gpu->ccMinor;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t device, char *version, unsigned int length) {
    ENTER_DEVICE;
    return give(version, length, gpu->vbios);
}

EXPORT nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int *current, unsigned int *pending) {
    ENTER_DEVICE;
    *pending = gpu->migMode;
    return give_number(current, gpu->migMode);
}

EXPORT nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link, unsigned int *active) {
    ENTER_DEVICE;
    __atomic_add_fetch(&control->linkStateCalls, 1, __ATOMIC_ACQ_REL);
    if (link >= MAX_LINKS) return NVML_ERROR_INVALID_ARGUMENT;
    if (gpu->linkFails[link]) return (nvmlReturn_t)gpu->linkFails[link];
    *active = gpu->link[link] != LINK_DOWN;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t REMOTE(nvmlDevice_t device, unsigned int link, nvmlPciInfo_t *info) {
    ENTER_DEVICE;
    return remote(gpu, link, info, NEW);
}

// Not called by the daemon: NVIDIA's device plugin wants it for GetPreferredAllocation, and is measured beside ours.
EXPORT nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t device, nvmlDevice_t other, unsigned int *level) {
    ENTER_DEVICE;
    (void)gpu;
    *level = device == other ? NVML_TOPOLOGY_INTERNAL : NVML_TOPOLOGY_NODE;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *rates) {
    ENTER_DEVICE;
    rates->memory = gpu->memoryUtil;
    return give_number(&rates->gpu, gpu->gpuUtil);
}

EXPORT nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *milliwatts) {
    ENTER_DEVICE;
    return give_number(milliwatts, gpu->power);
}

EXPORT nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, unsigned int sensor, unsigned int *celsius) {
    ENTER_DEVICE;
    if (sensor != 0) return NVML_ERROR_INVALID_ARGUMENT;
    return give_number(celsius, gpu->temperature);
}

EXPORT nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, unsigned int type, unsigned int *clock) {
    ENTER_DEVICE;
    if (type != 1 && type != 2) return NVML_ERROR_INVALID_ARGUMENT;
    return give_number(clock, type == 1 ? gpu->smClock : gpu->memoryClock);
}

EXPORT nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long *energy) {
    ENTER_DEVICE;
    *energy = gpu->energy;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetPcieReplayCounter(nvmlDevice_t device, unsigned int *replays) {
    ENTER_DEVICE;
    return give_number(replays, gpu->pcieReplays);
}

EXPORT nvmlReturn_t REASONS(nvmlDevice_t device, unsigned long long *reasons) {
    ENTER_DEVICE;
    *reasons = gpu->clockReasons;
    return NVML_SUCCESS;
}

static int is_of_one_link(unsigned int field) {
    return field == 165 || field == 161 || field == 162 || field == 163 || field == 202 || field == 204 || field == 208 || field == 215;
}

static nvmlReturn_t field(volatile ControlGpu *gpu, nvmlFieldValue_t *asked) {
    unsigned int id = asked->fieldId;
    asked->valueType = 1;
    if (id == NVML_FI_DEV_GET_GPU_RECOVERY_ACTION) return give_number(&asked->value.uiVal, gpu->recoveryAction);
    if (id == NVML_FI_DEV_REMAPPED_PENDING) return give_number(&asked->value.uiVal, gpu->remapPending);
    if (id >= MAX_FIELDS || gpu->fields[id] == UNSUPPORTED_LONG) return NVML_ERROR_NOT_SUPPORTED;
    if (is_of_one_link(id) && asked->scopeId >= MAX_LINKS) return NVML_ERROR_INVALID_ARGUMENT;
    if (is_of_one_link(id) && gpu->linkFails[asked->scopeId]) return (nvmlReturn_t)gpu->linkFails[asked->scopeId];
    if (id == 165) return give_number(&asked->value.uiVal, gpu->link[asked->scopeId] != LINK_DOWN);
    if (id >= 138 && id <= 141 && asked->scopeId != 0xffffffffu) return NVML_ERROR_INVALID_ARGUMENT;
    if (id == 82 || id == 31 || (id >= 142 && id <= 145)) {
        asked->value.ullVal = 0xdead00000000ull | gpu->fields[id];
        return NVML_SUCCESS;
    }
    asked->valueType = 3;
    asked->value.ullVal = gpu->fields[id];
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t *values) {
    ENTER_DEVICE;
    __atomic_add_fetch(&control->fieldCalls, 1, __ATOMIC_ACQ_REL);
    for (int i = 0; i < count; i++) values[i].nvmlReturn = field(gpu, &values[i]);
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long *types) {
    ENTER_DEVICE;
    *types = gpu->eventTypes;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set) {
    ENTER;
    nvmlEventSet_t fresh = calloc(1, sizeof *fresh);
    fresh->generation = generation;
    fresh->next = __atomic_load_n(&control->posted, __ATOMIC_ACQUIRE);
    __atomic_add_fetch(&control->eventSets, 1, __ATOMIC_ACQ_REL);
    *set = fresh;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types, nvmlEventSet_t set) {
    ENTER_DEVICE;
    if (!is_current(set->generation)) return stale();
    if (types & ~gpu->eventTypes) return NVML_ERROR_NOT_SUPPORTED;
    set->types[position_of(device)] |= types;
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t WAIT(nvmlEventSet_t set, nvmlEventData_t *data, unsigned int timeout) {
    nvmlReturn_t wanted = enter(__func__);
    if (wanted) {
        if (control) __atomic_add_fetch(&control->waitCalls, 1, __ATOMIC_ACQ_REL);
        return wanted;
    }
    return wait_event(set, data, timeout, NEW);
}

EXPORT nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) {
    ENTER;
    if (!is_current(set->generation)) return stale();
    __atomic_sub_fetch(&control->eventSets, 1, __ATOMIC_ACQ_REL);
    free(set);
    return NVML_SUCCESS;
}

#include "conditions.inc"
#include "mig.inc"
#include "processes.inc"
#ifndef OLD
#include "gpm.inc"
#include "system.inc"
#endif
