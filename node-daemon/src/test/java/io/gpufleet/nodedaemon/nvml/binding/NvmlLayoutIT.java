package io.gpufleet.nodedaemon.nvml.binding;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.nvml.FakeNvmlBuild;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Compares the offsets in Java with those of the C compiler. */
class NvmlLayoutIT {
    @Test
    void javaAndCLayOutTheSameStructs() {
        // Given
        Map<String, Integer> java = Map.ofEntries(
                Map.entry("nvmlPciInfo_t", NvmlLayout.PCI_SIZE),
                Map.entry("nvmlPciInfo_t.domain", NvmlLayout.PCI_DOMAIN),
                Map.entry("nvmlPciInfo_t.bus", NvmlLayout.PCI_BUS),
                Map.entry("nvmlPciInfo_t.device", NvmlLayout.PCI_DEVICE),
                Map.entry("nvmlPciInfo_t.busId", NvmlLayout.PCI_BUS_ID),
                Map.entry("nvmlMemory_t", NvmlLayout.MEMORY_SIZE),
                Map.entry("nvmlMemory_t.total", NvmlLayout.MEMORY_TOTAL),
                Map.entry("nvmlMemory_t.used", NvmlLayout.MEMORY_USED),
                Map.entry("nvmlMemory_v2_t", NvmlLayout.MEMORY_V2_SIZE),
                Map.entry("nvmlMemory_v2_t.version", NvmlLayout.MEMORY_V2_VERSION),
                Map.entry("nvmlMemory_v2_t.total", NvmlLayout.MEMORY_V2_TOTAL),
                Map.entry("nvmlMemory_v2_t.used", NvmlLayout.MEMORY_V2_USED),
                Map.entry("nvmlUtilization_t", NvmlLayout.UTILIZATION_SIZE),
                Map.entry("nvmlUtilization_t.gpu", NvmlLayout.UTILIZATION_GPU),
                Map.entry("nvmlUtilization_t.memory", NvmlLayout.UTILIZATION_MEMORY),
                Map.entry("nvmlEventData_t", NvmlLayout.EVENT_SIZE),
                Map.entry("nvmlEventData_t.device", NvmlLayout.EVENT_DEVICE),
                Map.entry("nvmlEventData_t.eventType", NvmlLayout.EVENT_TYPE),
                Map.entry("nvmlEventData_t.eventData", NvmlLayout.EVENT_DATA),
                Map.entry("nvmlEventData_t.gpuInstanceId", NvmlLayout.EVENT_GPU_INSTANCE),
                Map.entry("nvmlEventData_t.computeInstanceId", NvmlLayout.EVENT_COMPUTE_INSTANCE),
                Map.entry("nvmlFieldValue_t", NvmlLayout.FIELD_SIZE),
                Map.entry("nvmlFieldValue_t.fieldId", NvmlLayout.FIELD_ID),
                Map.entry("nvmlFieldValue_t.nvmlReturn", NvmlLayout.FIELD_RETURN),
                Map.entry("nvmlFieldValue_t.value", NvmlLayout.FIELD_VALUE),
                Map.entry("nvmlGpuFabricInfo_v2_t", NvmlLayout.FABRIC_SIZE),
                Map.entry("nvmlGpuFabricInfo_v2_t.version", NvmlLayout.FABRIC_VERSION),
                Map.entry("nvmlGpuFabricInfo_v2_t.clusterUuid", NvmlLayout.FABRIC_CLUSTER),
                Map.entry("nvmlGpuFabricInfo_v2_t.status", NvmlLayout.FABRIC_STATUS),
                Map.entry("nvmlGpuFabricInfo_v2_t.cliqueId", NvmlLayout.FABRIC_CLIQUE),
                Map.entry("nvmlGpuFabricInfo_v2_t.state", NvmlLayout.FABRIC_STATE),
                Map.entry("nvmlFieldValue_t.scopeId", NvmlLayout.FIELD_SCOPE),
                Map.entry("nvmlFieldValue_t.valueType", NvmlLayout.FIELD_TYPE),
                Map.entry("nvmlDeviceAttributes_t", NvmlLayout.ATTRIBUTES_SIZE),
                Map.entry("nvmlDeviceAttributes_t.multiprocessorCount", NvmlLayout.ATTRIBUTES_MULTIPROCESSORS),
                Map.entry("nvmlDeviceAttributes_t.sharedCopyEngineCount", NvmlLayout.ATTRIBUTES_COPY_ENGINES),
                Map.entry("nvmlDeviceAttributes_t.sharedDecoderCount", NvmlLayout.ATTRIBUTES_DECODERS),
                Map.entry("nvmlDeviceAttributes_t.sharedEncoderCount", NvmlLayout.ATTRIBUTES_ENCODERS),
                Map.entry("nvmlDeviceAttributes_t.sharedJpegCount", NvmlLayout.ATTRIBUTES_JPEGS),
                Map.entry("nvmlDeviceAttributes_t.sharedOfaCount", NvmlLayout.ATTRIBUTES_OFAS),
                Map.entry("nvmlDeviceAttributes_t.gpuInstanceSliceCount", NvmlLayout.ATTRIBUTES_GPU_SLICES),
                Map.entry("nvmlDeviceAttributes_t.computeInstanceSliceCount", NvmlLayout.ATTRIBUTES_COMPUTE_SLICES),
                Map.entry("nvmlDeviceAttributes_t.memorySizeMB", NvmlLayout.ATTRIBUTES_MEMORY_MB),
                Map.entry("nvmlGpuInstanceInfo_t", NvmlLayout.GPU_INSTANCE_SIZE),
                Map.entry("nvmlGpuInstanceInfo_t.profileId", NvmlLayout.GPU_INSTANCE_PROFILE),
                Map.entry("nvmlGpuInstanceInfo_t.placement.start", NvmlLayout.GPU_INSTANCE_START),
                Map.entry("nvmlGpuInstanceInfo_t.placement.size", NvmlLayout.GPU_INSTANCE_SLICES),
                Map.entry("nvmlProcessInfo_t", NvmlLayout.PROCESS_SIZE),
                Map.entry("nvmlProcessInfo_t.pid", NvmlLayout.PROCESS_PID),
                Map.entry("nvmlProcessInfo_t.usedGpuMemory", NvmlLayout.PROCESS_MEMORY),
                Map.entry("nvmlProcessInfo_t.gpuInstanceId", NvmlLayout.PROCESS_GPU_INSTANCE),
                Map.entry("nvmlProcessInfo_t.computeInstanceId", NvmlLayout.PROCESS_COMPUTE_INSTANCE),
                Map.entry("nvmlViolationTime_t", NvmlLayout.VIOLATION_SIZE),
                Map.entry("nvmlViolationTime_t.violationTime", NvmlLayout.VIOLATION_TIME),
                Map.entry("nvmlGpmSupport_t", NvmlLayout.GPM_SUPPORT_SIZE),
                Map.entry("nvmlGpmSupport_t.version", NvmlLayout.GPM_SUPPORT_VERSION),
                Map.entry("nvmlGpmSupport_t.isSupportedDevice", NvmlLayout.GPM_SUPPORT_SUPPORTED),
                Map.entry("nvmlGpmMetric_t", NvmlLayout.GPM_METRIC_SIZE),
                Map.entry("nvmlGpmMetric_t.metricId", NvmlLayout.GPM_METRIC_ID),
                Map.entry("nvmlGpmMetric_t.nvmlReturn", NvmlLayout.GPM_METRIC_RETURN),
                Map.entry("nvmlGpmMetric_t.value", NvmlLayout.GPM_METRIC_VALUE),
                Map.entry("nvmlGpmMetricsGet_t", NvmlLayout.GPM_METRICS_SIZE),
                Map.entry("nvmlGpmMetricsGet_t.version", NvmlLayout.GPM_METRICS_VERSION),
                Map.entry("nvmlGpmMetricsGet_t.numMetrics", NvmlLayout.GPM_METRICS_COUNT),
                Map.entry("nvmlGpmMetricsGet_t.sample1", NvmlLayout.GPM_METRICS_FIRST),
                Map.entry("nvmlGpmMetricsGet_t.sample2", NvmlLayout.GPM_METRICS_SECOND),
                Map.entry("nvmlGpmMetricsGet_t.metrics", NvmlLayout.GPM_METRICS_METRICS),
                Map.entry("nvmlSystemEventSetCreateRequest_t", NvmlLayout.SYSTEM_SET_SIZE),
                Map.entry("nvmlSystemEventSetCreateRequest_t.version", NvmlLayout.SYSTEM_SET_VERSION),
                Map.entry("nvmlSystemEventSetCreateRequest_t.set", NvmlLayout.SYSTEM_SET_SET),
                Map.entry("nvmlSystemEventSetFreeRequest_t", NvmlLayout.SYSTEM_SET_SIZE),
                Map.entry("nvmlSystemEventSetFreeRequest_t.version", NvmlLayout.SYSTEM_SET_VERSION),
                Map.entry("nvmlSystemEventSetFreeRequest_t.set", NvmlLayout.SYSTEM_SET_SET),
                Map.entry("nvmlSystemRegisterEventRequest_t", NvmlLayout.SYSTEM_REGISTER_SIZE),
                Map.entry("nvmlSystemRegisterEventRequest_t.version", NvmlLayout.SYSTEM_REGISTER_VERSION),
                Map.entry("nvmlSystemRegisterEventRequest_t.eventTypes", NvmlLayout.SYSTEM_REGISTER_TYPES),
                Map.entry("nvmlSystemRegisterEventRequest_t.set", NvmlLayout.SYSTEM_REGISTER_SET),
                Map.entry("nvmlSystemEventData_v1_t", NvmlLayout.SYSTEM_EVENT_SIZE),
                Map.entry("nvmlSystemEventData_v1_t.eventType", NvmlLayout.SYSTEM_EVENT_TYPE),
                Map.entry("nvmlSystemEventSetWaitRequest_t", NvmlLayout.SYSTEM_WAIT_SIZE),
                Map.entry("nvmlSystemEventSetWaitRequest_t.version", NvmlLayout.SYSTEM_WAIT_VERSION),
                Map.entry("nvmlSystemEventSetWaitRequest_t.timeoutms", NvmlLayout.SYSTEM_WAIT_TIMEOUT),
                Map.entry("nvmlSystemEventSetWaitRequest_t.set", NvmlLayout.SYSTEM_WAIT_SET),
                Map.entry("nvmlSystemEventSetWaitRequest_t.data", NvmlLayout.SYSTEM_WAIT_DATA),
                Map.entry("nvmlSystemEventSetWaitRequest_t.dataSize", NvmlLayout.SYSTEM_WAIT_ROOM),
                Map.entry("nvmlSystemEventSetWaitRequest_t.numEvent", NvmlLayout.SYSTEM_WAIT_COUNT),
                Map.entry("nvmlMemory_t.free", NvmlLayout.MEMORY_FREE),
                Map.entry("nvmlMemory_v2_t.free", NvmlLayout.MEMORY_V2_FREE),
                Map.entry("nvmlMemory_v2_t.reserved", NvmlLayout.MEMORY_V2_RESERVED));

        // Then
        assertThat(FakeNvmlBuild.layouts()).containsAllEntriesOf(java);
    }

    @Test
    void versionedStructsCarryTheVersionsOfTheHeader() {
        assertThat(NvmlLayout.version(NvmlLayout.MEMORY_V2_SIZE, 2)).isEqualTo(0x2000028);
        assertThat(NvmlLayout.version(NvmlLayout.FABRIC_SIZE, 2)).isEqualTo(0x2000024);
        assertThat(NvmlLayout.version(NvmlLayout.SYSTEM_SET_SIZE, 1)).isEqualTo(0x1000010);
        assertThat(NvmlLayout.version(NvmlLayout.SYSTEM_REGISTER_SIZE, 1)).isEqualTo(0x1000018);
        assertThat(NvmlLayout.version(NvmlLayout.SYSTEM_WAIT_SIZE, 1)).isEqualTo(0x1000020);
    }
}
