package io.gpufleet.allocation.model.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.scheduling.NodeInfo;
import io.gpufleet.allocation.model.scheduling.SchedulingConstraints;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Models that a pod may run on. */
class GpuModelIndexTest {
    private static final GpuModel A100 = new GpuModel("NVIDIA A100", "A100", 8);
    private static final GpuModel A100_80 = new GpuModel("NVIDIA A100-SXM4-80GB", "A100-80GB", 8);

    private static NodeInfo node(String name, String product) {
        return new NodeInfo(name, Map.of("nvidia.com/gpu.product", product), true);
    }

    private static SchedulingConstraints selecting(String product) {
        return new SchedulingConstraints(Map.of("nvidia.com/gpu.product", product), List.of(), "");
    }

    private static SchedulingConstraints boundTo(String node) {
        return new SchedulingConstraints(Map.of(), List.of(), node);
    }

    @Test
    void announcedModelsOfMatchingNodesAreTheModels() {
        GpuModelIndex index = new GpuModelIndex();
        index.nodeObserved(node("n1", "x"));
        index.nodeObserved(node("n2", "y"));
        index.modelsAnnounced("n1", List.of(A100));
        index.modelsAnnounced("n2", List.of(A100_80));
        assertThat(index.modelsFor(SchedulingConstraints.NONE)).isEqualTo(Set.of("A100", "A100-80GB"));
        assertThat(index.modelsFor(selecting("y"))).isEqualTo(Set.of("A100-80GB"));
        index.nodeDeleted("n2");
        assertThat(index.modelsFor(SchedulingConstraints.NONE)).isEqualTo(Set.of("A100"));
    }

    @Test
    void longestProductThatFitsTheLabelIsTheModel() {
        GpuModelIndex index = new GpuModelIndex();
        index.modelsAnnounced("n1", List.of(A100, A100_80));
        assertThat(index.modelsFor(selecting("NVIDIA-A100-SXM4-80GB"))).isEqualTo(Set.of("A100-80GB"));
        assertThat(index.modelsFor(selecting("NVIDIA-A100-SXM4-80GB-SHARED"))).isEqualTo(Set.of("A100-80GB"));
        assertThat(index.modelsFor(selecting("NVIDIA-A100-MIG-1g.5gb"))).isEqualTo(Set.of("A100"));
        assertThat(index.modelsFor(selecting("NVIDIA-A1000"))).isEqualTo(Set.of(QuotaLimit.UNKNOWN));
    }

    @Test
    void nodeWithoutDaemonIsKnownByItsProductLabel() {
        GpuModelIndex index = new GpuModelIndex();
        index.modelsAnnounced("n1", List.of(A100));
        index.nodeObserved(node("n2", "NVIDIA-A100-SHARED"));
        assertThat(index.modelsFor(boundTo("n2"))).isEqualTo(Set.of("A100"));
    }

    @Test
    void nodeThatIsNotKnownAnyMoreHasTheModelOfItsLabel() {
        GpuModelIndex index = new GpuModelIndex();
        index.nodeObserved(node("n1", "NVIDIA-H100"));
        index.modelsAnnounced("n1", List.of(A100));
        index.modelsAnnounced("n1", List.of());
        assertThat(index.modelsFor(boundTo("n1"))).isEqualTo(Set.of(QuotaLimit.UNKNOWN));
    }

    @Test
    void podBoundToUnknownNodeHasUnknownModel() {
        assertThat(new GpuModelIndex().modelsFor(boundTo("n9"))).isEqualTo(Set.of(QuotaLimit.UNKNOWN));
    }

    @Test
    void nodeWithoutGpusHasNoModel() {
        GpuModelIndex index = new GpuModelIndex();
        index.nodeObserved(new NodeInfo("cpu", Map.of(), false));
        index.nodeObserved(node("n1", "x"));
        index.modelsAnnounced("n1", List.of(A100));
        assertThat(index.modelsFor(SchedulingConstraints.NONE)).isEqualTo(Set.of("A100"));
    }

    @Test
    void modelsOfConstraintsFollowEveryChangeOfANode() {
        GpuModelIndex index = new GpuModelIndex();
        assertThat(index.modelsFor(selecting("x"))).isEqualTo(Set.of(QuotaLimit.UNKNOWN));
        // When
        index.nodeObserved(node("n1", "x"));
        index.modelsAnnounced("n1", List.of(A100));
        // Then
        assertThat(index.modelsFor(selecting("x"))).isEqualTo(Set.of("A100"));
        assertThat(index.drainChangedConstraints()).contains(selecting("x"));
        index.nodeObserved(node("n1", "y"));
        assertThat(index.modelsFor(selecting("x"))).isEqualTo(Set.of(QuotaLimit.UNKNOWN));
        assertThat(index.modelsFor(SchedulingConstraints.NONE)).isEqualTo(Set.of("A100"));
    }

    @Test
    void eventWithoutEffectChangesNothing() {
        GpuModelIndex index = new GpuModelIndex();
        index.nodeObserved(node("n1", "x"));
        index.modelsAnnounced("n1", List.of(A100));
        index.drainChangedNodes();
        // When
        index.nodeObserved(node("n1", "x"));
        index.modelsAnnounced("n1", List.of(A100));
        index.nodeDeleted("n2");
        // Then
        assertThat(index.drainChangedNodes()).isEmpty();
    }

    @Test
    void nodeWithoutDaemonIsKnownByItsTypeLabel() {
        GpuModelIndex index = new GpuModelIndex();
        index.nodeObserved(new NodeInfo("n1", Map.of("gpu-type", "b200"), true));
        assertThat(index.modelsFor(boundTo("n1"))).isEqualTo(Set.of("B200"));
        assertThat(index.knows("B200")).isTrue();
    }
}
