package io.gpufleet.health.kubernetes;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.gpufleet.health.app.NodeMarks;
import io.gpufleet.health.app.NodeWatcher;
import io.gpufleet.health.model.FoundNode;
import io.gpufleet.health.model.FoundNode.Condition;
import io.gpufleet.health.model.FoundNode.Taint;
import io.gpufleet.health.model.MarksNote;
import io.gpufleet.health.model.MarksPlan;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Nodes of one API server. A watch keeps them here, so that a fault needs one patch and no read before it; the
 * patch carries the resourceVersion it was thought out for.
 */
public final class KubernetesNodes implements NodeMarks, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(KubernetesNodes.class);
    private static final String MANAGER = "gpufleet-health";
    private static final PatchContext MERGE = new PatchContext.Builder()
            .withPatchType(PatchType.JSON_MERGE)
            .withFieldManager(MANAGER)
            .build();
    private static final PatchContext APPLY = new PatchContext.Builder()
            .withPatchType(PatchType.SERVER_SIDE_APPLY)
            .withFieldManager(MANAGER)
            .withForce(true)
            .build();

    private final KubernetesClient client;
    private final NodeEvents events;
    private final Clock clock;
    private final SharedIndexInformer<Node> informer;
    private volatile String trouble = "";

    /** Nothing is watched before {@link #watch}. The client stays the caller's to close. */
    public KubernetesNodes(KubernetesClient client, NodeEvents events, Clock clock) {
        this.client = client;
        this.events = events;
        this.clock = clock;
        this.informer = client.nodes().runnableInformer(0);
    }

    /** Begins to watch; an API server that does not answer, or refuses, is asked again and again. */
    public void watch(NodeWatcher watcher) {
        informer.exceptionHandler((_, failed) -> {
            trouble(Trouble.oneLine(failed));
            return true;
        });
        informer.addEventHandler(new Handler(watcher));
        informer.start();
    }

    /** Tells the watcher what the informer tells. */
    private final class Handler implements ResourceEventHandler<Node> {
        private final NodeWatcher watcher;

        Handler(NodeWatcher watcher) {
            this.watcher = watcher;
        }

        @Override
        public void onAdd(Node node) {
            trouble("");
            watcher.nodeChanged(node.getMetadata().getName());
        }

        @Override
        public void onUpdate(Node before, Node node) {
            trouble("");
            watcher.nodeChanged(node.getMetadata().getName());
        }

        @Override
        public void onDelete(Node node, boolean unknownFinalState) {
            watcher.nodeGone(node.getMetadata().getName(), node.getMetadata().getUid());
        }
    }

    private void trouble(String line) {
        if (!line.equals(trouble)) {
            trouble = line;
            if (line.isEmpty()) {
                LOG.atInfo().log("the Kubernetes API answers");
            } else {
                LOG.atWarn()
                        .addKeyValue("url", client.getMasterUrl())
                        .addKeyValue("reason", line)
                        .log("Nodes can not be watched; verdicts go on, marks follow once the API answers");
            }
        }
    }

    /** Why marks can not be written now, one line each. */
    public List<String> notReady() {
        if (informer.hasSynced() && informer.isWatching()) {
            return List.of();
        }
        String why = trouble.isEmpty() ? "Nodes are being listed" : trouble;
        return List.of("Kubernetes API " + client.getMasterUrl() + ": " + why);
    }

    @Override
    public boolean watching() {
        return informer.hasSynced();
    }

    @Override
    public Optional<FoundNode> cached(String node) {
        return Optional.ofNullable(informer.getStore().getByKey(node)).map(NodeReading::toModel);
    }

    @Override
    public Answer read(String node) {
        return ask(() -> client.nodes().withName(node).get());
    }

    @Override
    public Answer patchMarks(FoundNode found, MarksPlan.Write write) {
        String patch = json(marksPatch(found, write));
        return ask(() -> client.nodes().withName(found.name()).patch(MERGE, patch));
    }

    @Override
    public Answer patchCondition(FoundNode found, Condition condition) {
        String patch = json(conditionPatch(found, condition));
        return ask(() ->
                client.nodes().withName(found.name()).subresource("status").patch(APPLY, patch));
    }

    @Override
    public void tell(FoundNode node, boolean warning, String reason, String message) {
        events.tell(node, warning, reason, message);
    }

    /** Patches a Node that does not exist: a name below .invalid is nobody's. */
    @Override
    public void warmUp() {
        var nobody = new FoundNode(
                "gpufleet-warm-up.invalid",
                new FoundNode.Facts("", "", false, false, true),
                "1",
                List.of(),
                "",
                "",
                MarksNote.NONE,
                null);
        var write = new MarksPlan.Write(
                List.of(Taint.ours("WarmUp")),
                "degraded",
                "support",
                new MarksNote(1, "WarmUp", "degraded", "support", ""),
                true,
                false,
                List.of());
        Answer answer = patchMarks(nobody, write);
        LOG.atDebug().addKeyValue("answer", answer).log("warm");
    }

    private static Answer ask(Supplier<@Nullable Node> call) {
        try {
            Node node = call.get();
            return node == null ? new Answer.Gone() : new Answer.Done(NodeReading.toModel(node));
        } catch (KubernetesClientException failed) {
            return Trouble.answer(failed);
        }
    }

    private static Map<String, @Nullable Object> marksPatch(FoundNode found, MarksPlan.Write write) {
        Map<String, @Nullable Object> labels = new LinkedHashMap<>();
        labels.put(NodeReading.HEALTH, orNull(write.label()));
        Map<String, @Nullable Object> annotations = new LinkedHashMap<>();
        annotations.put(NodeReading.NEXT_STEP, orNull(write.nextStep()));
        annotations.put(NodeReading.MARKS, write.note().equals(MarksNote.NONE) ? null : NodeReading.note(write.note()));
        Map<String, @Nullable Object> metadata = new LinkedHashMap<>();
        metadata.put("resourceVersion", found.resourceVersion());
        metadata.put("labels", labels);
        metadata.put("annotations", annotations);
        Map<String, @Nullable Object> patch = new LinkedHashMap<>();
        patch.put("metadata", metadata);
        if (!write.taints().equals(found.taints())) {
            patch.put(
                    "spec",
                    Map.of(
                            "taints",
                            write.taints().stream().map(KubernetesNodes::taint).toList()));
        }
        return patch;
    }

    private static Map<String, String> taint(Taint taint) {
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("key", taint.key());
        if (!taint.value().isEmpty()) {
            fields.put("value", taint.value());
        }
        fields.put("effect", taint.effect());
        if (!taint.timeAdded().isEmpty()) {
            fields.put("timeAdded", taint.timeAdded());
        }
        return fields;
    }

    /** Applied, not merged: of the list of conditions only ours is touched, and no GET is needed before. */
    private Map<String, @Nullable Object> conditionPatch(FoundNode found, Condition condition) {
        String now = clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
        String since = Optional.ofNullable(informer.getStore().getByKey(found.name()))
                .flatMap(NodeReading::condition)
                .filter(old -> condition.status().equals(old.getStatus()))
                .map(NodeCondition::getLastTransitionTime)
                .orElse(now);
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("type", NodeReading.CONDITION);
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
                Map.of("name", found.name(), "uid", found.uid()),
                "status",
                Map.of("conditions", List.of(fields)));
    }

    private static @Nullable String orNull(String text) {
        return text.isEmpty() ? null : text;
    }

    private static String json(Map<String, @Nullable Object> patch) {
        try {
            return NodeReading.JSON.writeValueAsString(patch);
        } catch (com.fasterxml.jackson.core.JsonProcessingException impossible) {
            throw new IllegalStateException("maps of texts are always JSON", impossible);
        }
    }

    @Override
    public void close() {
        informer.stop();
    }
}
