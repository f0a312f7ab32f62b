package io.gpufleet.testbed.fakeapiserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.RuleWithOperationsBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Contract of admission webhooks. */
interface WebhookContract {
    TestObjects testObjects();

    private void register(String name, String url, String caBundle, String failurePolicy) {
        testObjects()
                .deleteOnClose(testObjects()
                        .client()
                        .resource(new ValidatingWebhookConfigurationBuilder()
                                .withNewMetadata()
                                .withName(testObjects().uniqueName("validating"))
                                .endMetadata()
                                .addNewWebhook()
                                .withName(name)
                                .withAdmissionReviewVersions("v1")
                                .withSideEffects("NoneOnDryRun")
                                .withFailurePolicy(failurePolicy)
                                .withTimeoutSeconds(3)
                                .withNewClientConfig()
                                .withUrl(url)
                                .withCaBundle(caBundle)
                                .endClientConfig()
                                .withNewNamespaceSelector()
                                .addToMatchLabels("contract", testObjects().namespace())
                                .endNamespaceSelector()
                                .withNewObjectSelector()
                                .addToMatchLabels("asked", name)
                                .endObjectSelector()
                                .withRules(podCreation())
                                .endWebhook()
                                .build())
                        .create());
    }

    private static List<io.fabric8.kubernetes.api.model.admissionregistration.v1.RuleWithOperations> podCreation() {
        return List.of(new RuleWithOperationsBuilder()
                .withApiGroups("")
                .withApiVersions("v1")
                .withOperations("CREATE")
                .withResources("pods")
                .build());
    }

    private Pod pod(String asked) {
        Pod pod = testObjects().pod("nowhere", "1");
        pod.getMetadata().setLabels(java.util.Map.of("asked", asked));
        return pod;
    }

    /** A real server takes a moment to load a new configuration; until then it admits everything. */
    private KubernetesClientException firstRefusal(String asked) {
        var refusals = new java.util.ArrayList<KubernetesClientException>();
        Awaitility.await().atMost(TestObjects.TIMEOUT).until(() -> {
            try {
                testObjects().create(pod(asked));
            } catch (KubernetesClientException refused) {
                refusals.add(refused);
            }
            return !refusals.isEmpty();
        });
        return refusals.getFirst();
    }

    @Test
    default void denialOfWebhookReachesUser() throws Exception {
        // Given
        try (TestWebhook webhook = TestWebhook.start("\"allowed\":false,\"status\":{\"code\":403,\"message\":\"quota"
                + " gpu-team-a: limit 4, used 4, requested 1\"}")) {
            register("deny.contract.gpufleet.io", webhook.url(), webhook.caBundle(), "Fail");
            // When
            KubernetesClientException refused = firstRefusal("deny.contract.gpufleet.io");
            Pod other = testObjects().create(pod("nobody"));
            // Then
            assertThat(refused.getCode()).isEqualTo(403);
            assertThat(refused.getStatus().getMessage())
                    .isEqualTo("admission webhook \"deny.contract.gpufleet.io\" denied the request: quota gpu-team-a:"
                            + " limit 4, used 4, requested 1");
            assertThat(other.getMetadata().getUid()).isNotBlank();
            var request = webhook.reviews().getFirst().path("request");
            assertThat(request.path("operation").asText()).isEqualTo("CREATE");
            assertThat(request.path("namespace").asText())
                    .isEqualTo(testObjects().namespace());
            assertThat(request.path("resource").path("resource").asText()).isEqualTo("pods");
            assertThat(request.path("object").path("metadata").path("uid").asText())
                    .as("a validating webhook sees the uid that the pod will have")
                    .hasSize(36);
            assertThat(request.path("object")
                            .at("/spec/containers/0/resources/requests/nvidia.com~1gpu")
                            .asText())
                    .as("defaults are filled in before")
                    .isEqualTo("1");
            assertThat(request.path("oldObject").isNull()).isTrue();
            assertThat(request.path("dryRun").asBoolean(true)).isFalse();
        }
    }

