package io.gpufleet.nodedaemon.nvml.binding;

import java.nio.ByteBuffer;
import jnr.ffi.annotations.In;
import jnr.ffi.annotations.Out;
import jnr.ffi.types.u_int64_t;
import jnr.ffi.types.uintptr_t;

/**
 * The functions of nvml.h under their own names; each returns an nvmlReturn_t. A handle is an address; a struct is a buffer
 * in native byte order with the layout of {@link NvmlLayout}. A call of a function that the loaded library does not export
 * throws {@link UnsatisfiedLinkError}; of a function that the header renamed, both names are declared.
 */
public interface NvmlLibrary {
    int nvmlInit_v2();

    int nvmlInit();

    int nvmlInitWithFlags(int flags);

    int nvmlShutdown();

    int nvmlSystemGetDriverVersion(@Out byte[] version, int length);

    int nvmlSystemGetCudaDriverVersion_v2(@Out int[] version);

    int nvmlSystemGetCudaDriverVersion(@Out int[] version);

    int nvmlDeviceGetCount_v2(@Out int[] count);

    int nvmlDeviceGetCount(@Out int[] count);

    int nvmlDeviceGetHandleByIndex_v2(int index, @Out long[] device);

    int nvmlDeviceGetHandleByIndex(int index, @Out long[] device);

    int nvmlDeviceGetUUID(@uintptr_t long device, @Out byte[] uuid, int length);

    int nvmlDeviceGetSerial(@uintptr_t long device, @Out byte[] serial, int length);

    int nvmlDeviceGetName(@uintptr_t long device, @Out byte[] name, int length);

    int nvmlDeviceGetMinorNumber(@uintptr_t long device, @Out int[] minorNumber);

    int nvmlDeviceGetPciInfo_v3(@uintptr_t long device, ByteBuffer pci);

    int nvmlDeviceGetPciInfo(@uintptr_t long device, ByteBuffer pci);

    int nvmlDeviceGetMemoryInfo_v2(@uintptr_t long device, ByteBuffer memory);

    int nvmlDeviceGetMemoryInfo(@uintptr_t long device, ByteBuffer memory);

    int nvmlDeviceGetCudaComputeCapability(@uintptr_t long device, @Out int[] major, @Out int[] minor);

    int nvmlDeviceGetVbiosVersion(@uintptr_t long device, @Out byte[] version, int length);

    int nvmlDeviceGetMigMode(@uintptr_t long device, @Out int[] currentMode, @Out int[] pendingMode);

    int nvmlDeviceGetMaxMigDeviceCount(@uintptr_t long device, @Out int[] count);

    int nvmlDeviceGetMigDeviceHandleByIndex(@uintptr_t long device, int index, @Out long[] migDevice);

    int nvmlDeviceGetGpuInstanceId(@uintptr_t long migDevice, @Out int[] id);

    int nvmlDeviceGetComputeInstanceId(@uintptr_t long migDevice, @Out int[] id);

    int nvmlDeviceGetGpuInstanceById(@uintptr_t long device, int id, @Out long[] gpuInstance);

    int nvmlGpuInstanceGetInfo(@uintptr_t long gpuInstance, ByteBuffer info);

    int nvmlDeviceGetAttributes_v2(@uintptr_t long migDevice, ByteBuffer attributes);

    int nvmlDeviceGetAttributes(@uintptr_t long migDevice, ByteBuffer attributes);

    int nvmlDeviceGetNvLinkState(@uintptr_t long device, int link, @Out int[] isActive);

    int nvmlDeviceGetNvLinkRemotePciInfo_v2(@uintptr_t long device, int link, ByteBuffer pci);

    int nvmlDeviceGetNvLinkRemotePciInfo(@uintptr_t long device, int link, ByteBuffer pci);

    int nvmlDeviceGetNvLinkRemoteDeviceType(@uintptr_t long device, int link, @Out int[] type);

    int nvmlDeviceGetGpuFabricInfoV(@uintptr_t long device, ByteBuffer info);

    int nvmlDeviceGetGpuFabricInfo(@uintptr_t long device, ByteBuffer info);

