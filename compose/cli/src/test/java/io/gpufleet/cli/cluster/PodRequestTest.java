package io.gpufleet.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.gpufleet.kit.config.ConfigurationException;
import java.util.List;
import org.junit.jupiter.api.Test;

class PodRequestTest {
    @Test
    void podCarriesTheRequestedFields() {
        // When
        Pod pod = new PodRequest("ns", "p", "2", "NVIDIA-H100", "img", "3s").pod();
        // Then
        assertThat(pod.getSpec().getContainers().getFirst().getResources().getLimits())
                .containsEntry("nvidia.com/gpu", new Quantity("2"));
        assertThat(pod.getSpec().getNodeSelector()).containsEntry("nvidia.com/gpu.product", "NVIDIA-H100");
        assertThat(pod.getMetadata().getAnnotations()).containsEntry("gpufleet.io/run-for", "3s");
    }

    @Test
    void invalidCountReachesTheApi() {
        assertThat(new PodRequest("ns", "p", "1.5", "", "img", "")
                        .pod()
                        .getSpec()
                        .getContainers()
                        .getFirst()
                        .getResources()
                        .getLimits()
                        .get("nvidia.com/gpu"))
                .hasToString("1.5");
    }

    @Test
    void nameWithoutNamespaceIsRefused() {
        assertThat(PodRequest.parseName("a/b").getValue()).isEqualTo("b");
        assertThatThrownBy(() -> PodRequest.parseName("b"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("NAMESPACE/NAME");
    }

    @Test
    void shortModelResolvesToTheOneProductThatContainsIt() {
        List<String> products = List.of("NVIDIA-H100-80GB-HBM3", "NVIDIA-A100-SXM4-40GB", "NVIDIA-A100-SXM4-80GB");
        assertThat(GpuProducts.match("h100", products)).isEqualTo("NVIDIA-H100-80GB-HBM3");
        assertThat(GpuProducts.match("NVIDIA-A100-SXM4-40GB", products)).isEqualTo("NVIDIA-A100-SXM4-40GB");
        assertThatThrownBy(() -> GpuProducts.match("A100", products))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("several models");
        assertThatThrownBy(() -> GpuProducts.match("H10", products)).hasMessageContaining("no model of this cluster");
    }

    @Test
    void runTimeThatAKubeletWouldIgnoreIsRefused() {
        assertThatThrownBy(() -> new PodRequest("a", "b", "1", "", "image", "5x"))
                .hasMessage("--run-for '5x' is not usable: it takes a time such as 500ms, 30s, 5m or 1h");
    }
}