    @Test
    default void dryRunCallsWebhookAndStoresNothing() throws Exception {
        // Given
        try (TestWebhook webhook = TestWebhook.start("\"allowed\":true")) {
            register("dry.contract.gpufleet.io", webhook.url(), webhook.caBundle(), "Fail");
            Pod pod = pod("dry.contract.gpufleet.io");
            // When
            Awaitility.await().atMost(TestObjects.TIMEOUT).until(() -> {
                testObjects()
                        .client()
                        .pods()
                        .inNamespace(testObjects().namespace())
                        .resource(pod)
                        .dryRun()
                        .create();
                return !webhook.reviews().isEmpty();
            });
            // Then
            assertThat(webhook.reviews()
                            .getFirst()
                            .path("request")
                            .path("dryRun")
                            .asBoolean())
                    .isTrue();
            assertThat(stored(pod)).isNull();
        }
    }

    private @Nullable Pod stored(Pod pod) {
        return testObjects()
                .client()
                .pods()
                .inNamespace(testObjects().namespace())
                .withName(pod.getMetadata().getName())
                .get();
    }

    @Test
    default void unreachableWebhookFollowsItsFailurePolicy() throws Exception {
        // Given
        String url;
        String ca;
        try (TestWebhook webhook = TestWebhook.start("\"allowed\":true")) {
            url = webhook.url();
            ca = webhook.caBundle();
        }
        register("closed.contract.gpufleet.io", url, ca, "Fail");
        register("open.contract.gpufleet.io", url, ca, "Ignore");
        // When
        KubernetesClientException refused = firstRefusal("closed.contract.gpufleet.io");
        Pod passed = testObjects().create(pod("open.contract.gpufleet.io"));
        // Then
        assertThat(refused.getCode()).isEqualTo(500);
        assertThat(refused.getStatus().getMessage())
                .startsWith("Internal error occurred: failed calling webhook \"closed.contract.gpufleet.io\":"
                        + " failed to call webhook: Post \"" + url + "?timeout=3s\":");
        assertThat(passed.getMetadata().getUid()).isNotBlank();
    }

    @Test
    default void untrustedWebhookIsNotCalled() throws Exception {
        // Given
        try (TestWebhook webhook = TestWebhook.start("\"allowed\":true");
                TestWebhook other = TestWebhook.start("\"allowed\":true")) {
            register("untrusted.contract.gpufleet.io", webhook.url(), other.caBundle(), "Fail");
            // When
            KubernetesClientException refused = firstRefusal("untrusted.contract.gpufleet.io");
            // Then
            assertThat(refused.getCode()).isEqualTo(500);
            assertThat(webhook.reviews()).isEmpty();
        }
    }

    @Test
    default void mutatingWebhookChangesPod() throws Exception {
        // Given
        String patch =
                "[{\"op\":\"add\",\"path\":\"/metadata/annotations\",\"value\":{\"gpufleet.io/touched\":\"yes\"}}]";
        String encoded = Base64.getEncoder().encodeToString(patch.getBytes(StandardCharsets.UTF_8));
        try (TestWebhook webhook =
                TestWebhook.start("\"allowed\":true,\"patchType\":\"JSONPatch\",\"patch\":\"" + encoded + "\"")) {
            testObjects()
                    .deleteOnClose(testObjects()
                            .client()
                            .resource(new MutatingWebhookConfigurationBuilder()
                                    .withNewMetadata()
                                    .withName(testObjects().uniqueName("mutating"))
                                    .endMetadata()
                                    .addNewWebhook()
                                    .withName("change.contract.gpufleet.io")
                                    .withAdmissionReviewVersions("v1")
                                    .withSideEffects("None")
                                    .withFailurePolicy("Fail")
                                    .withNewClientConfig()
                                    .withUrl(webhook.url())
                                    .withCaBundle(webhook.caBundle())
                                    .endClientConfig()
                                    .withNewNamespaceSelector()
                                    .addToMatchLabels("contract", testObjects().namespace())
                                    .endNamespaceSelector()
                                    .withNewObjectSelector()
                                    .addToMatchLabels("asked", "change.contract.gpufleet.io")
                                    .endObjectSelector()
                                    .withRules(podCreation())
                                    .endWebhook()
                                    .build())
                            .create());
            // Then
            Awaitility.await()
                    .atMost(TestObjects.TIMEOUT)
                    .untilAsserted(() -> assertThat(testObjects()
                                    .create(pod("change.contract.gpufleet.io"))
                                    .getMetadata()
                                    .getAnnotations())
                            .containsEntry("gpufleet.io/touched", "yes"));
        }
    }
}
