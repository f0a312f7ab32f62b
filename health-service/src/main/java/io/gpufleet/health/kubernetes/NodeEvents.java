package io.gpufleet.health.kubernetes;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpufleet.health.model.FoundNode;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Kubernetes Events about Nodes: one object for each (node, reason), counted up when it is told again. */
public final class NodeEvents implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(NodeEvents.class);
    private static final String NAMESPACE = "default";
    private static final int AT_ONCE = 4;
    private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

    private final KubernetesClient client;
    private final Clock clock;
    private final ExecutorService background = Executors.newVirtualThreadPerTaskExecutor();
    private final Semaphore permits = new Semaphore(AT_ONCE);

    /** Writes with the client, which stays the caller's to close. */
    public NodeEvents(KubernetesClient client, Clock clock) {
        this.client = client;
        this.clock = clock;
    }

    /** Tells in the background; an Event that can not be written is logged and forgotten. */
    void tell(FoundNode node, boolean warning, String reason, String message) {
        background.execute(() -> {
            permits.acquireUninterruptibly();
            try {
                write(node, warning, reason, message);
            } catch (KubernetesClientException failed) {
                LOG.atWarn()
                        .addKeyValue("node", node.name())
                        .addKeyValue("reason", Trouble.oneLine(failed))
                        .log("Kubernetes Event not written");
            } finally {
                permits.release();
            }
        });
    }

    private void write(FoundNode node, boolean warning, String reason, String message) {
        String name = name(node, reason);
        Event known = client.v1().events().inNamespace(NAMESPACE).withName(name).get();
        String now = clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
        if (known == null) {
            try {
                client.v1()
                        .events()
                        .inNamespace(NAMESPACE)
                        .resource(event(node, warning, reason, message, now))
                        .create();
                return;
            } catch (KubernetesClientException raced) {
                if (raced.getCode() != 409) {
                    throw raced;
                }
            }
        }
        int count = known == null || known.getCount() == null ? 1 : known.getCount();
        client.v1()
                .events()
                .inNamespace(NAMESPACE)
                .withName(name)
                .patch(MERGE, patch(Map.of("count", count + 1, "lastTimestamp", now, "message", message)));
    }

    /** The object is named by what it says of whom, so that a second time finds the first. */
    static String name(FoundNode node, String reason) {
        String of = node.uid().isEmpty() ? node.name() : node.uid();
        String prefix = node.name().length() <= 150 ? node.name() : node.name().substring(0, 150);
        return prefix + ".gpufleet." + reason.toLowerCase(Locale.ROOT) + "."
                + Integer.toHexString((of + reason).hashCode());
    }

    private static Event event(FoundNode node, boolean warning, String reason, String message, String now) {
        return new EventBuilder()
                .withNewMetadata()
                .withName(name(node, reason))
                .withNamespace(NAMESPACE)
                .endMetadata()
                .withType(warning ? "Warning" : "Normal")
                .withReason(reason)
                .withMessage(message)
                .withCount(1)
                .withFirstTimestamp(now)
                .withLastTimestamp(now)
                .withReportingComponent("gpufleet-health")
                .withReportingInstance("gpufleet-health")
                .withNewSource()
                .withComponent("gpufleet-health")
                .withHost(node.name())
                .endSource()
                .withNewInvolvedObject()
                .withApiVersion("v1")
                .withKind("Node")
                .withName(node.name())
                .withUid(node.uid())
                .endInvolvedObject()
                .build();
    }

    private static String patch(Map<String, Object> fields) {
        try {
            return NodeReading.JSON.writeValueAsString(fields);
        } catch (com.fasterxml.jackson.core.JsonProcessingException impossible) {
            throw new IllegalStateException("a map of texts is always JSON", impossible);
        }
    }

    @Override
    public void close() {
        background.shutdownNow();
    }
}
