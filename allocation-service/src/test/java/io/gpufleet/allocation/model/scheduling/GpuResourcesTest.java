package io.gpufleet.allocation.model.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Names of resources that are GPUs. */
class GpuResourcesTest {
    private static List<ContainerResources> requesting(String resource) {
        return List.of(new ContainerResources(
                "main", ContainerResources.ContainerType.APP, Map.of(), Map.of(resource, "1", "cpu", "2")));
    }

    @Test
    void announcedNameIsAGpuWhateverItsDomain() {
        GpuResources known = GpuResources.NONE.with(List.of("example.com/a100-whole", "nvidia.com/mig-*"));
        assertThat(known.contains("example.com/a100-whole")).isTrue();
        assertThat(known.contains("example.com/a100")).isFalse();
        assertThat(known.contains("nvidia.com/mig-1g.5gb")).isTrue();
        assertThat(known.requestedBy(requesting("example.com/a100-whole"))).isTrue();
        assertThat(known.requestedBy(requesting("example.com/rdma"))).isFalse();
    }

    @Test
    void resourcesOfKubernetesItselfAreNotExtended() {
        assertThat(GpuResources.requestsExtended(requesting("example.com/rdma")))
                .isTrue();
        assertThat(GpuResources.requestsExtended(requesting("memory"))).isFalse();
        assertThat(GpuResources.isExtended("pod-level.kubernetes.io/x")).isFalse();
        assertThat(GpuResources.isExtended("kubernetes.io/x")).isFalse();
    }

    @Test
    void nameThatWouldEndATextOfTheMatchConditionIsLeftOut() {
        assertThat(GpuResources.NONE
                        .with(List.of("a/b'] || true || r in ['", "cpu", "example.com/gpu"))
                        .names())
                .containsExactly("example.com/gpu");
    }
}
