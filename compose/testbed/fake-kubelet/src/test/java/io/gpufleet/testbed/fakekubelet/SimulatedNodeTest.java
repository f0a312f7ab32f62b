package io.gpufleet.testbed.fakekubelet;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.NodeStatusBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SimulatedNodeTest {
    private static final Instant FIRST = Instant.parse("2026-01-02T03:04:05Z");

    @Test
    void unhealthyDevicesCountAsCapacityOnly() {
        // Given
        var view = new AdvertisedResource(
                "nvidia.com/gpu",
                true,
                List.of(
                        new AdvertisedResource.Device("a", true, List.of()),
                        new AdvertisedResource.Device("b", false, List.of())),
                List.of());
        // When
        NodeStatus status = SimulatedNode.status(null, "n", "boot", Map.of("nvidia.com/gpu", view), FIRST);
        // Then
        assertThat(status.getCapacity()).containsEntry("nvidia.com/gpu", new Quantity("2"));
        assertThat(status.getAllocatable()).containsEntry("nvidia.com/gpu", new Quantity("1"));
        assertThat(status.getNodeInfo().getBootID()).isEqualTo("boot");
    }

    @Test
    void heartbeatMovesAndTransitionStays() {
        // Given
        NodeStatus first = SimulatedNode.status(null, "n", "boot", Map.of(), FIRST);
        // When
        NodeStatus second = SimulatedNode.status(first, "n", "boot", Map.of(), FIRST.plusSeconds(10));
        // Then
        NodeCondition ready = second.getConditions().getFirst();
        assertThat(ready.getLastTransitionTime()).isEqualTo("2026-01-02T03:04:05Z");
        assertThat(ready.getLastHeartbeatTime()).isEqualTo("2026-01-02T03:04:15Z");
    }

    @Test
    void conditionsOfOthersStay() {
        // Given
        NodeStatus marked = new NodeStatusBuilder()
                .addNewCondition()
                .withType("GpuUnhealthy")
                .withStatus("True")
                .endCondition()
                .build();
        // When
        NodeStatus status = SimulatedNode.status(marked, "n", "boot", Map.of(), FIRST);
        // Then
        assertThat(status.getConditions()).extracting(NodeCondition::getType).containsExactly("GpuUnhealthy", "Ready");
    }
}
