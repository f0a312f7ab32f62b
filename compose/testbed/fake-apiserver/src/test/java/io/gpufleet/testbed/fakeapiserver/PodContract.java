package io.gpufleet.testbed.fakeapiserver;

import static io.gpufleet.testbed.fakeapiserver.TestObjects.refusal;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.BindingBuilder;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.PodResource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Contract of pods that request GPUs: validation, scheduling, binding, eviction, deletion. */
interface PodContract {
    TestObjects testObjects();

    private KubernetesClient client() {
        return testObjects().client();
    }

    private PodResource resource(Pod pod) {
        return client().pods()
                .inNamespace(testObjects().namespace())
                .withName(pod.getMetadata().getName());
    }

    @Test
    default void fractionOfGpuIsRefused() {
        // Given
        Pod pod = testObjects().pod("nowhere", "1.5");
        // When
        var refused = refusal(() -> testObjects().create(pod));
        // Then
        assertThat(refused.getCode()).isEqualTo(422);
        assertThat(refused.getStatus().getReason()).isEqualTo("Invalid");
        assertThat(refused.getStatus().getMessage())
                .isEqualTo("Pod \"" + pod.getMetadata().getName() + "\" is invalid:"
                        + " [spec.containers[0].resources.limits[nvidia.com/gpu]: Invalid value: \"1500m\": must be an"
                        + " integer, spec.containers[0].resources.requests[nvidia.com/gpu]: Invalid value:"
                        + " \"1500m\": must be an integer]");
    }

    @Test
    default void negativeNumberOfGpusIsRefused() {
        // Given
        Pod pod = testObjects().pod("nowhere", "-1");
        // When
        var refused = refusal(() -> testObjects().create(pod));
        // Then
        assertThat(refused.getCode()).isEqualTo(422);
        assertThat(refused.getStatus().getMessage())
                .contains("spec.containers[0].resources.limits[nvidia.com/gpu]: Invalid value: \"-1\": must be greater"
                        + " than or equal to 0");
    }

    @Test
    default void requestsOfGpusEqualTheirLimits() {
        // Given
        Pod unequal = withRequest(testObjects().pod("nowhere", "2"), "1");
        Pod unlimited = new PodBuilder(unequal)
                .editSpec()
                .editFirstContainer()
                .editResources()
                .withLimits(Map.of())
                .endResources()
                .endContainer()
                .endSpec()
                .build();
        // When
        var refusedUnequal = refusal(() -> testObjects().create(unequal));
        var refusedUnlimited = refusal(() -> testObjects().create(unlimited));
        // Then
        assertThat(refusedUnequal.getStatus().getMessage())
                .isEqualTo("Pod \"" + unequal.getMetadata().getName() + "\" is invalid:"
                        + " spec.containers[0].resources.requests: Invalid value: \"1\": must be equal to"
                        + " nvidia.com/gpu limit of 2");
        assertThat(refusedUnlimited.getStatus().getMessage())
                .isEqualTo("Pod \"" + unequal.getMetadata().getName() + "\" is invalid:"
                        + " spec.containers[0].resources.limits: Required value: Limit must be set for non"
                        + " overcommitable resources");
    }

    private static Pod withRequest(Pod pod, String amount) {
        return new PodBuilder(pod)
                .editSpec()
                .editFirstContainer()
                .editResources()
                .addToRequests("nvidia.com/gpu", new Quantity(amount))
                .endResources()
                .endContainer()
                .endSpec()
                .build();
    }

    @Test
    default void podIsBoundToNodeWithFreeGpus() {
        // Given
        Node node = testObjects().node(4);
        String name = node.getMetadata().getName();
        // When
        Pod first = testObjects().create(testObjects().pod(name, "3"));
        Awaitility.await()
                .atMost(TestObjects.TIMEOUT)
                .untilAsserted(() -> assertThat(resource(first).get().getSpec().getNodeName())
                        .isEqualTo(name));
        Pod second = testObjects().create(testObjects().pod(name, "2"));
        // Then
        Awaitility.await()
                .atMost(TestObjects.TIMEOUT)
                .untilAsserted(() -> assertThat(scheduled(second)).hasValueSatisfying(condition -> {
                    assertThat(condition.getStatus()).isEqualTo("False");
                    assertThat(condition.getReason()).isEqualTo("Unschedulable");
                    assertThat(condition.getMessage())
                            .matches("0/[0-9]+ nodes are available: .*1 Insufficient nvidia.com/gpu.*");
                }));
        Awaitility.await()
                .atMost(TestObjects.TIMEOUT)
                .untilAsserted(() -> assertThat(events(second)).anySatisfy(event -> {
                    assertThat(event.getReason()).isEqualTo("FailedScheduling");
                    assertThat(event.getType()).isEqualTo("Warning");
                    assertThat(event.getMessage()).contains("1 Insufficient nvidia.com/gpu");
                }));
        assertThat(onNode(name)).containsExactly(first.getMetadata().getName());
        assertThat(scheduled(first))
                .hasValueSatisfying(
                        condition -> assertThat(condition.getStatus()).isEqualTo("True"));
    }

