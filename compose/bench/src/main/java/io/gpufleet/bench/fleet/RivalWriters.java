package io.gpufleet.bench.fleet;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Change an annotation of every node ten times a second, as a busy kubelet or another controller does. */
final class RivalWriters implements AutoCloseable {
    private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

    private final KubernetesClient client;
    private final AtomicLong written = new AtomicLong();
    private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(2);

    /** Begins to write. */
    RivalWriters(KubernetesClient client, List<String> nodes) {
        this.client = client;
        nodes.forEach(node -> {
            var _ = timer.scheduleAtFixedRate(() -> write(node), 0, 100, TimeUnit.MILLISECONDS);
        });
    }

    private void write(String name) {
        Node node =
                new NodeBuilder().withNewMetadata().withName(name).endMetadata().build();
        try {
            var _ = client.resource(node)
                    .patch(
                            MERGE,
                            "{\"metadata\":{\"annotations\":{\"bench.gpufleet.io/rival\":\"" + written.incrementAndGet()
                                    + "\"}}}");
        } catch (KubernetesClientException ended) {
            // The fleet stops; what counts is what was written before.
            timer.shutdown();
        }
    }

    /** Number of writes. */
    long written() {
        return written.get();
    }

    @Override
    public void close() throws InterruptedException {
        timer.shutdown();
        var _ = timer.awaitTermination(5, TimeUnit.SECONDS);
    }
}
