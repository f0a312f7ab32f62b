package io.gpufleet.health.kubernetes;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpufleet.health.app.CurrentLease;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Records Kubernetes Events about Nodes: one object per node and reason, whose count increases. */
public final class NodeEventRecorder implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(NodeEventRecorder.class);
    private static final String NAMESPACE = "default";
    private static final int MAX_CONCURRENT = 4;
    /** As many as client-go keeps. */
    private static final int KNOWN = 4_096;

    private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

    private final KubernetesClient client;
    private final CurrentLease lease;
    private final Clock clock;
    private final ExecutorService background = Executors.newVirtualThreadPerTaskExecutor();
    private final Semaphore permits = new Semaphore(MAX_CONCURRENT);
    /** Counts of the Events that were written last, by name. */
    private final Map<String, Integer> counts = Collections.synchronizedMap(new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Integer> eldest) {
            return size() > KNOWN;
        }
    });

    /** Uses the client, which the caller closes; asks the lease immediately before each write. */
    public NodeEventRecorder(KubernetesClient client, CurrentLease lease, Clock clock) {
        this.client = client;
        this.lease = lease;
        this.clock = clock;
    }

    /** Records in the background; an Event that cannot be written is logged and dropped. */
    void recordEvent(ObservedNode node, boolean warning, String reason, String message) {
        background.execute(() -> {
            permits.acquireUninterruptibly();
            try {
                write(node, warning, reason, message);
            } catch (KubernetesClientException failed) {
                LOG.atWarn()
                        .addKeyValue("node", node.name())
                        .addKeyValue("reason", ApiErrors.oneLine(failed))
                        .log("Kubernetes Event not written");
            } finally {
                permits.release();
            }
        });
    }

    /** One request where this process knows the object, or where there is none yet; as client-go does. */
    private void write(ObservedNode node, boolean warning, String reason, String message) {
        String name = name(node, reason);
        String now = clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
        Integer known = counts.get(name);
        if (known != null && repeated(name, known, message, now)) {
            return;
        }
        // None that is known, or the API server has removed it after its time to live.
        if (created(event(node, warning, reason, message, now))) {
            counts.put(name, 1);
            return;
        }
        Event existing =
                client.v1().events().inNamespace(NAMESPACE).withName(name).get();
        int count = existing == null || existing.getCount() == null ? 1 : existing.getCount();
        var _ = repeated(name, count, message, now);
    }

    /** Increases the count of an Event; false when there is none of that name. */
    private boolean repeated(String name, int count, String message, String now) {
        String patch = patch(Map.of("count", count + 1, "lastTimestamp", now, "message", message));
        Event named = new EventBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(NAMESPACE)
                .endMetadata()
                .build();
        try {
            return lease.call(
                    () -> {
                        boolean found = client.resource(named).patch(MERGE, patch) != null;
                        counts.put(name, count + 1);
                        return found;
                    },
                    () -> true);
        } catch (KubernetesClientException failed) {
            counts.remove(name);
            if (failed.getCode() == 404) {
                return false;
            }
            throw failed;
        }
    }

    /** False when there is one of that name. */
    private boolean created(Event event) {
        try {
            return lease.call(() -> client.resource(event).create() != null, () -> true);
        } catch (KubernetesClientException raced) {
            if (raced.getCode() == 409) {
                return false;
            }
            throw raced;
        }
    }

    /** Name by node and reason, so that a repeated Event finds its object. */
    static String name(ObservedNode node, String reason) {
        String owner = node.uid().isEmpty() ? node.name() : node.uid();
        String prefix = node.name().length() <= 150 ? node.name() : node.name().substring(0, 150);
        return prefix + ".gpufleet." + reason.toLowerCase(Locale.ROOT) + "."
                + Integer.toHexString((owner + reason).hashCode());
    }

    private static Event event(ObservedNode node, boolean warning, String reason, String message, String now) {
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
            return NodeMapper.JSON.writeValueAsString(fields);
        } catch (com.fasterxml.jackson.core.JsonProcessingException impossible) {
            throw new IllegalStateException("a map of texts is always JSON", impossible);
        }
    }

    @Override
    public void close() {
        background.shutdownNow();
    }
}