    private Optional<PodCondition> scheduled(Pod pod) {
        return resource(pod).get().getStatus().getConditions().stream()
                .filter(condition -> condition.getType().equals("PodScheduled"))
                .findFirst();
    }

    private List<Event> events(Pod pod) {
        return client().v1()
                .events()
                .inNamespace(testObjects().namespace())
                .withField("involvedObject.name", pod.getMetadata().getName())
                .list()
                .getItems();
    }

    private List<String> onNode(String node) {
        return client().pods().inAnyNamespace().withField("spec.nodeName", node).list().getItems().stream()
                .map(pod -> pod.getMetadata().getName())
                .toList();
    }

    @Test
    default void podWaitsForSchedulableNode() {
        // Given
        Node node = testObjects().node(1);
        client().nodes().withName(node.getMetadata().getName()).patch("{\"spec\":{\"unschedulable\":true}}");
        // When
        Pod pod = testObjects().create(testObjects().pod(node.getMetadata().getName(), "1"));
        Awaitility.await()
                .atMost(TestObjects.TIMEOUT)
                .until(() -> scheduled(pod).isPresent());
        boolean waited = resource(pod).get().getSpec().getNodeName() == null;
        client().nodes().withName(node.getMetadata().getName()).patch("{\"spec\":{\"unschedulable\":null}}");
        // Then
        assertThat(waited).isTrue();
        Awaitility.await()
                .atMost(TestObjects.TIMEOUT)
                .until(() -> resource(pod).get().getSpec().getNodeName() != null);
    }

    @Test
    default void boundPodIsNotBoundAgain() {
        // Given
        Pod pod = testObjects().create(testObjects().pod("nowhere", "1"));
        bind(pod, "first");
        // When
        var refused = refusal(() -> bind(pod, "second"));
        // Then
        assertThat(refused.getCode()).isEqualTo(409);
        assertThat(refused.getStatus().getMessage()).contains("is already assigned to node \"first\"");
        assertThat(resource(pod).get().getSpec().getNodeName()).isEqualTo("first");
    }

    private void bind(Pod pod, String node) {
        client().bindings()
                .inNamespace(testObjects().namespace())
                .resource(new BindingBuilder()
                        .withNewMetadata()
                        .withName(pod.getMetadata().getName())
                        .endMetadata()
                        .withNewTarget()
                        .withKind("Node")
                        .withName(node)
                        .endTarget()
                        .build())
                .create();
    }

    @Test
    default void specOfPodIsImmutable() {
        // Given
        Pod pod = testObjects().create(testObjects().pod("nowhere", "1"));
        // When
        var refused = refusal(() -> resource(pod)
                .patch(PatchContext.of(PatchType.STRATEGIC_MERGE), "{\"spec\":{\"restartPolicy\":\"Never\"}}"));
        // Then
        assertThat(refused.getCode()).isEqualTo(422);
        assertThat(refused.getStatus().getMessage()).contains("pod updates may not change fields other than");
    }

    @Test
    default void deletedPodOfNodeWaitsForItsKubelet() {
        // Given
        Pod pod = testObjects().create(testObjects().pod("nowhere", "1"));
        bind(pod, "somewhere");
        // When
        resource(pod).delete();
        Pod dying = resource(pod).get();
        resource(pod).withGracePeriod(0).delete();
        // Then
        assertThat(dying.getMetadata().getDeletionTimestamp()).isNotBlank();
        assertThat(dying.getMetadata().getDeletionGracePeriodSeconds()).isEqualTo(30);
        assertThat(resource(pod).get()).isNull();
    }

    @Test
    default void evictionRespectsDisruptionBudget() {
        // Given
        Pod pod = testObjects()
                .create(new PodBuilder(testObjects().pod("nowhere", "1"))
                        .editMetadata()
                        .addToLabels("budget", "tight")
                        .endMetadata()
                        .build());
        var budget = client().policy()
                .v1()
                .podDisruptionBudget()
                .inNamespace(testObjects().namespace())
                .resource(new PodDisruptionBudgetBuilder()
                        .withNewMetadata()
                        .withName(testObjects().uniqueName("budget"))
                        .endMetadata()
                        .withNewSpec()
                        .withMinAvailable(new IntOrString(1))
                        .withNewSelector()
                        .addToMatchLabels("budget", "tight")
                        .endSelector()
                        .endSpec()
                        .build())
                .create();
        bind(pod, "somewhere");
        resource(pod).editStatus(PodContract::running);
        // When
        boolean evicted = resource(pod).evict();
        Pod kept = resource(pod).get();
        client().resource(budget).delete();
        // Then
        assertThat(evicted).isFalse();
        assertThat(kept.getMetadata().getDeletionTimestamp()).isNull();
        Awaitility.await().atMost(TestObjects.TIMEOUT).until(() -> resource(pod).evict());
        assertThat(resource(pod).get().getMetadata().getDeletionTimestamp()).isNotBlank();
    }

    private static Pod running(Pod pod) {
        return new PodBuilder(pod)
                .editStatus()
                .withPhase("Running")
                .withConditions(new PodConditionBuilder()
                        .withType("Ready")
                        .withStatus("True")
                        .build())
                .endStatus()
                .build();
    }
}
