package io.gpufleet.bench.allocation;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/** Nodes, namespaces, pods and quotas of a cluster. */
final class QuotaClusterObjects {
    /** As many as a quota may name. */
    static final int NAMESPACES = 1_000;

    private static final int NODES = 1_000;
    private static final int PARALLEL = 16;
    private static final int LIMIT = 1_000_000;
    private static final String PRODUCT = "NVIDIA-H100-80GB-HBM3";
    private static final String API_VERSION = "gpufleet.io/v1alpha1";

    private final KubernetesClient client;

    QuotaClusterObjects(KubernetesClient client) {
        this.client = client;
    }

    static String namespace(int index) {
        return "bench-" + index % NAMESPACES;
    }

    private static String node(int index) {
        return "bench-" + index % NODES;
    }

    /** Creates Nodes, namespaces, and bound pods in all namespaces alike, each with one GPU. */
    void create(int pods) {
        parallel(
                NODES,
                index -> client.resource(new NodeBuilder()
                                .withNewMetadata()
                                .withName(node(index))
                                .addToLabels("nvidia.com/gpu.product", PRODUCT)
                                .addToLabels("gpu-type", "h100")
                                .endMetadata()
                                .build())
                        .create());
        parallel(
                NAMESPACES,
                index -> client.resource(new NamespaceBuilder()
                                .withNewMetadata()
                                .withName(namespace(index))
                                .endMetadata()
                                .build())
                        .create());
        parallel(
                pods,
                index -> client.resource(new PodBuilder()
                                .withNewMetadata()
                                .withName("bench-" + index)
                                .withNamespace(namespace(index))
                                .endMetadata()
                                .withNewSpec()
                                .withNodeName(node(index))
                                .addToNodeSelector("nvidia.com/gpu.product", PRODUCT)
                                .addNewContainer()
                                .withName("main")
                                .withImage("pause")
                                .withNewResources()
                                .addToLimits("nvidia.com/gpu", new Quantity("1"))
                                .endResources()
                                .endContainer()
                                .endSpec()
                                .build())
                        .create());
    }

    private static void parallel(int count, IntConsumer action) {
        IntStream.range(0, PARALLEL).parallel().forEach(part -> {
            for (int index = part; index < count; index += PARALLEL) {
                action.accept(index);
            }
        });
    }

    /** Replaces all quotas by so many that share the namespaces; each limits a model and all GPUs. */
    void quotas(int count) {
        var all = client.genericKubernetesResources(API_VERSION, "GpuQuota");
        all.list().getItems().forEach(quota -> all.resource(quota).delete());
        parallel(count, index -> all.resource(quota(index, count)).create());
    }

    private static GenericKubernetesResource quota(int index, int count) {
        var quota = new GenericKubernetesResource();
        quota.setApiVersion(API_VERSION);
        quota.setKind("GpuQuota");
        quota.setMetadata(
                new ObjectMetaBuilder().withName("bench-" + count + "-" + index).build());
        quota.setAdditionalProperty(
                "spec",
                Map.of(
                        "mode",
                        "Enforce",
                        "namespaces",
                        IntStream.range(0, NAMESPACES)
                                .filter(namespace -> namespace % count == index)
                                .mapToObj(QuotaClusterObjects::namespace)
                                .toList(),
                        "limits",
                        List.of(Map.of("model", "H100", "gpus", LIMIT), Map.of("model", "*", "gpus", LIMIT))));
        return quota;
    }

    /** True when every quota has a leader. */
    boolean led() {
        return client.genericKubernetesResources(API_VERSION, "GpuQuota").list().getItems().stream()
                .allMatch(quota -> quota.getAdditionalProperties().get("status") instanceof Map<?, ?> status
                        && status.get("leader") instanceof String leader
                        && !leader.isEmpty());
    }

    /** Review of a pod that asks for one GPU; {@code number} tells it from all others. */
    static String review(int number) {
        return """
                {"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"review-%1$d",
                "kind":{"group":"","version":"v1","kind":"Pod"},"operation":"CREATE","namespace":"%2$s","object":{
                "metadata":{"name":"review-%1$d","namespace":"%2$s","uid":"pod-%1$d"},
                "spec":{"nodeSelector":{"nvidia.com/gpu.product":"%3$s"},
                "containers":[{"name":"main","image":"pause","resources":{"limits":{"nvidia.com/gpu":"1"}}}]}}}}
                """.formatted(number, namespace(number), PRODUCT);
    }
}
