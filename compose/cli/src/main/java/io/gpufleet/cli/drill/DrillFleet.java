package io.gpufleet.cli.drill;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.gpufleet.cli.bus.TopicReader;
import io.gpufleet.cli.cluster.KubernetesCluster;
import io.gpufleet.cli.cluster.PodRequest;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.PartStatus;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.util.List;
import java.util.Optional;

/** Objects that a drill observes: Nodes, pods of its own, dead letters. Every method blocks. */
final class DrillFleet {
    private static final String NAMESPACE = "gpufleet-drill";
    private static final String GPU = "nvidia.com/gpu";
    private static final String TAINT = "gpufleet.io/unhealthy";
    private static final String IMAGE = "registry.k8s.io/pause:3.10";

    private final KubernetesCluster cluster;
    private final String bootstrap;

    DrillFleet(KubernetesCluster cluster, String bootstrap) {
        this.cluster = cluster;
        this.bootstrap = bootstrap;
    }

    boolean tainted(String node) {
        return node(node).stream()
                .flatMap(found -> found.getSpec().getTaints().stream())
                .anyMatch(taint -> taint.getKey().equals(TAINT));
    }

    /** GPUs that the Node offers; 0 where it has none. */
    int allocatable(String node) {
        return node(node)
                .map(found -> found.getStatus().getAllocatable())
                .map(resources -> resources.get(GPU))
                .map(Quantity::getAmount)
                .map(Integer::parseInt)
                .orElse(0);
    }

    private Optional<Node> node(String name) {
        return Optional.ofNullable(cluster.client().nodes().withName(name).get());
    }

    /** A line for each part that is not ready, with its reasons. */
    static List<String> notReady(FleetState fleet) {
        return fleet.processes().stream()
                .flatMap(part -> notReady(part).stream().map(why -> part.name() + " " + why))
                .toList();
    }

    private static Optional<String> notReady(FleetState.FleetProcess part) {
        return switch (PartStatus.of(part)) {
            case PartStatus.Ready() -> Optional.empty();
            case PartStatus.NotReady(String reason) -> Optional.of("is not ready: " + reason);
            case PartStatus.Ended(String lastLine) ->
                Optional.of("has ended" + (lastLine.isEmpty() ? "" : ": " + lastLine));
        };
    }

    /** Creates a pod that holds a GPU until it is deleted. */
    void createPod(String name) {
        cluster.createPod(new PodRequest(NAMESPACE, name, "1", "", IMAGE, ""));
    }

    /** The uid of a pod of this drill that runs; empty while it does not. */
    Optional<String> runningPod(String name) {
        return Optional.ofNullable(cluster.client()
                        .pods()
                        .inNamespace(NAMESPACE)
                        .withName(name)
                        .get())
                .filter(pod -> "Running".equals(phase(pod)))
                .map(pod -> pod.getMetadata().getUid());
    }

    private static String phase(Pod pod) {
        return pod.getStatus() == null ? "" : String.valueOf(pod.getStatus().getPhase());
    }

    /** Deletes the pods of these names; the namespace stays, since one that is being deleted takes no pods. */
    void deletePods(String... names) {
        for (String name : names) {
            cluster.deletePod(NAMESPACE, name);
        }
    }

    /** True once no pod of a drill is left. */
    boolean podsGone() {
        return cluster.client().pods().inNamespace(NAMESPACE).list().getItems().isEmpty();
    }

    /** Number of records that nobody could read. */
    long deadLetters() {
        var names = new Topics(Topics.DEFAULT_PREFIX);
        try (var reader = new TopicReader(KafkaClients.plain(bootstrap), names, List.of(Topic.DEADLETTER))) {
            return reader.readAll(_ -> {});
        }
    }
}
