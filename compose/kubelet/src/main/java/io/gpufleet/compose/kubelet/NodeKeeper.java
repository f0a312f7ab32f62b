package io.gpufleet.compose.kubelet;

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

/** Keeps one Node object: creates it, keeps it Ready, and tells its resources as soon as they change. */
final class NodeKeeper implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(NodeKeeper.class);
    /** Well within the node controller's patience of 40 s to 50 s. */
    private static final Duration HEARTBEAT = Duration.ofSeconds(10);

    private static final int CONFLICT = 409;
    private static final int ATTEMPTS = 8;

    private final KubernetesClient client;
    private final String name;
    private final String bootId;
    private final StandInKubelet kubelet;
    private final Clock clock;
    private final ScheduledExecutorService turn = Executors.newSingleThreadScheduledExecutor(
            Thread.ofVirtual().name("node").factory());
    private final AtomicBoolean due = new AtomicBoolean();
    private volatile boolean written;

    NodeKeeper(KubernetesClient client, String name, String bootId, StandInKubelet kubelet, Clock clock) {
        this.client = client;
        this.name = name;
        this.bootId = bootId;
        this.kubelet = kubelet;
        this.clock = clock;
    }

    /** Creates the Node, or takes over the one of an earlier run; refuses a Node that is not marked as simulated. */
    void start() {
        Node found = client.nodes().withName(name).get();
        if (found == null) {
            client.nodes().resource(NodeText.node(name)).create();
        } else if (!"true".equals(found.getMetadata().getLabels().get(NodeText.SIMULATED))) {
            throw new ConfigurationException("node '" + name + "' exists in this cluster and is not simulated;"
                    + " choose other names for the simulated nodes");
        }
        kubelet.onChange(this::write);
        turn.scheduleAtFixedRate(this::write, 0, HEARTBEAT.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Whether the status was written at least once. */
    boolean written() {
        return written;
    }

    @Override
    public void close() {
        turn.shutdownNow();
    }

    /** Several changes in a row become one write. */
    private void write() {
        if (due.compareAndSet(false, true) && !turn.isShutdown()) {
            turn.execute(() -> {
                due.set(false);
                writeNow();
            });
        }
    }

    private void writeNow() {
        try {
            for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
                if (writeOnce()) {
                    written = true;
                    return;
                }
            }
            LOG.atWarn().addKeyValue("node", name).log("node status is contended; next try at the next heartbeat");
        } catch (KubernetesClientException failed) {
            LOG.atWarn()
                    .addKeyValue("node", name)
                    .addKeyValue("error", failed.getMessage())
                    .log("node status was not written; next try at the next heartbeat");
        }
    }

    /** False when somebody else wrote the Node in between. */
    private boolean writeOnce() {
        Node node = client.nodes().withName(name).get();
        if (node == null) {
            node = client.nodes().resource(NodeText.node(name)).create();
        }
        node.setStatus(NodeText.status(node.getStatus(), name, bootId, kubelet.resources(), clock.instant()));
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
