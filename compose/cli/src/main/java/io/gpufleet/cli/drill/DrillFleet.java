package io.gpufleet.cli.drill;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.gpufleet.cli.bus.TopicReader;
import io.gpufleet.cli.cluster.KubernetesCluster;
import io.gpufleet.cli.cluster.PodRequest;
import io.gpufleet.cli.fleet.FleetPartControl;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.PartStatus;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.util.List;
import java.util.Optional;

/** Objects that a drill observes: parts, Nodes, pods of its own, the webhook, dead letters. */
final class DrillFleet implements ObservedFleet {
    private static final String NAMESPACE = "gpufleet-drill";
    private static final String GPU = "nvidia.com/gpu";
    private static final String TAINT = "gpufleet.io/unhealthy";
    private static final String IMAGE = "registry.k8s.io/pause:3.10";

    private final FleetPartControl parts;
    private final KubernetesCluster cluster;
    private final DrillWebhook webhook;

    DrillFleet(FleetPartControl parts, KubernetesCluster cluster, DrillWebhook webhook) {
        this.parts = parts;
        this.cluster = cluster;
        this.webhook = webhook;
    }

    @Override
    public List<String> notReady() {
        return notReady(parts.state());
    }

    @Override
    public boolean webhookIsSound() {
        return webhook.isSound();
    }

    @Override
    public boolean tainted(String node) {
        return node(node).stream()
                .flatMap(found -> found.getSpec().getTaints().stream())
                .anyMatch(taint -> taint.getKey().equals(TAINT));
    }

    @Override
    public int allocatable(String node) {
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

    @Override
    public void createPod(String name) {
        cluster.createPod(new PodRequest(NAMESPACE, name, "1", "", IMAGE, ""));
    }

    @Override
    public Optional<String> runningPod(String name) {
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

    /** The namespace stays, since one that is being deleted takes no pods. */
    @Override
    public void deletePods(String... names) {
        for (String name : names) {
            cluster.deletePod(NAMESPACE, name);
        }
    }

    @Override
    public boolean podsGone() {
        return cluster.client().pods().inNamespace(NAMESPACE).list().getItems().isEmpty();
    }

    @Override
    public long deadLetters() {
        var names = new Topics(Topics.DEFAULT_PREFIX);
        try (var reader =
                new TopicReader(KafkaClients.plain(parts.state().bootstrap()), names, List.of(Topic.DEADLETTER))) {
            return reader.readAll(_ -> {});
        }
    }
}
