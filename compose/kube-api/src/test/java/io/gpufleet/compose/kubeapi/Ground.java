package io.gpufleet.compose.kubeapi;

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

/** What the tests of the contract stand on: a namespace of their own, and the removal of all they made. */
final class Ground implements AutoCloseable {
    static final Duration LONG_ENOUGH = Duration.ofSeconds(30);

    private final KubernetesClient client;
    private final String mark = "contract-" + UUID.randomUUID().toString().substring(0, 8);
    private final Deque<HasMetadata> made = new ArrayDeque<>();
    private int number;

    Ground(KubernetesClient client) {
        this.client = client;
        client.namespaces()
                .resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(mark)
                        .addToLabels("contract", mark)
                        .endMetadata()
                        .build())
                .create();
        // Pods are refused until the namespace has its service account.
        Awaitility.await()
                .atMost(LONG_ENOUGH)
                .until(() -> client.serviceAccounts()
                                .inNamespace(mark)
                                .withName("default")
                                .get()
                        != null);
    }

    KubernetesClient client() {
        return client;
    }

    /** The namespace, and the value of its label {@code contract}. */
    String namespace() {
        return mark;
    }

    /** A name that nobody else has. */
    String freshName(String stem) {
        return mark + "-" + stem + "-" + number++;
    }

    /** Removes it at the end. */
    <T extends HasMetadata> T remember(T object) {
        made.push(object);
        return object;
    }

    ConfigMap configMap(String stem, Map<String, String> labels) {
        return client.configMaps()
                .inNamespace(mark)
                .resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withName(freshName(stem))
                        .withLabels(labels)
                        .endMetadata()
                        .addToData("key", "value")
                        .build())
                .create();
    }

    /** A node that is ready and has GPUs; only pods that select its name as label {@code contract-node} go there. */
    Node node(int gpus) {
        String name = freshName("node");
        Node node = remember(client.nodes()
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
                        .withMessage("as the test says")
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

    /** A pod that goes to a node only, or nowhere when there is no such node. */
    Pod pod(String node, String limit) {
        return new PodBuilder()
                .withNewMetadata()
                .withName(freshName("pod"))
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
        return client.pods().inNamespace(mark).resource(pod).create();
    }

    /** The refusal that an action meets. */
    static KubernetesClientException refusal(Runnable action) {
        return Objects.requireNonNull(
                catchThrowableOfType(KubernetesClientException.class, action::run), "nothing was refused");
    }

    @Override
    public void close() {
        client.pods().inNamespace(mark).withGracePeriod(0).delete();
        made.forEach(object -> client.resource(object).delete());
        client.namespaces().withName(mark).delete();
        Awaitility.await()
                .atMost(LONG_ENOUGH)
                .until(() -> client.namespaces().withName(mark).get() == null);
    }
}
