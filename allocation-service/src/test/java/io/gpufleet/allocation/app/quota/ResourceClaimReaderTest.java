package io.gpufleet.allocation.app.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.scheduling.ContainerResources;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Devices that a ResourceClaim requests. */
class ResourceClaimReaderTest {
    private static final String GPUS = "gpu.nvidia.com.deviceclass.resource.k8s.io/devices";

    private static GpuPod read(Object... requests) {
        return ResourceClaimReader.read(
                Map.of(
                        "metadata", Map.of("name", "train"),
                        "spec", Map.of("devices", Map.of("requests", List.of(requests)))),
                "ml",
                "r1");
    }

    private static Map<String, Object> exactly(Map<String, Object> exactly) {
        return Map.of("name", "gpus", "exactly", exactly);
    }

    private static Map<String, Object> device(String deviceClass, String expression) {
        Map<String, Object> device = new HashMap<>(Map.of("deviceClassName", deviceClass));
        if (!expression.isEmpty()) {
            device.put("selectors", List.of(Map.of("cel", Map.of("expression", expression))));
        }
        return device;
    }

    private static List<Map<String, String>> devices(GpuPod claim) {
        return claim.containers().stream().map(ContainerResources::limits).toList();
    }

    @Test
    void countIsOneUnlessItIsGivenAndAllIsAsManyAsResourceQuotaCounts() {
        Map<String, Object> gpu = device("gpu.nvidia.com", "");
        Map<String, Object> four = new HashMap<>(gpu);
        four.put("count", 4);
        Map<String, Object> all = new HashMap<>(gpu);
        all.put("allocationMode", "All");
        assertThat(devices(read(exactly(gpu), exactly(four), exactly(all))))
                .containsExactly(Map.of(GPUS, "1"), Map.of(GPUS, "4"), Map.of(GPUS, "32"));
        // And as the versions before v1 have it
        assertThat(devices(read(four))).containsExactly(Map.of(GPUS, "4"));
    }

    @Test
    void countThatNoIntHoldsIsNotTakenForASmallOne() {
        Map<String, Object> many = device("gpu.nvidia.com", "");
        many.put("count", 1L << 32);
        assertThat(devices(read(exactly(many)))).containsExactly(Map.of(GPUS, "1000001"));
    }

    @Test
    void mostOfEachClassAmongAlternativesCounts() {
        Map<String, Object> two = device("gpu.nvidia.com", "");
        two.put("count", 2);
        Map<String, Object> slices =
                device("mig.nvidia.com", "device.attributes['gpu.nvidia.com'].profile == '1g.5gb'");
        slices.put("count", 7);
        assertThat(devices(read(
                        Map.of("name", "any", "firstAvailable", List.of(two, device("gpu.nvidia.com", ""), slices)))))
                .containsExactly(Map.of(GPUS, "2", "mig.nvidia.com.deviceclass.resource.k8s.io/mig-1g.5gb", "7"));
    }

    @Test
    void productThatEveryRequestSelectsIsTheNodesProduct() {
        String a100 = "device.attributes[\"gpu.nvidia.com\"].productName == \"NVIDIA A100-SXM4-40GB\"";
        assertThat(read(exactly(device("gpu.nvidia.com", a100))).constraints().nodeSelector())
                .isEqualTo(Map.of("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB"));
        assertThat(read(exactly(device("gpu.nvidia.com", a100)), exactly(device("gpu.nvidia.com", "")))
                        .constraints()
                        .nodeSelector())
                .isEmpty();
    }

    @Test
    void allocatedClaimIsBoundToTheNodeOfItsDevices() {
        Map<String, Object> node = Map.of("key", "metadata.name", "operator", "In", "values", List.of("n1"));
        GpuPod claim = ResourceClaimReader.read(
                Map.of(
                        "metadata", Map.of("name", "train", "uid", "u1"),
                        "status",
                                Map.of(
                                        "allocation",
                                        Map.of(
                                                "nodeSelector",
                                                Map.of(
                                                        "nodeSelectorTerms",
                                                        List.of(Map.of("matchFields", List.of(node))))))),
                "ml",
                "");
        assertThat(claim.constraints().nodeName()).isEqualTo("n1");
        assertThat(claim.displayName()).isEqualTo("ml/resourceclaim/train");
        assertThat(claim.uidKnown()).isTrue();
    }

    @Test
    void claimOfAnotherShapeRequestsNothing() {
        assertThat(ResourceClaimReader.read(Map.of("spec", "x"), "ml", "r1").containers())
                .isEmpty();
    }
}
