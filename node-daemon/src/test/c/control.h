/*
 * What a test tells the stand-in library at run time: a file "nvml.control" beside the library, mapped by both.
 * Only the test writes, except the counters at the end of the head. The program "layouts" prints where each field is.
 */
#ifndef STANDIN_CONTROL_H
#define STANDIN_CONTROL_H

#include <stdint.h>

#define CONTROL_MAGIC 0x4c4d564eu
#define MAX_GPUS 16
#define MAX_RULES 32
#define MAX_EVENTS 256
#define MAX_LINKS 18
#define LINK_DOWN 0xffu
#define LINK_SWITCH 0xfeu
#define ANY_GPU (-1)
#define UNSUPPORTED 0xffffffffu

/* A call that fails or hangs; `used` is written last. */
typedef struct {
    uint32_t used;
    int32_t gpu;
    uint32_t code;
    uint32_t hang;
    char call[64];
} Rule;

typedef struct {
    uint32_t gpu;
    uint32_t gpuInstance;
    uint32_t computeInstance;
    uint32_t padding;
    uint64_t type;
    uint64_t data;
} Event;

typedef struct {
    char uuid[96];
    char name[96];
    char serial[32];
    char busId[32];
    char vbios[32];
    uint8_t clusterUuid[16];
    uint32_t minorNumber;
    uint32_t ccMajor;
    uint32_t ccMinor;
    uint32_t lost;
    uint32_t migMode;
    uint32_t recoveryAction;
    uint32_t gpuUtil;
    uint32_t memoryUtil;
    uint32_t power;
    uint32_t temperature;
    uint32_t smClock;
    uint32_t memoryClock;
    uint32_t pcieReplays;
    uint32_t fabricState;
    uint32_t cliqueId;
    uint32_t remapPending;
    uint32_t link[MAX_LINKS];
    uint64_t memoryTotal;
    uint64_t memoryUsed;
    uint64_t energy;
    uint64_t clockReasons;
    uint64_t eventTypes;
} ControlGpu;

typedef struct {
    uint32_t magic;
    uint32_t gpuCount;
    uint32_t cudaVersion;
    uint32_t padding;
    char driverVersion[80];
    /* Written by the library. */
    uint32_t initCalls;
    uint32_t shutdownCalls;
    uint32_t openSessions;
    uint32_t eventSets;
    uint32_t waitCalls;
    uint32_t hanging;
    /* How many events were ever posted; the newest MAX_EVENTS of them are in the ring. */
    uint64_t posted;
    Rule rules[MAX_RULES];
    Event events[MAX_EVENTS];
    ControlGpu gpus[MAX_GPUS];
} Control;

#endif
