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

    private static MutableGpuModelIndex changed(GpuModelIndex index) {
        return new MutableGpuModelIndex(index);
    }

    @Test
    void announcedModelsOfMatchingNodesAreTheModels() {
        GpuModelIndex index = changed(GpuModelIndex.EMPTY)
                .withNode(node("n1", "x"))
                .withNode(node("n2", "y"))
                .withModels("n1", List.of(A100))
                .withModels("n2", List.of(A100_80))
                .toIndex();
        assertThat(index.modelsFor(SchedulingConstraints.NONE)).isEqualTo(Set.of("A100", "A100-80GB"));
        assertThat(index.modelsFor(selecting("y"))).isEqualTo(Set.of("A100-80GB"));
        assertThat(changed(index).withoutNode("n2").toIndex().modelsFor(SchedulingConstraints.NONE))
                .isEqualTo(Set.of("A100"));
    }

    @Test
    void longestProductThatFitsTheLabelIsTheModel() {
        GpuModelIndex index = changed(GpuModelIndex.EMPTY)
                .withModels("n1", List.of(A100, A100_80))
                .toIndex();
        assertThat(index.modelsFor(selecting("NVIDIA-A100-SXM4-80GB"))).isEqualTo(Set.of("A100-80GB"));
        assertThat(index.modelsFor(selecting("NVIDIA-A100-SXM4-80GB-SHARED"))).isEqualTo(Set.of("A100-80GB"));
        assertThat(index.modelsFor(selecting("NVIDIA-A100-MIG-1g.5gb"))).isEqualTo(Set.of("A100"));
        assertThat(index.modelsFor(selecting("NVIDIA-A1000"))).isEqualTo(Set.of(QuotaLimit.UNKNOWN));
    }

    @Test
    void nodeWithoutDaemonIsKnownByItsProductLabel() {
        GpuModelIndex index = changed(GpuModelIndex.EMPTY)
                .withModels("n1", List.of(A100))
                .withNode(node("n2", "NVIDIA-A100-SHARED"))
                .toIndex();
        assertThat(index.modelsFor(boundTo("n2"))).isEqualTo(Set.of("A100"));
    }

    @Test
    void nodeThatIsNotKnownAnyMoreHasTheModelOfItsLabel() {
        GpuModelIndex index = changed(GpuModelIndex.EMPTY)
                .withNode(node("n1", "NVIDIA-H100"))
                .withModels("n1", List.of(A100))
                .withModels("n1", List.of())
                .toIndex();
        assertThat(index.modelsFor(boundTo("n1"))).isEqualTo(Set.of(QuotaLimit.UNKNOWN));
        assertThat(changed(index).withModels("n1", List.of()).toIndex()).isSameAs(index);
    }

    @Test
    void podBoundToUnknownNodeHasUnknownModel() {
        assertThat(GpuModelIndex.EMPTY.modelsFor(boundTo("n9"))).isEqualTo(Set.of(QuotaLimit.UNKNOWN));
    }

    @Test
    void nodeWithoutGpusHasNoModel() {
        GpuModelIndex index = changed(GpuModelIndex.EMPTY)
                .withNode(new NodeInfo("cpu", Map.of(), false))
                .withNode(node("n1", "x"))
                .withModels("n1", List.of(A100))
                .toIndex();
        assertThat(index.modelsFor(SchedulingConstraints.NONE)).isEqualTo(Set.of("A100"));
    }

    @Test
    void eventWithoutEffectGivesTheSameIndex() {
        GpuModelIndex index = changed(GpuModelIndex.EMPTY)
                .withNode(node("n1", "x"))
                .withModels("n1", List.of(A100))
                .toIndex();
        assertThat(changed(index).withNode(node("n1", "x")).toIndex()).isSameAs(index);
        assertThat(changed(index).withModels("n1", List.of(A100)).toIndex()).isSameAs(index);
        assertThat(changed(index).withoutNode("n2").toIndex()).isSameAs(index);
    }

    @Test
    void indexOfBeforeABatchDoesNotChange() {
        GpuModelIndex before =
                changed(GpuModelIndex.EMPTY).withNode(node("n1", "x")).toIndex();
        // When
        GpuModelIndex after = changed(before)
                .withoutNode("n1")
                .withModels("n1", List.of(A100))
                .toIndex();
        // Then
        assertThat(before)
                .isEqualTo(
                        changed(GpuModelIndex.EMPTY).withNode(node("n1", "x")).toIndex());
        assertThat(after).isNotEqualTo(before);
    }
}
