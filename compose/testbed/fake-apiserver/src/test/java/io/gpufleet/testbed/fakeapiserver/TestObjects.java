package io.gpufleet.testbed.fakeapiserver;

import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeConditionBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.awaitility.Awaitility;

/** Objects of the contract tests: a namespace of their own, and the deletion of all of them. */
final class TestObjects implements AutoCloseable {
    static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final KubernetesClient client;
    private final String testId = "contract-" + UUID.randomUUID().toString().substring(0, 8);
    private final Deque<HasMetadata> made = new ArrayDeque<>();
    private int number;

    TestObjects(KubernetesClient client) {
        this.client = client;
        client.namespaces()
                .resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(testId)
                        .addToLabels("contract", testId)
                        .endMetadata()
                        .build())
                .create();
        // Waits for the service account of the namespace; pods are refused before.
        Awaitility.await()
                .atMost(TIMEOUT)
                .until(() -> client.serviceAccounts()
                                .inNamespace(testId)
                                .withName("default")
                                .get()
                        != null);
    }

    KubernetesClient client() {
        return client;
    }

    /** The namespace, and the value of its label {@code contract}. */
    String namespace() {
        return testId;
    }

    /** A unique name. */
    String uniqueName(String stem) {
        return testId + "-" + stem + "-" + number++;
    }

    /** Deletes the object at the end. */
    <T extends HasMetadata> T deleteOnClose(T object) {
        made.push(object);
        return object;
    }

    ConfigMap configMap(String stem, Map<String, String> labels) {
        return client.configMaps()
                .inNamespace(testId)
                .resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withName(uniqueName(stem))
                        .withLabels(labels)
                        .endMetadata()
                        .addToData("key", "value")
                        .build())
                .create();
    }

    /** A node that is ready and has GPUs; only pods that select its name as label {@code contract-node} go there. */
    Node node(int gpus) {
        String name = uniqueName("node");
        Node node = deleteOnClose(client.nodes()
                .resource(new NodeBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .addToLabels("contract-node", name)
                        .endMetadata()
                        .build())
                .create());
        Map<String, Quantity> amounts = Map.of(
                "nvidia.com/gpu", new Quantity(Integer.toString(gpus)),
                "cpu", new Quantity("8"),
                "memory", new Quantity("16Gi"),
                "pods", new Quantity("10"));
        String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        Node ready = new NodeBuilder()
                .withNewStatus()
                .withCapacity(amounts)
                .withAllocatable(amounts)
                .withConditions(new NodeConditionBuilder()
                        .withType("Ready")
                        .withStatus("True")
                        .withReason("Contract")
                        .withMessage("set by the test")
                        .withLastHeartbeatTime(now)
                        .withLastTransitionTime(now)
                        .build())
                .endStatus()
                .build();
        client.nodes()
                .withName(name)
                .subresource("status")
                .patch(
                        PatchContext.of(PatchType.STRATEGIC_MERGE),
                        client.getKubernetesSerialization().asJson(ready));
        return node;
    }

    /** A pod for one node; it stays pending without that node. */
    Pod pod(String node, String limit) {
        return new PodBuilder()
                .withNewMetadata()
                .withName(uniqueName("pod"))
                .endMetadata()
                .withNewSpec()
                .addToNodeSelector("contract-node", node)
                .addNewContainer()
                .withName("main")
                .withImage("example.org/none:1")
                .withNewResources()
                .addToLimits("nvidia.com/gpu", new Quantity(limit))
                .endResources()
                .endContainer()
                .endSpec()
                .build();
    }

    Pod create(Pod pod) {
        return client.pods().inNamespace(testId).resource(pod).create();
    }

    /** The error of an action. */
    static KubernetesClientException refusal(Runnable action) {
        return Objects.requireNonNull(catchThrowableOfType(KubernetesClientException.class, action::run), "no error");
    }

    @Override
    public void close() {
        client.pods().inNamespace(testId).withGracePeriod(0).delete();
        made.forEach(object -> client.resource(object).delete());
        client.namespaces().withName(testId).delete();
        Awaitility.await()
                .atMost(TIMEOUT)
                .until(() -> client.namespaces().withName(testId).get() == null);
    }
}
