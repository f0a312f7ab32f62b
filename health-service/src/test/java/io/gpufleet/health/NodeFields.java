package io.gpufleet.health;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** What a user sees of Nodes, and edits. */
record NodeFields(KubernetesClient client) {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    /** Creates a Node without labels and taints. */
    void create(String name) {
        client.nodes()
                .resource(new NodeBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .endMetadata()
                        .build())
                .create();
    }

    /** Edits the Node as a user would; retries on conflict. */
    void edit(String name, UnaryOperator<Node> change) {
        await().atMost(TIMEOUT).ignoreExceptions().until(() -> {
            client.nodes().withName(name).edit(change);
            return true;
        });
    }

    Node read(String name) {
        return client.nodes().withName(name).require();
    }

    Optional<Taint> taint(String name) {
        Node found = read(name);
        return found.getSpec() == null
                ? Optional.empty()
                : found.getSpec().getTaints().stream()
                        .filter(taint -> "gpufleet.io/unhealthy".equals(taint.getKey()))
                        .findFirst();
    }

    String condition(String name) {
        Node found = read(name);
        return found.getStatus() == null
                ? ""
                : found.getStatus().getConditions().stream()
                        .filter(condition -> "GpuUnhealthy".equals(condition.getType()))
                        .map(condition -> condition.getStatus() + " " + condition.getReason())
                        .findFirst()
                        .orElse("");
    }

    List<String> eventReasons(String name) {
        return client.v1().events().inNamespace("default").list().getItems().stream()
                .filter(event -> name.equals(event.getInvolvedObject().getName()))
                .map(event -> event.getReason())
                .toList();
    }
}
