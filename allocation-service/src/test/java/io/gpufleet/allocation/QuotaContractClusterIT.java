package io.gpufleet.allocation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Quotas on the API server of {@code GPUFLEET_TEST_KUBECONFIG}; removes what it creates there. */
@NullMarked
class QuotaContractClusterIT extends QuotaContract {
    @TempDir
    static Path dir;

    private static QuotaTestEnvironment environment;

    @BeforeAll
    static void open() throws Exception {
        environment = QuotaTestEnvironment.ofRealCluster(dir);
    }

    @AfterAll
    static void close() {
        environment.close();
    }

    @Test
    void limitOfAModelThatNoNodeHasIsWarnedOfWhenItIsApplied() {
        String typo = """
                {"apiVersion": "gpufleet.io/v1alpha1", "kind": "GpuQuota", "metadata": {"name": "%s"},
                 "spec": {"namespaces": ["gpufleet-it-nobody"],
                          "limits": [{"model": "A1OO", "gpus": 1}, {"model": "a100", "devices": 1}]}}
                """.formatted(environment.uniqueName("typo"));
        await().atMost(QuotaTestEnvironment.TIMEOUT)
                .untilAsserted(() -> assertThat(environment.warningsOfDryRun(typo))
                        .singleElement()
                        .asString()
                        .contains("limit A1OO: no node of the cluster has or had a device that it counts"));
    }

    @Test
    void resourceQuotaOnRequestsOfGpusIsCountedAndOneOnLimitsRefusesNothing() {
        // Given
        String namespace = environment.namespace();
        environment.awaitServiceAccount(namespace);
        environment.quota(environment.uniqueName("both"), "Enforce", "Deny", Map.of("A100", 8), namespace);
        var stored =
                environment.client().resourceQuotas().inNamespace(namespace).withName("compute");
        assertThat(environment.createObject("""
                        {"apiVersion": "v1", "kind": "ResourceQuota",
                         "metadata": {"name": "compute", "namespace": "%s"},
                         "spec": {"hard": {"requests.nvidia.com/gpu": "2", "limits.nvidia.com/gpu": "1"}}}
                        """.formatted(namespace))).isEmpty();
        await().atMost(QuotaTestEnvironment.TIMEOUT)
                .untilAsserted(() -> assertThat(stored.get().getStatus().getHard())
                        .containsOnlyKeys("requests.nvidia.com/gpu", "limits.nvidia.com/gpu"));
        // When
        String two = environment.create(environment.a100Pod(namespace, "two", 2));
        String another = environment.create(environment.a100Pod(namespace, "another", 1));
        // Then
        assertThat(two).isEmpty();
        assertThat(another)
                .contains("exceeded quota: compute, requested: requests.nvidia.com/gpu=1, used:"
                        + " requests.nvidia.com/gpu=2, limited: requests.nvidia.com/gpu=2");
        await().atMost(QuotaTestEnvironment.TIMEOUT)
                .untilAsserted(
                        () -> assertThat(environment.service().get("/v1/quotas").body())
                                .contains(limit(namespace, "requests.nvidia.com/gpu", "2", "2"))
                                .contains(limit(namespace, "limits.nvidia.com/gpu", "1", "")));
        assertThat(stored.get().getStatus().getUsed()).containsOnlyKeys("requests.nvidia.com/gpu");
    }

    /** A limit of a ResourceQuota on the page. */
    private static String limit(String namespace, String resource, String hard, String used) {
        return "{\"namespace\":\"%s\",\"name\":\"compute\",\"resource\":\"%s\",\"hard\":\"%s\",\"used\":\"%s\"}"
                .formatted(namespace, resource, hard, used);
    }

    private static String claim(String kind, String namespace, String name, int gpus) {
        String devices = """
                {"devices": {"requests": [{"name": "gpus", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": %d,
                  "selectors": [{"cel": {"expression":
                    "device.attributes[\\"gpu.nvidia.com\\"].productName == \\"NVIDIA A100-SXM4-40GB\\""}}]}}]}}
                """.formatted(gpus);
        return """
                {"apiVersion": "resource.k8s.io/v1", "kind": "%s",
                 "metadata": {"name": "%s", "namespace": "%s"}, "spec": %s}
                """.formatted(
                        kind, name, namespace, kind.equals("ResourceClaim") ? devices : "{\"spec\": " + devices + "}");
    }

    @Test
    void devicesOfAResourceClaimCountUntilItIsDeleted() {
        String namespace = environment.namespace();
        environment.awaitServiceAccount(namespace);
        environment.quota(environment.uniqueName("claims"), "Enforce", "Deny", Map.of("A100", 3), namespace);
        assertThat(environment.createObject(claim("ResourceClaim", namespace, "two", 2)))
                .isEmpty();
        // When
        String denial = environment.createObject(claim("ResourceClaim", namespace, "three", 2));
        // Then
        assertThat(denial)
                .contains("limit 3 A100, used 2 (" + namespace + "/resourceclaim/two 2), requested 2: 1 would fit now");
        assertThat(environment.create(environment.a100Pod(namespace, "two", 2))).contains("limit 3 A100, used 2");
        environment
                .client()
                .genericKubernetesResources("resource.k8s.io/v1", "ResourceClaim")
                .inNamespace(namespace)
                .withName("two")
                .delete();
        await().atMost(QuotaTestEnvironment.TIMEOUT)
                .until(() -> environment
                        .create(environment.a100Pod(namespace, "two", 2))
                        .isEmpty());
    }

    @Test
    void podWhoseTemplateClaimsTooManyGpusWaitsWithTheReasonInItsEvents() {
        String namespace = environment.namespace();
        environment.awaitServiceAccount(namespace);
        environment.quota(environment.uniqueName("templates"), "Enforce", "Deny", Map.of("A100", 1), namespace);
        environment.createObject(claim("ResourceClaimTemplate", namespace, "pair", 2));
        // When
        assertThat(environment.createObject("""
                        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train", "namespace": "%s"},
                         "spec": {"automountServiceAccountToken": false,
                                  "resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": "pair"}],
                                  "containers": [{"name": "main", "image": "testbed/pause:1",
                                                  "resources": {"claims": [{"name": "gpus"}]}}]}}
                        """.formatted(namespace))).isEmpty();
        // Then
        await().atMost(QuotaTestEnvironment.TIMEOUT)
                .until(() -> environment.client().v1().events().inNamespace(namespace).list().getItems().stream()
                        .anyMatch(event ->
                                String.valueOf(event.getMessage()).contains("limit 1 A100, used 0, requested 2")));
    }

    @Override
    QuotaTestEnvironment environment() {
        return environment;
    }
}
