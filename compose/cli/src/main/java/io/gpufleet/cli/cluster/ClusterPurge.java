package io.gpufleet.cli.cluster;

import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Removes from a cluster what gpufleet has set on objects of others, in the order in which it harms least: the webhook
 * first, so that no pod is refused while its server ends; then the services, which would set it all again; then Nodes and
 * namespaces. What is not there is passed over, so that it can be repeated.
 */
public final class ClusterPurge {
    private static final String WEBHOOK = "gpufleet-quota";
    private static final String PART_OF = "app.kubernetes.io/part-of";
    private static final String NAMESPACE_LABEL = "gpufleet.io/quota";
    private static final int NOT_FOUND = 404;
    private static final long STOP_SECONDS = 120;

    private final KubernetesClient client;
    private final Consumer<String> report;

    /** {@code report} gets one line for each thing removed. */
    public ClusterPurge(KubernetesClient client, Consumer<String> report) {
        this.client = client;
        this.report = report;
    }

    /** Removes everything and stops the services of a namespace first. */
    public void run(String serviceNamespace) {
        removeWebhook();
        stopServices(serviceNamespace);
        removeAppliedFields();
    }

    /** Removes what is on Nodes and namespaces; whoever set it has ended. */
    public void removeAppliedFields() {
        var cleaner = new NodeCleaner(client);
        NodePages.forEach(client.nodes()::list, node -> clean(cleaner, node));
        client.namespaces().withLabel(NAMESPACE_LABEL).list().getItems().forEach(this::removeLabel);
    }

    /** A Node that is deleted meanwhile has nothing to remove any more. */
    private void clean(NodeCleaner cleaner, Node node) {
        String name = node.getMetadata().getName();
        try {
            List<String> removed = cleaner.clean(node);
            if (!removed.isEmpty()) {
                report.accept("node " + name + ": removed " + String.join(", ", removed));
            }
        } catch (KubernetesClientException failed) {
            if (client.nodes().withName(name).get() != null) {
                throw failed;
            }
            report.accept("node " + name + ": was deleted meanwhile");
        }
    }

    private void removeWebhook() {
        var configuration = client.admissionRegistration()
                .v1()
                .validatingWebhookConfigurations()
                .withName(WEBHOOK);
        try {
            if (!configuration.delete().isEmpty()) {
                report.accept("removed webhook configuration " + WEBHOOK);
            }
        } catch (KubernetesClientException failed) {
            if (failed.getCode() != NOT_FOUND) {
                throw failed;
            }
        }
    }

    private void stopServices(String namespace) {
        var sets = client.apps().statefulSets().inNamespace(namespace).withLabel(PART_OF, "gpufleet");
        sets.list().getItems().stream()
                .filter(set -> Optional.ofNullable(set.getSpec().getReplicas()).orElse(1) > 0)
                .forEach(set -> {
                    String name = set.getMetadata().getName();
                    client.resource(set).patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"replicas\":0}}");
                    report.accept("stopped " + name);
                });
        sets.list()
                .getItems()
                .forEach(set -> client.apps()
                        .statefulSets()
                        .inNamespace(namespace)
                        .withName(set.getMetadata().getName())
                        .waitUntilCondition(ClusterPurge::stopped, STOP_SECONDS, TimeUnit.SECONDS));
    }

    private static boolean stopped(io.fabric8.kubernetes.api.model.apps.StatefulSet set) {
        return set == null
                || set.getStatus() == null
                || Optional.ofNullable(set.getStatus().getReplicas()).orElse(0) == 0;
    }

    private void removeLabel(Namespace namespace) {
        String name = namespace.getMetadata().getName();
        client.resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .endMetadata()
                        .build())
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"metadata\":{\"labels\":{\"" + NAMESPACE_LABEL + "\":null}}}");
        report.accept("namespace " + name + ": removed label " + NAMESPACE_LABEL);
    }
}
