package io.gpufleet.testbed.fakekubelet;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.kit.config.ConfigurationException;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates one Node object, keeps it Ready, and updates its resources on change. */
final class NodeStatusUpdater implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(NodeStatusUpdater.class);
    /** Well within the node controller's grace period of 40 s to 50 s. */
    private static final Duration HEARTBEAT = Duration.ofSeconds(10);

    /** A kubelet reports a changed device with its next status, seconds later, not while others write the Node. */
    private static final Duration CHANGE_DELAY = Duration.ofMillis(200);

    private static final int CONFLICT = 409;
    private static final int ATTEMPTS = 8;

    private final KubernetesClient client;
    private final String name;
    private final String bootId;
    private final FakeKubelet kubelet;
    private final Clock clock;
    private final ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor(
            Thread.ofVirtual().name("node").factory());
    private final AtomicBoolean writePending = new AtomicBoolean();
    private volatile boolean statusWritten;

    NodeStatusUpdater(KubernetesClient client, String name, String bootId, FakeKubelet kubelet, Clock clock) {
        this.client = client;
        this.name = name;
        this.bootId = bootId;
        this.kubelet = kubelet;
        this.clock = clock;
    }

    /**
     * Creates the Node, or takes over the one of an earlier run; a Node without the label of simulated nodes is an
     * error.
     */
    void start() {
        Node found = client.nodes().withName(name).get();
        if (found == null) {
            client.nodes().resource(SimulatedNode.node(name)).create();
        } else if (!"true".equals(found.getMetadata().getLabels().get(SimulatedNode.SIMULATED))) {
            throw new ConfigurationException("node '" + name + "' exists in this cluster and is not simulated;"
                    + " choose other names for the simulated nodes");
        }
        kubelet.onChange(this::writeSoon);
        executor.scheduleAtFixedRate(this::writeNow, 0, HEARTBEAT.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** True when the status was written at least once. */
    boolean statusWritten() {
        return statusWritten;
    }

    @Override
    public void close() {
        executor.shutdownNow();
    }

    /** Several changes in a row become one write. */
    private void writeSoon() {
        if (writePending.compareAndSet(false, true) && !executor.isShutdown()) {
            var _ = executor.schedule(
                    () -> {
                        writePending.set(false);
                        writeNow();
                    },
                    CHANGE_DELAY.toMillis(),
                    TimeUnit.MILLISECONDS);
        }
    }

    private void writeNow() {
        try {
            for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
                if (writeOnce()) {
                    statusWritten = true;
                    return;
                }
            }
            LOG.atWarn().addKeyValue("node", name).log("node status update conflicted, retrying at the next heartbeat");
        } catch (KubernetesClientException failed) {
            LOG.atWarn()
                    .addKeyValue("node", name)
                    .addKeyValue("error", failed.getMessage())
                    .log("node status not updated, retrying at the next heartbeat");
        }
    }

    /** False when another writer updated the Node in between. */
    private boolean writeOnce() {
        Node node = client.nodes().withName(name).get();
        if (node == null) {
            node = client.nodes().resource(SimulatedNode.node(name)).create();
        }
        node.setStatus(SimulatedNode.status(node.getStatus(), name, bootId, kubelet.resources(), clock.instant()));
        try {
            client.nodes().resource(node).updateStatus();
            return true;
        } catch (KubernetesClientException refused) {
            if (refused.getCode() == CONFLICT) {
                return false;
            }
            throw refused;
        }
    }
}