    int nvmlDeviceGetUtilizationRates(@uintptr_t long device, ByteBuffer utilization);

    int nvmlDeviceGetPowerUsage(@uintptr_t long device, @Out int[] power);

    int nvmlDeviceGetTemperature(@uintptr_t long device, int sensor, @Out int[] temperature);

    int nvmlDeviceGetClockInfo(@uintptr_t long device, int type, @Out int[] clock);

    int nvmlDeviceGetTotalEnergyConsumption(@uintptr_t long device, @Out long[] energy);

    int nvmlDeviceGetPcieReplayCounter(@uintptr_t long device, @Out int[] value);

    int nvmlDeviceGetCurrPcieLinkGeneration(@uintptr_t long device, @Out int[] generation);

    int nvmlDeviceGetMaxPcieLinkGeneration(@uintptr_t long device, @Out int[] generation);

    int nvmlDeviceGetCurrPcieLinkWidth(@uintptr_t long device, @Out int[] width);

    int nvmlDeviceGetMaxPcieLinkWidth(@uintptr_t long device, @Out int[] width);

    int nvmlDeviceGetPcieThroughput(@uintptr_t long device, int counter, @Out int[] kilobytesPerSecond);

    int nvmlDeviceValidateInforom(@uintptr_t long device);

    int nvmlDeviceGetEncoderUtilization(@uintptr_t long device, @Out int[] percent, @Out int[] periodMicros);

    int nvmlDeviceGetDecoderUtilization(@uintptr_t long device, @Out int[] percent, @Out int[] periodMicros);

    int nvmlDeviceGetVirtualizationMode(@uintptr_t long device, @Out int[] mode);

    int nvmlDeviceGetViolationStatus(@uintptr_t long device, int policy, ByteBuffer time);

    int nvmlDeviceGetComputeRunningProcesses_v3(@uintptr_t long device, @In @Out int[] count, ByteBuffer processes);

    int nvmlDeviceGetComputeRunningProcesses_v2(@uintptr_t long device, @In @Out int[] count, ByteBuffer processes);

    int nvmlDeviceGetMPSComputeRunningProcesses_v3(@uintptr_t long device, @In @Out int[] count, ByteBuffer processes);

    int nvmlDeviceGetMPSComputeRunningProcesses_v2(@uintptr_t long device, @In @Out int[] count, ByteBuffer processes);

    int nvmlGpmQueryDeviceSupport(@uintptr_t long device, ByteBuffer support);

    int nvmlGpmSampleAlloc(@Out long[] sample);

    int nvmlGpmSampleFree(@uintptr_t long sample);

    int nvmlGpmSampleGet(@uintptr_t long device, @uintptr_t long sample);

    int nvmlGpmMigSampleGet(@uintptr_t long device, int gpuInstance, @uintptr_t long sample);

    int nvmlGpmMetricsGet(ByteBuffer metrics);

    int nvmlDeviceGetCurrentClocksEventReasons(@uintptr_t long device, @Out long[] reasons);

    int nvmlDeviceGetCurrentClocksThrottleReasons(@uintptr_t long device, @Out long[] reasons);

    int nvmlDeviceGetFieldValues(@uintptr_t long device, int count, @In @Out ByteBuffer values);

    int nvmlDeviceGetSupportedEventTypes(@uintptr_t long device, @Out long[] eventTypes);

    int nvmlEventSetCreate(@Out long[] set);

    int nvmlDeviceRegisterEvents(@uintptr_t long device, @u_int64_t long eventTypes, @uintptr_t long set);

    int nvmlEventSetWait_v2(@uintptr_t long set, ByteBuffer data, int timeoutMilliseconds);

    int nvmlEventSetWait(@uintptr_t long set, ByteBuffer data, int timeoutMilliseconds);

    int nvmlEventSetFree(@uintptr_t long set);

    int nvmlSystemEventSetCreate(ByteBuffer request);

    int nvmlSystemRegisterEvents(ByteBuffer request);

    int nvmlSystemEventSetWait(ByteBuffer request);

    int nvmlSystemEventSetFree(ByteBuffer request);
}
