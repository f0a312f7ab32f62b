package io.gpufleet.allocation.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.QuotaStatus;
import io.gpufleet.allocation.model.scheduling.GpuAmount;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
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

    /** What the schema refuses would be read as fewer namespaces or fewer limits. */
    static List<Map<String, Object>> meaninglessSpecifications() {
        List<Map<String, Object>> limits = List.of(Map.of("model", "A100", "gpus", 10));
        return List.of(
                Map.of(),
                Map.of("namespaces", List.of("ml")),
                Map.of("namespaces", List.of("ml"), "limits", List.of()),
                Map.of("namespaces", List.of("ml"), "limits", "A100"),
                Map.of("namespaces", List.of("ml"), "limits", List.of(Map.of("model", "A100"))),
                Map.of("namespaces", List.of("ml"), "limits", List.of(Map.of("gpus", "10", "devices", 3))),
                Map.of("namespaces", List.of("ml"), "limits", limits, "others", "0"),
                Map.of("namespaces", "ml", "limits", limits),
                Map.of("namespaceSelector", "team", "limits", limits),
                Map.of(
                        "namespaceSelector",
                        Map.of("matchExpressions", List.of(Map.of("key", "team", "operator", "Like"))),
                        "limits",
                        limits));
    }

    @ParameterizedTest
    @MethodSource("meaninglessSpecifications")
    void specificationThatTheSchemaRefusesIsNotReadAsLess(Map<String, Object> spec) {
        var object = new GenericKubernetesResource();
        object.setMetadata(
                new ObjectMetaBuilder().withName("q").withResourceVersion("3").build());
        object.setAdditionalProperty("spec", spec);
        assertThatThrownBy(() -> GpuQuotaMapper.read(object)).isInstanceOf(IllegalArgumentException.class);
    }

    /** The longest texts that the schema of the specification allows, in as many limits. */
    @Test
    void textsOfTheStatusFitTheSchemaHoweverLongThoseOfTheLimitsAre() {
        List<Map<String, Object>> limits = IntStream.range(0, 64)
                .mapToObj(i -> Map.<String, Object>of(
                        "model",
                        "m".repeat(60) + i,
                        "product",
                        "p".repeat(63),
                        "migProfile",
                        "f".repeat(63),
                        "resource",
                        "r".repeat(253) + "/" + "n".repeat(63),
                        "gpus",
                        0,
                        "devices",
                        0))
                .toList();
        var object = new GenericKubernetesResource();
        object.setMetadata(
                new ObjectMetaBuilder().withName("q").withResourceVersion("3").build());
        object.setAdditionalProperty("spec", Map.of("namespaces", List.of("ml"), "limits", limits, "others", 0));
        GpuQuota quota = GpuQuotaMapper.read(object);
        Map<String, GpuAmount> used = new TreeMap<>();
        quota.limits().forEach(limit -> used.put(limit.id(), GpuAmount.of(1_000_001)));
        // When every limit is passed and counts nothing that is known
        QuotaStatus status = quota.status()
                .withLeader("i".repeat(253) + "@1", 1)
                .withUsed(used)
                .withUnknownLimits(new TreeSet<>(used.keySet()));
        var written = (Map<?, ?>)
                Objects.requireNonNull(GpuQuotaMapper.write(object, quota.withStatus(status), "", Instant.EPOCH)
                        .getAdditionalProperties()
                        .get("status"));
        // Then
        assertThat(written.get("summary")).asString().hasSizeLessThanOrEqualTo(1_024);
        assertThat(written.get("leader")).isEqualTo(status.leader());
        assertThat((List<?>) written.get("conditions"))
                .hasSize(3)
                .allSatisfy(condition -> assertThat(((Map<?, ?>) condition).get("message"))
                        .asString()
                        .hasSizeLessThanOrEqualTo(1_024));
        assertThat((List<?>) written.get("unknownLimits"))
                .hasSize(129)
                .allSatisfy(limit -> assertThat(limit).asString().hasSizeLessThanOrEqualTo(640));
        assertThat((List<?>) written.get("used")).hasSize(129);
    }

    @Test
    void limitThatCountsNoDeviceIsACondition() {
        var object = new GenericKubernetesResource();
        object.setMetadata(
                new ObjectMetaBuilder().withName("q").withResourceVersion("3").build());
        object.setAdditionalProperty(
                "spec", Map.of("namespaces", List.of("ml"), "limits", List.of(Map.of("model", "A1OO", "gpus", 10))));
        GpuQuota quota = GpuQuotaMapper.read(object);
        String limit = quota.limits().getFirst().id();
        // When no device is of this model
        var unknown = quota.status().withUnknownLimits(new TreeSet<>(List.of(limit)));
        // Then
        assertThat(limitsKnown(object, quota.withStatus(unknown)))
                .containsEntry("status", "False")
                .containsEntry("reason", "NoSuchDevice")
                .hasEntrySatisfying(
                        "message",
                        message ->
                                assertThat(message).asString().contains(limit).contains("kubectl get nodes"));
        // When one is
        assertThat(limitsKnown(object, quota.withStatus(unknown.withUnknownLimits(new TreeSet<>()))))
                .containsEntry("status", "True")
                .containsEntry("reason", "Known");
    }

    private static Map<String, Object> limitsKnown(GenericKubernetesResource object, GpuQuota quota) {
        var status = (Map<?, ?>) Objects.requireNonNull(GpuQuotaMapper.write(object, quota, "", Instant.EPOCH)
                .getAdditionalProperties()
                .get("status"));
        return ((List<?>) Objects.requireNonNull(status.get("conditions")))
                .stream()
                        .map(GpuQuotaMapperTest::texts)
                        .filter(condition -> "LimitsKnown".equals(condition.get("type")))
                        .findFirst()
                        .orElseThrow();
    }

    private static Map<String, Object> texts(Object condition) {
        Map<String, Object> texts = new TreeMap<>();
        ((Map<?, ?>) condition).forEach((name, value) -> texts.put(String.valueOf(name), value));
        return texts;
    }
}
