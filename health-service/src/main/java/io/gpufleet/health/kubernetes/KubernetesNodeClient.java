package io.gpufleet.health.kubernetes;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.gpufleet.health.app.NodeClient;
import io.gpufleet.health.app.NodeListener;
import io.gpufleet.health.model.nodepatch.AppliedAnnotation;
import io.gpufleet.health.model.nodepatch.NodePatchPlan;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import io.gpufleet.health.model.nodepatch.ObservedNode.Condition;
import io.gpufleet.health.model.nodepatch.ObservedNode.Taint;
import io.gpufleet.health.model.nodepatch.PatchBase;
import java.time.Clock;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Node objects of one API server. An informer caches them, so that a fault needs one patch and no read before it; a
 * patch tests what it was planned for.
 */
public final class KubernetesNodeClient implements NodeClient, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(KubernetesNodeClient.class);
    private static final String FIELD_MANAGER = PatchBase.FIELD_MANAGER;
    /** Nodes of one answer of the list: 500 with their images are 10 MB. */
    private static final long PAGE = 500;

    /** So many that the virtual machine compiles what a patch needs. */
    private static final int WARM_UP_CALLS = 20;

    private static final PatchContext JSON_PATCH = new PatchContext.Builder()
            .withPatchType(PatchType.JSON)
            .withFieldManager(FIELD_MANAGER)
            .build();
    private static final PatchContext APPLY = new PatchContext.Builder()
            .withPatchType(PatchType.SERVER_SIDE_APPLY)
            .withFieldManager(FIELD_MANAGER)
            .withForce(true)
            .build();

    private final KubernetesClient client;
    private final NodeEventRecorder events;
    private final Clock clock;
    private final NodeStore store;
    private final SharedIndexInformer<Node> informer;
    private final WatchStatus watch;
    private final Supplier<Duration> retryAfter;

    /**
     * Watches nothing before {@link #watch}. The caller closes the client.
     *
     * @param retryAfter how long the API server asked to wait, as of now
     */
    public KubernetesNodeClient(
            KubernetesClient client, NodeEventRecorder events, Clock clock, Supplier<Duration> retryAfter) {
        this.client = client;
        this.retryAfter = retryAfter;
        this.events = events;
        this.clock = clock;
        this.store = new NodeStore(clock);
        this.watch = new WatchStatus(client.getMasterUrl().toString());
        this.informer = client.nodes().withLimit(PAGE).runnableInformer(0).itemStore(store);
    }

    /** Starts the informer; it retries while the API server does not answer or rejects it. */
    public void watch(NodeListener listener) {
        informer.exceptionHandler((_, failed) -> {
            watch.failed(ApiErrors.oneLine(failed));
            return true;
        });
        informer.addEventHandler(new NodeEventHandler(listener));
        informer.start();
    }

    /** Passes the changes of the informer to the listener. */
    private final class NodeEventHandler implements ResourceEventHandler<Node> {
        private final NodeListener listener;

        NodeEventHandler(NodeListener listener) {
            this.listener = listener;
        }

        @Override
        public void onAdd(Node node) {
            watch.succeeded();
            listener.nodeChanged(node.getMetadata().getName());
        }

        @Override
        public void onUpdate(Node before, Node node) {
            watch.succeeded();
            listener.nodeChanged(node.getMetadata().getName());
        }

        @Override
        public void onDelete(Node node, boolean unknownFinalState) {
            listener.nodeDeleted(
                    node.getMetadata().getName(), node.getMetadata().getUid());
        }
    }

    /** Reasons why Nodes cannot be patched now, one line each. */
    public List<String> readinessFailures() {
        if (informer.hasSynced() && informer.isWatching()) {
            return List.of();
        }
        String error = watch.error();
        String reason = error.isEmpty() ? "Nodes are being listed" : error;
        return List.of("Kubernetes API " + client.getMasterUrl() + ": " + reason);
    }

    @Override
    public boolean hasSynced() {
        return informer.hasSynced();
    }

    @Override
    public Optional<ObservedNode> cached(String node) {
        return store.observed(node);
    }

    @Override
    public NodeResponse read(String node) {
        return call(() -> client.nodes().withName(node).get());
    }

    @Override
    public NodeResponse patchNode(ObservedNode observed, NodePatchPlan.Patch plan) {
        String patch = json(NodePatch.of(observed, plan));
        return remembered(call(() -> client.resource(named(observed)).patch(JSON_PATCH, patch)));
    }

    @Override
    public NodeResponse patchCondition(ObservedNode observed, Condition condition) {
        String patch = json(conditionPatch(observed, condition));
        return remembered(call(
                () -> client.resource(named(observed)).subresource("status").patch(APPLY, patch)));
    }

    private NodeResponse remembered(NodeResponse response) {
        if (response instanceof NodeResponse.Succeeded(ObservedNode node)) {
            store.wrote(node);
        }
        return response;
    }

    @Override
    public void recordEvent(ObservedNode node, boolean warning, String reason, String message) {
        events.recordEvent(node, warning, reason, message);
    }

    /** Patches a Node as for a fault, with its condition, as a dry run; without any Node, one that does not exist. */
    @Override
    public void warmUp() {
        ObservedNode node = store.any().orElseGet(KubernetesNodeClient::missing);
        var plan = new NodePatchPlan.Patch(
                Stream.concat(
                                node.taints().stream().filter(taint -> !taint.isUnhealthyTaint()),
                                Stream.of(Taint.unhealthy("WarmUp")))
                        .toList(),
                node.facts().unschedulable(),
                "degraded",
                "support",
                new AppliedAnnotation(1, "WarmUp", "degraded", "support", ""),
                true,
                true,
                List.of());
        String patch = json(NodePatch.of(node, plan));
        String condition = json(conditionPatch(node, new Condition("True", "WarmUp", "dry run")));
        for (int i = 0; i < WARM_UP_CALLS; i++) {
            NodeResponse response = call(() -> client.resource(named(node)).patch(dryRun(PatchType.JSON), patch));
            var _ = call(() -> client.resource(named(node))
                    .subresource("status")
                    .patch(dryRun(PatchType.SERVER_SIDE_APPLY), condition));
            LOG.atDebug().addKeyValue("response", response).log("warm-up done");
        }
    }

    private static PatchContext dryRun(PatchType type) {
        var context = new PatchContext.Builder()
                .withPatchType(type)
                .withFieldManager(FIELD_MANAGER)
                .withDryRun(List.of("All"));
        return (type == PatchType.SERVER_SIDE_APPLY ? context.withForce(true) : context).build();
    }

    /** No Node has a name below .invalid. */
    private static ObservedNode missing() {
        return new ObservedNode(
                "gpufleet-warm-up.invalid",
                new ObservedNode.NodeFacts("", "", false, false, true),
                PatchBase.of("1"),
                List.of(),
                "",
                "",
                AppliedAnnotation.NONE,
                null);
    }

    /** Its name only: a patch by name alone would read the Node before it. */
    private static Node named(ObservedNode observed) {
        return new NodeBuilder()
                .withNewMetadata()
                .withName(observed.name())
                .endMetadata()
                .build();
    }

    private NodeResponse call(Supplier<@Nullable Node> call) {
        try {
            Node node = call.get();
            return node == null ? new NodeResponse.NotFound() : new NodeResponse.Succeeded(NodeMapper.toModel(node));
        } catch (KubernetesClientException failed) {
            return ApiErrors.toResponse(failed, retryAfter);
        }
    }

    /** For server-side apply: changes only our condition of the list, and needs no read before. */
    private Map<String, @Nullable Object> conditionPatch(ObservedNode observed, Condition condition) {
        String now = clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
        String since = store.conditionSince(observed.name(), condition.status()).orElse(now);
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("type", NodeMapper.CONDITION);
        fields.put("status", condition.status());
        fields.put("reason", condition.reason());
        fields.put("message", condition.message());
        fields.put("lastHeartbeatTime", now);
        fields.put("lastTransitionTime", since);
        return Map.of(
                "apiVersion",
                "v1",
                "kind",
                "Node",
                "metadata",
                Map.of("name", observed.name(), "uid", observed.uid()),
                "status",
                Map.of("conditions", List.of(fields)));
    }

    private static String json(Object patch) {
        try {
            return NodeMapper.JSON.writeValueAsString(patch);
        } catch (com.fasterxml.jackson.core.JsonProcessingException impossible) {
            throw new IllegalStateException("maps and lists of texts are always JSON", impossible);
        }
    }

    @Override
    public void close() {
        informer.stop();
    }
}
