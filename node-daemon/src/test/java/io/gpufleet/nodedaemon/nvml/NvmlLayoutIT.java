package io.gpufleet.nodedaemon.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The offsets that Java uses are those of the C compiler. */
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
                Map.entry("nvmlGpuFabricInfo_v2_t.state", NvmlLayout.FABRIC_STATE));

        // Then
        assertThat(CBuild.layouts()).containsAllEntriesOf(java);
    }

    @Test
    void versionedStructsCarryTheVersionsOfTheHeader() {
        assertThat(NvmlLayout.version(NvmlLayout.MEMORY_V2_SIZE, 2)).isEqualTo(0x2000028);
        assertThat(NvmlLayout.version(NvmlLayout.FABRIC_SIZE, 2)).isEqualTo(0x2000024);
    }
}
