package io.gpufleet.health;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Another controller: changes a condition, a label or a taint of its own on one Node after the other, fifty times a second. */
final class NodeRival implements AutoCloseable {
    /** Key of its label and of its taint. */
    static final String KEY = "example.com/rival";

    /** Type of its condition. */
    static final String CONDITION = "RivalWrites";

    private static final long INTERVAL_MILLIS = 20;
    /** A write may take longer than the interval. */
    private static final int THREADS = 16;

    private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);
    private static final PatchContext STRATEGIC = PatchContext.of(PatchType.STRATEGIC_MERGE);

    private final KubernetesClient client;
    private final List<String> nodes;
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger written = new AtomicInteger();
    private final Map<String, Fields> fields = new ConcurrentHashMap<>();
    private final AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();
    private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(THREADS);

    /** What it wrote last on a Node. */
    private record Fields(String label, String taint, String condition) {}

    NodeRival(KubernetesClient client, List<String> nodes) {
        this.client = client;
        this.nodes = nodes;
        for (int thread = 0; thread < THREADS; thread++) {
            var _ = timer.scheduleAtFixedRate(
                    this::write, INTERVAL_MILLIS * thread, INTERVAL_MILLIS * THREADS, TimeUnit.MILLISECONDS);
        }
    }

    private void write() {
        int number = begun.getAndIncrement();
        // The kinds of each Node in turn, and no Node by two threads at once.
        fields.compute(nodes.get(number % nodes.size()), (node, before) -> {
            Fields known = before == null ? new Fields("", "", "") : before;
            try {
                Fields next = write(node, known, number / nodes.size() % 3, "r" + number);
                written.incrementAndGet();
                return next;
            } catch (RuntimeException failed) {
                failure.compareAndSet(null, failed);
                return known;
            }
        });
    }

    private Fields write(String node, Fields known, int kind, String value) {
        return switch (kind) {
            case 0 -> {
                client.resource(named(node)).subresource("status").patch(STRATEGIC, """
                        {"status": {"conditions": [{"type": "%s", "status": "True", "reason": "%s", "message": "",
                         "lastHeartbeatTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}
                        """.formatted(CONDITION, value));
                yield new Fields(known.label(), known.taint(), value);
            }
            case 1 -> {
                client.resource(named(node))
                        .patch(MERGE, "{\"metadata\":{\"labels\":{\"%s\":\"%s\"}}}".formatted(KEY, value));
                yield new Fields(value, known.taint(), known.condition());
            }
            default -> {
                String taint = known.taint().isEmpty() ? value : "";
                yield writeTaint(node, taint) ? new Fields(known.label(), taint, known.condition()) : known;
            }
        };
    }

    /** Without a read before the patch. */
    private static Node named(String name) {
        return new NodeBuilder().withNewMetadata().withName(name).endMetadata().build();
    }

    /** Replaces the list of the version that it read, as the controllers of Kubernetes do; false when that is outdated. */
    private boolean writeTaint(String name, String value) {
        Node node = client.nodes().withName(name).require();
        List<Taint> taints = new ArrayList<>(node.getSpec().getTaints());
        taints.removeIf(taint -> taint.getKey().equals(KEY));
        if (!value.isEmpty()) {
            taints.add(new Taint("PreferNoSchedule", KEY, null, value));
        }
        try {
            client.nodes()
                    .resource(new NodeBuilder(node)
                            .editSpec()
                            .withTaints(taints)
                            .endSpec()
                            .build())
                    .update();
            return true;
        } catch (KubernetesClientException outdated) {
            if (outdated.getCode() != 409) {
                throw outdated;
            }
            return false;
        }
    }

    /** Number of writes so far; throws what one of them failed by. */
    int written() {
        RuntimeException failed = failure.get();
        if (failed != null) {
            throw new IllegalStateException("the rival cannot write", failed);
        }
        return written.get();
    }

    /** Ends the writes; what the last ones left on each Node. */
    Map<String, String> stop() throws InterruptedException {
        close();
        var left = new TreeMap<String, String>();
        fields.forEach((node, last) -> left.put(node, text(last.label(), last.taint(), last.condition())));
        return left;
    }

    static String text(String label, String taint, String condition) {
        return "label=" + label + " taint=" + taint + " condition=" + condition;
    }

    @Override
    public void close() throws InterruptedException {
        timer.shutdown();
        if (!timer.awaitTermination(30, TimeUnit.SECONDS)) {
            throw new IllegalStateException("a write of the rival does not end");
        }
    }
}
