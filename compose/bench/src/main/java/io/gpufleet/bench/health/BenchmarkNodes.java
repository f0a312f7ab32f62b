package io.gpufleet.bench.health;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.gpufleet.bench.projection.FleetEvents;
import io.gpufleet.kit.config.ConfigurationException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Node objects of a benchmark, recognized by a label. In a real cluster no kubelet keeps them ready but KWOK, by its annotation,
 * and its taint keeps pods away.
 */
final class BenchmarkNodes {
    /** On every Node that a benchmark created, and on no other. */
    static final String LABEL = "gpufleet.io/benchmark";

    private static final String VALUE = "health";
    private static final String KWOK = "kwok.x-k8s.io/node";
    private static final String GPU_PREFIX = "nvidia.com/";
    private static final String OWN_PREFIX = "gpufleet.io/";
    private static final Duration TIMEOUT = Duration.ofMinutes(10);

    private final KubernetesClient client;
    private final boolean real;

    /**
     * Works through the client, which the caller closes.
     *
     * @param real false for the fake API server, to which a Node without a status is ready
     */
    BenchmarkNodes(KubernetesClient client, boolean real) {
        this.client = client;
        this.real = real;
    }

    /** Fails where another Node has GPUs or was patched by gpufleet: the measured service would patch it, too. */
    void requireNoOthersWithGpus() {
        client.nodes().list().getItems().stream()
                .filter(node -> !labels(node).containsKey(LABEL))
                .filter(BenchmarkNodes::hasGpus)
                .findFirst()
                .ifPresent(node -> {
                    throw new ConfigurationException(
                            "node " + node.getMetadata().getName() + " has GPUs or fields of gpufleet, and the measured"
                                    + " service could patch it; use another cluster, or --beside-gpu-nodes");
                });
    }

    private static boolean hasGpus(Node node) {
        Stream<String> resources = Optional.ofNullable(node.getStatus()).stream()
                .flatMap(status -> Stream.of(status.getCapacity(), status.getAllocatable()))
                .flatMap(each -> Optional.ofNullable(each).stream())
                .flatMap(each -> each.keySet().stream());
        Stream<String> fields = Stream.concat(labels(node).keySet().stream(), annotations(node).keySet().stream());
        return resources.anyMatch(name -> name.startsWith(GPU_PREFIX))
                || fields.anyMatch(name -> name.startsWith(GPU_PREFIX) || name.startsWith(OWN_PREFIX));
    }

    private static Map<String, String> labels(Node node) {
        return Optional.ofNullable(node.getMetadata().getLabels()).orElseGet(Map::of);
    }

    private static Map<String, String> annotations(Node node) {
        return Optional.ofNullable(node.getMetadata().getAnnotations()).orElseGet(Map::of);
    }

    /** Creates so many Nodes, named as {@link FleetEvents} does, and waits until each is ready. */
    void create(int nodes) throws InterruptedException {
        if (!real) {
            createAll(nodes);
            return;
        }
        remove();
        var ready = new ReadyNodes(nodes);
        try (var _ = client.nodes().withLabel(LABEL, VALUE).inform(ready)) {
            createAll(nodes);
            ready.await();
        }
    }

    private void createAll(int nodes) {
        IntStream.range(0, nodes)
                .parallel()
                .forEach(index -> client.nodes().resource(node(index)).create());
    }

    /** Counts Nodes that are ready. */
    private static final class ReadyNodes implements ResourceEventHandler<Node> {
        private final CountDownLatch awaited;
        private final Set<String> ready = ConcurrentHashMap.newKeySet();

        ReadyNodes(int nodes) {
            this.awaited = new CountDownLatch(nodes);
        }

        void await() throws InterruptedException {
            if (!awaited.await(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException(awaited.getCount() + " Nodes are not ready after "
                        + TIMEOUT.toMinutes() + " min; does KWOK run, and manage Nodes with annotation " + KWOK
                        + "=fake?");
            }
        }

        @Override
        public void onAdd(Node node) {
            if (isReady(node) && ready.add(node.getMetadata().getName())) {
                awaited.countDown();
            }
        }

        @Override
        public void onUpdate(Node old, Node node) {
            onAdd(node);
        }

        @Override
        public void onDelete(Node node, boolean finalStateUnknown) {
            // One of an earlier run.
        }
    }

    private static boolean isReady(Node node) {
        return node.getStatus() != null
                && node.getStatus().getConditions().stream()
                        .anyMatch(condition -> condition.getType().equals("Ready")
                                && condition.getStatus().equals("True"));
    }

    private Node node(int index) {
        String name = FleetEvents.node(index);
        var node = new NodeBuilder()
                .withNewMetadata()
                .withName(name)
                .addToLabels(LABEL, VALUE)
                // As every kubelet labels its Node.
                .addToLabels("kubernetes.io/hostname", name)
                .endMetadata();
        if (real) {
            node.editMetadata()
                    .addToAnnotations(KWOK, "fake")
                    .endMetadata()
                    .withNewSpec()
                    .addNewTaint()
                    .withKey(KWOK)
                    .withValue("fake")
                    .withEffect("NoSchedule")
                    .endTaint()
                    .endSpec();
        }
        return node.build();
    }

    /** Deletes every Node with the label, also those of a benchmark that was killed. */
    void remove() {
        List<String> names = client.nodes().withLabel(LABEL, VALUE).list().getItems().stream()
                .map(node -> node.getMetadata().getName())
                .toList();
        names.parallelStream().forEach(name -> client.nodes().withName(name).delete());
    }
}
