/* Prints "struct size" and "struct.field offset" of everything that Java reads or writes by offset. */
#include "nvml.h"
#include "control.h"

#include <stddef.h>
#include <stdio.h>

#define SIZE(type) printf("%s %zu\n", #type, sizeof(type))
#define FIELD(type, field) printf("%s.%s %zu\n", #type, #field, offsetof(type, field))

int main(void) {
    SIZE(nvmlPciInfo_t);
    FIELD(nvmlPciInfo_t, domain);
    FIELD(nvmlPciInfo_t, bus);
    FIELD(nvmlPciInfo_t, device);
    FIELD(nvmlPciInfo_t, busId);
    SIZE(nvmlMemory_t);
    FIELD(nvmlMemory_t, total);
    FIELD(nvmlMemory_t, free);
    FIELD(nvmlMemory_t, used);
    SIZE(nvmlMemory_v2_t);
    FIELD(nvmlMemory_v2_t, version);
    FIELD(nvmlMemory_v2_t, total);
    FIELD(nvmlMemory_v2_t, reserved);
    FIELD(nvmlMemory_v2_t, free);
    FIELD(nvmlMemory_v2_t, used);
    SIZE(nvmlUtilization_t);
    FIELD(nvmlUtilization_t, gpu);
    FIELD(nvmlUtilization_t, memory);
    SIZE(nvmlEventData_t);
    FIELD(nvmlEventData_t, device);
    FIELD(nvmlEventData_t, eventType);
    FIELD(nvmlEventData_t, eventData);
    FIELD(nvmlEventData_t, gpuInstanceId);
    FIELD(nvmlEventData_t, computeInstanceId);
    SIZE(nvmlFieldValue_t);
    FIELD(nvmlFieldValue_t, fieldId);
    FIELD(nvmlFieldValue_t, nvmlReturn);
    FIELD(nvmlFieldValue_t, value);
    SIZE(nvmlGpuFabricInfo_v2_t);
    FIELD(nvmlGpuFabricInfo_v2_t, version);
    FIELD(nvmlGpuFabricInfo_v2_t, clusterUuid);
    FIELD(nvmlGpuFabricInfo_v2_t, status);
    FIELD(nvmlGpuFabricInfo_v2_t, cliqueId);
    FIELD(nvmlGpuFabricInfo_v2_t, state);

    SIZE(Rule);
    FIELD(Rule, used);
    FIELD(Rule, gpu);
    FIELD(Rule, code);
    FIELD(Rule, hang);
    FIELD(Rule, call);
    SIZE(Event);
    FIELD(Event, gpu);
    FIELD(Event, gpuInstance);
    FIELD(Event, computeInstance);
    FIELD(Event, type);
    FIELD(Event, data);
    SIZE(ControlGpu);
    FIELD(ControlGpu, uuid);
    FIELD(ControlGpu, name);
    FIELD(ControlGpu, serial);
    FIELD(ControlGpu, busId);
    FIELD(ControlGpu, vbios);
    FIELD(ControlGpu, clusterUuid);
    FIELD(ControlGpu, minorNumber);
    FIELD(ControlGpu, ccMajor);
    FIELD(ControlGpu, ccMinor);
    FIELD(ControlGpu, lost);
    FIELD(ControlGpu, migMode);
    FIELD(ControlGpu, recoveryAction);
    FIELD(ControlGpu, gpuUtil);
    FIELD(ControlGpu, memoryUtil);
    FIELD(ControlGpu, power);
    FIELD(ControlGpu, temperature);
    FIELD(ControlGpu, smClock);
    FIELD(ControlGpu, memoryClock);
    FIELD(ControlGpu, pcieReplays);
    FIELD(ControlGpu, fabricState);
    FIELD(ControlGpu, cliqueId);
    FIELD(ControlGpu, remapPending);
    FIELD(ControlGpu, link);
    FIELD(ControlGpu, memoryTotal);
    FIELD(ControlGpu, memoryUsed);
    FIELD(ControlGpu, energy);
    FIELD(ControlGpu, clockReasons);
    FIELD(ControlGpu, eventTypes);
    SIZE(Control);
    FIELD(Control, magic);
    FIELD(Control, gpuCount);
    FIELD(Control, cudaVersion);
    FIELD(Control, driverVersion);
    FIELD(Control, initCalls);
    FIELD(Control, shutdownCalls);
    FIELD(Control, openSessions);
    FIELD(Control, eventSets);
    FIELD(Control, waitCalls);
    FIELD(Control, hanging);
    FIELD(Control, posted);
    FIELD(Control, rules);
    FIELD(Control, events);
    FIELD(Control, gpus);
    return 0;
}
