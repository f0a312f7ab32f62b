package io.gpufleet.health.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The templates for NVSentinel and medik8s against their definitions on the API server of GPUFLEET_TEST_KUBECONFIG. */
class ForeignTemplatesClusterIT {
    private static final String EXECUTORS = "k8s/components/remediation/executors/";
    private static final String DEFINITIONS = "health-service/src/test/resources/executors/definitions.yaml";
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    @TempDir
    private static Path directory;

    private static ManifestRights rights;

    @BeforeAll
    static void install() throws IOException {
        rights = ManifestRights.grant("gpufleet-it-templates", List.of());
        rights.install(DEFINITIONS);
        for (String kind : List.of("RebootNode", "GPUReset")) {
            await().atMost(TIMEOUT)
                    .ignoreExceptions()
                    .until(() -> admin().genericKubernetesResources("janitor.dgxc.nvidia.com/v1alpha1", kind)
                                    .list()
                            != null);
        }
        await().atMost(TIMEOUT)
                .ignoreExceptions()
                .until(() -> admin().genericKubernetesResources(
                                        "self-node-remediation.medik8s.io/v1alpha1", "SelfNodeRemediation")
                                .inAnyNamespace()
                                .list()
                        != null);
    }

    @AfterAll
    static void remove() {
        rights.close();
    }

    private static KubernetesClient admin() {
        return rights.admin();
    }

    /** As the executor fills it in. */
    private static String filledIn(String template) throws IOException {
        return Files.readString(Repository.module(EXECUTORS + template))
                .replace("@NAME@", "reboot-1b4e28ba-2fa1-11d2-883f-0016d3cca427")
                .replace("@NODE@", "gpu-node-1")
                .replace("@UUIDS@", "[\"GPU-1b4e28ba-2fa1-11d2-883f-0016d3cca427\"]");
    }

    /** Creates it with strict validation, so that a field that the definition does not know is an error; keeps nothing. */
    private static String create(String yaml) throws IOException {
        Path file = Files.writeString(directory.resolve("object.yaml"), yaml);
        return RealCluster.tool("kubectl", "create", "--validate=strict", "--dry-run=server", "-f", file.toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"nvsentinel/reboot.yaml", "nvsentinel/reset-gpu.yaml", "medik8s/reboot.yaml"})
    void templateIsAcceptedByTheDefinition(String template) throws IOException {
        assertThat(create(filledIn(template))).contains("created");
    }

    @Test
    void fieldThatTheDefinitionDoesNotKnowIsRefused() throws IOException {
        String misspelt = filledIn("nvsentinel/reboot.yaml").replace("force:", "forced:");

        assertThatThrownBy(() -> create(misspelt)).hasMessageContaining("unknown field \"spec.forced\"");
    }
}
