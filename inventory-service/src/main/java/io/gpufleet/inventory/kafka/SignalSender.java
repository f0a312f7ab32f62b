package io.gpufleet.inventory.kafka;

import io.gpufleet.inventory.app.NodeObject;
import io.gpufleet.inventory.app.SignalSink;
import io.gpufleet.inventory.model.NodeSettings;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.NodeDeleted;
import io.gpufleet.proto.signal.v1.PatchResult;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.runtime.sender.EventSender;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends observations of Kubernetes to {@code gpu.signals}; the idempotent sender retries while a broker is unavailable. */
public final class SignalSender implements SignalSink {
    /** Target of a {@code PatchResult} for labels. */
    static final String LABELS = "labels";

    private static final Logger LOG = LoggerFactory.getLogger(SignalSender.class);
    private static final Set<String> PUBLISHED_LABELS =
            Set.of(NodeSettings.DEVICE_PLUGIN_CONFIG, NodeSettings.MIG_CONFIG);

    private final EventSender sender;
    private final Clock clock;

    /** Sends through {@code sender}. */
    public SignalSender(EventSender sender, Clock clock) {
        this.sender = sender;
        this.clock = clock;
    }

    @Override
    public void nodeObserved(NodeObject node) {
        Map<String, String> labels = node.labels().entrySet().stream()
                .filter(label -> PUBLISHED_LABELS.contains(label.getKey()))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
        send(
                node.name(),
                KubernetesFact.newBuilder()
                        .setNode(io.gpufleet.proto.signal.v1.NodeObject.newBuilder()
                                .setUid(node.uid())
                                .setBootId(node.bootId())
                                .setReady(node.ready())
                                .setUnschedulable(node.unschedulable())
                                .setManaged(node.managed())
                                .putAllLabels(labels)));
    }

    @Override
    public void nodeDeleted(String node, String uid) {
        send(
                node,
                KubernetesFact.newBuilder()
                        .setNodeDeleted(NodeDeleted.newBuilder().setUid(uid)));
    }

    @Override
    public void labelsApplied(String node, String uid, long revision, List<String> conflicts, String error) {
        send(
                node,
                KubernetesFact.newBuilder()
                        .setPatch(PatchResult.newBuilder()
                                .setRevision(revision)
                                .setTarget(LABELS)
                                .setSucceeded(error.isEmpty())
                                .setError(error)
                                .addAllConflicts(conflicts)
                                .setNodeUid(uid)));
    }

    private void send(String node, KubernetesFact.Builder fact) {
        var event =
                Outbound.Event.of(Topic.SIGNALS, EventType.KUBERNETES_OBSERVED, node, fact.build(), clock.instant());
        sender.send(event).whenComplete((_, failed) -> {
            if (failed != null) {
                LOG.atWarn()
                        .addKeyValue("node", node)
                        .addKeyValue("error", failed.getMessage())
                        .log("Kubernetes fact not appended");
            }
        });
    }
}
