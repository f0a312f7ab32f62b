package io.gpufleet.allocation.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.gpufleet.allocation.model.quota.GpuQuota;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Rows of a status as a former release wrote them, or as the API server shows them after it dropped unknown fields. */
class GpuQuotaMapperTest {
    static List<Map<String, Object>> formerRows() {
        return List.of(Map.of("model", "A100", "gpus", 7), Map.of(), Map.of("limit", "A100"));
    }

    @ParameterizedTest
    @MethodSource("formerRows")
    void rowThatNamesNoLimitOrNoAmountIsNotReadAsNothingAdmitted(Map<String, Object> row) {
        var object = new GenericKubernetesResource();
        object.setMetadata(
                new ObjectMetaBuilder().withName("q").withResourceVersion("3").build());
        object.setAdditionalProperty(
                "spec", Map.of("namespaces", List.of("ml"), "limits", List.of(Map.of("model", "A100", "gpus", 10))));
        object.setAdditionalProperty("status", Map.of("leader", "r0@5", "term", 5, "escrow", List.of(row)));
        // When
        GpuQuota quota = GpuQuotaMapper.read(object);
        // Then
        assertThat(quota.status().term()).isEqualTo(5);
        assertThat(quota.status().escrow()).isEmpty();
    }
}
