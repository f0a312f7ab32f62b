package io.gpufleet.cli.cluster;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.api.model.apps.StatefulSetBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.util.List;

/** What an installation sets in a cluster: a webhook, a service, the label of its namespace, and fields of two Nodes. */
final class InstalledObjects {
    static final String NAMESPACE = "gpufleet-it-purge";
    static final List<String> NODES = List.of("gpufleet-it-purge-1", "gpufleet-it-purge-2");
    static final String WEBHOOK = "gpufleet-quota";

    private InstalledObjects() {}

    /** Creates what is not there and sets what a purge removes. */
    static void create(KubernetesClient client) {
        if (client.namespaces().withName(NAMESPACE).get() == null) {
            client.resource(new NamespaceBuilder()
                            .withNewMetadata()
                            .withName(NAMESPACE)
                            .endMetadata()
                            .build())
                    .create();
        }
        client.namespaces()
                .withName(NAMESPACE)
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"metadata\":{\"labels\":{\"gpufleet.io/quota\":\"enforce\"}}}");
        client.resource(new ValidatingWebhookConfigurationBuilder()
                        .withNewMetadata()
                        .withName(WEBHOOK)
                        .endMetadata()
                        .build())
                .create();
        // A pod of it that no Node takes: what is shown is that it is stopped, not that it runs.
        client.resource(new StatefulSetBuilder()
                        .withNewMetadata()
                        .withName("health-service")
                        .withNamespace(NAMESPACE)
                        .addToLabels("app.kubernetes.io/part-of", "gpufleet")
                        .endMetadata()
                        .withNewSpec()
                        .withServiceName("health-service")
                        .withReplicas(1)
                        .withNewSelector()
                        .addToMatchLabels("app", "health-service")
                        .endSelector()
                        .withNewTemplate()
                        .withNewMetadata()
                        .addToLabels("app", "health-service")
                        .endMetadata()
                        .withNewSpec()
                        .addToNodeSelector("gpufleet.io/it", "nowhere")
                        .addNewContainer()
                        .withName("main")
                        .withImage("testbed/pause:1")
                        .endContainer()
                        .endSpec()
                        .endTemplate()
                        .endSpec()
                        .build())
                .create();
        NODES.forEach(name -> createNode(client, name));
    }

    private static void createNode(KubernetesClient client, String name) {
        client.resource(new NodeBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .addToLabels("gpufleet.io/health", "unhealthy")
                        .addToLabels("example.com/rack", "7")
                        .addToAnnotations("gpufleet.io/applied", "{}")
                        .addToAnnotations("gpufleet.io/applied-node-taints", "nvidia.com/gpu=present:NoSchedule")
                        .endMetadata()
                        .withNewSpec()
                        .addNewTaint("NoExecute", "gpufleet.io/unhealthy", null, "true")
                        .addNewTaint("NoSchedule", "nvidia.com/gpu", null, "present")
                        .endSpec()
                        .build())
                .create();
        var node = client.nodes().withName(name);
        node.patch(
                context(PatchType.SERVER_SIDE_APPLY, "gpufleet-inventory"),
                "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"" + name
                        + "\",\"labels\":{\"nvidia.com/gpu.count\":\"8\"}}}");
        node.patch(
                context(PatchType.JSON, "gpufleet-health"),
                "[{\"op\":\"add\",\"path\":\"/spec/unschedulable\",\"value\":true}]");
        node.subresource("status")
                .patch(
                        context(PatchType.SERVER_SIDE_APPLY, "gpufleet-health"),
                        "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"" + name
                                + "\"},\"status\":{\"conditions\":[{\"type\":\"GpuUnhealthy\",\"status\":\"True\","
                                + "\"reason\":\"Xid\",\"message\":\"Xid 79\"}]}}");
    }

    private static PatchContext context(PatchType type, String manager) {
        var context = new PatchContext.Builder().withPatchType(type).withFieldManager(manager);
        return (type == PatchType.SERVER_SIDE_APPLY ? context.withForce(true) : context).build();
    }

    /** Keeps the pod of the service after it is deleted, as one that ends slowly. */
    static void holdPod(KubernetesClient client) {
        var pod = client.pods().inNamespace(NAMESPACE).withName("health-service-0");
        await().atMost(Duration.ofSeconds(30)).until(() -> pod.get() != null);
        pod.patch(PatchContext.of(PatchType.JSON_MERGE), "{\"metadata\":{\"finalizers\":[\"gpufleet.io/it\"]}}");
    }

    /** Lets the pod go. */
    static void endPod(KubernetesClient client) {
        client.pods()
                .inNamespace(NAMESPACE)
                .list()
                .getItems()
                .forEach(pod -> client.resource(pod)
                        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"metadata\":{\"finalizers\":null}}"));
    }

    /** Deletes all but the namespace; the webhook may be there still. */
    static void delete(KubernetesClient client) {
        NODES.forEach(name -> client.nodes().withName(name).delete());
        client.admissionRegistration()
                .v1()
                .validatingWebhookConfigurations()
                .withName(WEBHOOK)
                .delete();
        client.apps()
                .statefulSets()
                .inNamespace(NAMESPACE)
                .withName("health-service")
                .withGracePeriod(0)
                .delete();
        endPod(client);
    }
}
