package io.gpufleet.allocation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.testbed.testkit.TestKubernetes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * What the API server of {@code GPUFLEET_TEST_KUBECONFIG} refuses by itself. Every pod of a namespace of its own goes to a
 * validating webhook that nobody serves and that fails closed: what reaches it is refused with {@code failed calling
 * webhook}, what does not with the API server's own text.
 */
@NullMarked
class PodShapeClusterIT {
    private static final String GPU = "nvidia.com/gpu";
    private static final Map<String, Quantity> NONE = Map.of();

    private static final String NAME =
            "gpufleet-it-shape-" + UUID.randomUUID().toString().substring(0, 8);

    private static KubernetesClient client;

    @BeforeAll
    static void open() {
        client = TestKubernetes.client(Path.of(Objects.requireNonNull(
                System.getenv("GPUFLEET_TEST_KUBECONFIG"), "GPUFLEET_TEST_KUBECONFIG names no kubeconfig")));
        client.resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(NAME)
                        .endMetadata()
                        .build())
                .create();
        client.resource(new ValidatingWebhookConfigurationBuilder()
                        .withNewMetadata()
                        .withName(NAME)
                        .endMetadata()
                        .addNewWebhook()
                        .withName("shape.gpufleet.io")
                        .withAdmissionReviewVersions("v1")
                        .withSideEffects("None")
                        .withFailurePolicy("Fail")
                        .withTimeoutSeconds(1)
                        .withNewClientConfig()
                        .withUrl("https://127.0.0.1:9/nobody")
                        .endClientConfig()
                        .withNewNamespaceSelector()
                        .addToMatchLabels("kubernetes.io/metadata.name", NAME)
                        .endNamespaceSelector()
                        .addNewRule()
                        .withApiGroups("")
                        .withApiVersions("v1")
                        .withOperations("CREATE")
                        .withResources("pods")
                        .endRule()
                        .endWebhook()
                        .build())
                .create();
        await().atMost(Duration.ofSeconds(60))
                .until(() -> create(gpus("1"), gpus("1")).contains("failed calling webhook"));
    }

    @AfterAll
    static void close() {
        client.admissionRegistration()
                .v1()
                .validatingWebhookConfigurations()
                .withName(NAME)
                .delete();
        client.namespaces().withName(NAME).delete();
        client.close();
    }

    private static Map<String, Quantity> gpus(String amount) {
        return Map.of(GPU, new Quantity(amount));
    }

    private static String create(Map<String, Quantity> limits, Map<String, Quantity> requests) {
        Pod pod = new PodBuilder()
                .withNewMetadata()
                .withName("shape")
                .withNamespace(NAME)
                .endMetadata()
                .withNewSpec()
                .withAutomountServiceAccountToken(false)
                .addNewContainer()
                .withName("main")
                .withImage("testbed/pause:1")
                .withNewResources()
                .withLimits(limits)
                .withRequests(requests)
                .endResources()
                .endContainer()
                .endSpec()
                .build();
        try {
            client.resource(pod).create();
            return "created";
        } catch (KubernetesClientException refused) {
            return String.valueOf(refused.getMessage());
        }
    }

    @Test
    void halfOfOneGpuNeverReachesTheWebhook() {
        assertThat(create(gpus("500m"), NONE))
                .contains("resources.limits[nvidia.com/gpu]: Invalid value: \"500m\": must be an integer")
                .doesNotContain("failed calling webhook");
    }

    @Test
    void limitWithAnUnequalRequestNeverReachesTheWebhook() {
        assertThat(create(gpus("2"), gpus("1")))
                .contains("resources.requests: Invalid value: \"1\": must be equal to nvidia.com/gpu limit of 2")
                .doesNotContain("failed calling webhook");
    }

    @Test
    void requestWithoutLimitNeverReachesTheWebhook() {
        assertThat(create(NONE, gpus("1")))
                .contains("resources.limits: Required value: Limit must be set for non overcommitable resources")
                .doesNotContain("failed calling webhook");
    }

    @Test
    void limitWithoutRequestIsCompletedAndReachesTheWebhook() {
        assertThat(create(gpus("1"), NONE)).contains("failed calling webhook");
    }
}
