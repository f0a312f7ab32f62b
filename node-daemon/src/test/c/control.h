/*
 * Control file of the fake NVML library: "nvml.control" beside the library, mapped by the test and by the library. Only the
 * test writes, except the counters in Control. The program "layouts" prints the offset of each field.
 */
#ifndef FAKE_NVML_CONTROL_H
#define FAKE_NVML_CONTROL_H

#include <stdint.h>

#define CONTROL_MAGIC 0x4c4d564eu
#define MAX_GPUS 16
#define MAX_RULES 32
#define MAX_EVENTS 256
#define MAX_LINKS 18
#define MAX_MIG 8
#define MAX_PROCESSES 64
#define MAX_FIELDS 304
#define MAX_METRICS 32
#define MAX_SYSTEM_EVENTS 64
#define LINK_DOWN 0xffu
#define LINK_SWITCH 0xfeu
#define ANY_GPU (-1)
#define UNSUPPORTED 0xffffffffu
#define UNSUPPORTED_LONG 0xffffffffffffffffull

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

/* A MIG instance in its slot; `used` is written last. */
typedef struct {
    uint32_t used;
    uint32_t gpuInstance;
    uint32_t computeInstance;
    uint32_t gpuSlices;
    uint32_t computeSlices;
    uint32_t multiprocessors;
    uint32_t copyEngines;
    uint32_t decoders;
    uint32_t encoders;
    uint32_t jpegs;
    uint32_t ofas;
    uint32_t profileId;
    uint32_t placementStart;
    uint32_t placementSize;
    uint64_t memoryMb;
    uint64_t memoryUsed;
    char uuid[96];
    char profile[32];
} ControlMig;

/* A process in its slot; `used` is written last. */
typedef struct {
    uint32_t used;
    uint32_t pid;
    uint32_t gpuInstance;
    uint32_t computeInstance;
    uint32_t mps;
    uint32_t padding;
    uint64_t memory;
} ControlProcess;

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
    uint32_t fabricStatus;
    uint32_t pcieGeneration;
    uint32_t pcieGenerationMax;
    uint32_t pcieWidth;
    uint32_t pcieWidthMax;
    uint32_t encoderUtil;
    uint32_t decoderUtil;
    uint32_t infoRom;
    uint32_t gpm;
    uint32_t pcieSent;
    uint32_t pcieReceived;
    uint32_t virtualization;
    /* Size of an nvmlProcessInfo_t in bytes, which differs by driver; 0 means that of the header. */
    uint32_t processSize;
    /* Code of each wait for an event set in which this GPU is registered; the events of the others stay in the set. */
    uint32_t waitFails;
    /* Code of each call about a link; 0 where it answers. */
    uint32_t linkFails[MAX_LINKS];
    /* nvmlGpuFabricInfo_v2_t.healthMask; UNSUPPORTED makes the driver know only the first version of the struct. */
    uint32_t fabricHealth;
    uint32_t link[MAX_LINKS];
    uint64_t memoryTotal;
    uint64_t memoryUsed;
    uint64_t energy;
    uint64_t clockReasons;
    uint64_t eventTypes;
    uint64_t powerViolation;
    uint64_t thermalViolation;
    /* By field id; a field that is read per link has the same value on each link. */
    uint64_t fields[MAX_FIELDS];
    /* By metric id, in percent or MiB/s. */
    double metrics[MAX_METRICS];
    ControlMig mig[MAX_MIG];
    ControlProcess processes[MAX_PROCESSES];
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
    uint32_t systemSets;
    uint32_t samples;
    uint32_t migQueries;
    uint32_t validations;
    /* Sessions that began; handles and sets used after their session; sessions that ended while a call hung in them. */
    uint32_t generations;
    uint32_t staleHandles;
    uint32_t shutdownsDuringCalls;
    uint32_t systemSleeps;
    /* Calls of nvmlDeviceGetNvLinkState and of nvmlDeviceGetFieldValues. */
    uint32_t linkStateCalls;
    uint32_t fieldCalls;
    /* A test that wakes waiters by `futex` after each event sets `usesFutex`; without it the library polls every millisecond. */
    uint32_t usesFutex;
    uint32_t futex;
    /* Number of system events ever posted; the newest are in the ring. */
    uint64_t systemPosted;
    uint64_t systemEvents[MAX_SYSTEM_EVENTS];
    /* Time at which the newest event was delivered: CLOCK_MONOTONIC, which is System.nanoTime() of every process. */
    uint64_t deliveredNanos;
    /* Number of events ever posted; the newest MAX_EVENTS are in the ring. */
    uint64_t posted;
    Rule rules[MAX_RULES];
    Event events[MAX_EVENTS];
    ControlGpu gpus[MAX_GPUS];
} Control;

#endif
