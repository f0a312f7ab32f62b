package io.gpufleet.allocation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.util.Objects;
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
        environment = new QuotaTestEnvironment(
                        Path.of(Objects.requireNonNull(
                                System.getenv("GPUFLEET_TEST_KUBECONFIG"),
                                "GPUFLEET_TEST_KUBECONFIG names no kubeconfig")),
                        dir)
                .awaitReady();
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

    @Override
    QuotaTestEnvironment environment() {
        return environment;
    }
}
