package io.gpufleet.allocation.model.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.scheduling.NodeInfo;
import io.gpufleet.allocation.model.scheduling.SchedulingConstraints;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Models that a pod may run on. */
class GpuOfferIndexTest {
    private static final GpuModel A100 = new GpuModel("NVIDIA A100", "A100", 8);
    private static final GpuModel A100_80 = new GpuModel("NVIDIA A100-SXM4-80GB", "A100-80GB", 8);

    private static Set<String> models(GpuOfferIndex index, SchedulingConstraints constraints) {
        return index.offersFor(constraints, "nvidia.com/gpu").stream()
                .map(GpuOffer::model)
                .collect(Collectors.toSet());
    }

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
        GpuOfferIndex index = new GpuOfferIndex();
        index.nodeObserved(node("n1", "x"));
        index.nodeObserved(node("n2", "y"));
        index.gpusAnnounced("n1", TestQuotas.gpus(A100));
        index.gpusAnnounced("n2", TestQuotas.gpus(A100_80));
        assertThat(models(index, SchedulingConstraints.NONE)).isEqualTo(Set.of("A100", "A100-80GB"));
        assertThat(models(index, selecting("y"))).isEqualTo(Set.of("A100-80GB"));
        index.nodeDeleted("n2");
        assertThat(models(index, SchedulingConstraints.NONE)).isEqualTo(Set.of("A100"));
    }

    @Test
    void longestProductThatFitsTheLabelIsTheModel() {
        GpuOfferIndex index = new GpuOfferIndex();
        index.gpusAnnounced("n1", TestQuotas.gpus(A100, A100_80));
        assertThat(models(index, selecting("NVIDIA-A100-SXM4-80GB"))).isEqualTo(Set.of("A100-80GB"));
        assertThat(models(index, selecting("NVIDIA-A100-SXM4-80GB-SHARED"))).isEqualTo(Set.of("A100-80GB"));
        assertThat(models(index, selecting("NVIDIA-A100-MIG-1g.5gb"))).isEqualTo(Set.of("A100"));
        assertThat(models(index, selecting("NVIDIA-A1000"))).isEqualTo(Set.of(GpuOffer.UNKNOWN));
    }

    @Test
    void nodeWithoutDaemonIsKnownByItsProductLabel() {
        GpuOfferIndex index = new GpuOfferIndex();
        index.gpusAnnounced("n1", TestQuotas.gpus(A100));
        index.nodeObserved(node("n2", "NVIDIA-A100-SHARED"));
        assertThat(models(index, boundTo("n2"))).isEqualTo(Set.of("A100"));
    }

    @Test
    void nodeThatIsNotKnownAnyMoreHasTheModelOfItsLabel() {
        GpuOfferIndex index = new GpuOfferIndex();
        index.nodeObserved(node("n1", "NVIDIA-H100"));
        index.gpusAnnounced("n1", TestQuotas.gpus(A100));
        index.gpusAnnounced("n1", TestQuotas.gpus());
        assertThat(models(index, boundTo("n1"))).isEqualTo(Set.of(GpuOffer.UNKNOWN));
    }

    @Test
    void podBoundToUnknownNodeHasUnknownModel() {
        assertThat(models(new GpuOfferIndex(), boundTo("n9"))).isEqualTo(Set.of(GpuOffer.UNKNOWN));
    }

    @Test
    void nodeWithoutGpusHasNoModel() {
        GpuOfferIndex index = new GpuOfferIndex();
        index.nodeObserved(new NodeInfo("cpu", Map.of(), false));
        index.nodeObserved(node("n1", "x"));
        index.gpusAnnounced("n1", TestQuotas.gpus(A100));
        assertThat(models(index, SchedulingConstraints.NONE)).isEqualTo(Set.of("A100"));
    }

    @Test
    void modelsOfConstraintsFollowEveryChangeOfANode() {
        GpuOfferIndex index = new GpuOfferIndex();
        assertThat(models(index, selecting("x"))).isEqualTo(Set.of(GpuOffer.UNKNOWN));
        // When
        index.nodeObserved(node("n1", "x"));
        index.gpusAnnounced("n1", TestQuotas.gpus(A100));
        // Then
        assertThat(models(index, selecting("x"))).isEqualTo(Set.of("A100"));
        assertThat(index.drainChangedConstraints()).contains(selecting("x"));
        index.nodeObserved(node("n1", "y"));
        assertThat(models(index, selecting("x"))).isEqualTo(Set.of(GpuOffer.UNKNOWN));
        assertThat(models(index, SchedulingConstraints.NONE)).isEqualTo(Set.of("A100"));
    }

    @Test
    void eventWithoutEffectChangesNothing() {
        GpuOfferIndex index = new GpuOfferIndex();
        index.nodeObserved(node("n1", "x"));
        index.gpusAnnounced("n1", TestQuotas.gpus(A100));
        index.drainChangedNodes();
        // When
        index.nodeObserved(node("n1", "x"));
        index.gpusAnnounced("n1", TestQuotas.gpus(A100));
        index.nodeDeleted("n2");
        // Then
        assertThat(index.drainChangedNodes()).isEmpty();
    }

    @Test
    void nodeWithoutDaemonIsKnownByItsTypeLabel() {
        GpuOfferIndex index = new GpuOfferIndex();
        index.nodeObserved(new NodeInfo("n1", Map.of("gpu-type", "b200"), true));
        assertThat(models(index, boundTo("n1"))).isEqualTo(Set.of("B200"));
        assertThat(index.knows(new QuotaLimit("b200", 1).selector())).isTrue();
    }
}
