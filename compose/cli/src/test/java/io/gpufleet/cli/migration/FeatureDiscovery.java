package io.gpufleet.cli.migration;

import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpufleet.testbed.testkit.RealCluster;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Labels of a Node as the master of node-feature-discovery writes them for NVIDIA's plug-in of it: only those whose values
 * differ, all of them removed once the plug-in has left the Node.
 */
final class FeatureDiscovery implements AutoCloseable {
    /** A label that gpufleet has as well. */
    static final String COUNT = "nvidia.com/gpu.count";

    private static final Map<String, String> LABELS = Map.of(COUNT, "8", "nvidia.com/gpu.family", "hopper");
    private static final String NAMESPACE = "node-feature-discovery";
    private static final PatchContext PATCH = new PatchContext.Builder()
            .withPatchType(PatchType.JSON_MERGE)
            .withFieldManager("nfd-master")
            .build();

    private final RealCluster cluster;
    private final List<PodsOfAnother> pods = new ArrayList<>();
    private volatile boolean onTheNode;

    /** Follows the pods of the stand-ins. */
    FeatureDiscovery(RealCluster cluster) {
        this.cluster = cluster;
        pods.add(new PodsOfAnother(cluster.client(), NAMESPACE, "gpu-feature-discovery", this::discover));
        pods.add(new PodsOfAnother(cluster.client(), NAMESPACE, "nfd-master", () -> {
            write();
            return () -> {};
        }));
    }

    private AutoCloseable discover() {
        onTheNode = true;
        write();
        return () -> {
            onTheNode = false;
            patch(LABELS.keySet().stream().map(key -> "\"" + key + "\":null"));
        };
    }

    private void write() {
        if (onTheNode) {
            patch(LABELS.entrySet().stream()
                    .filter(label -> !cluster.label(label.getKey()).equals(label.getValue()))
                    .map(label -> "\"" + label.getKey() + "\":\"" + label.getValue() + "\""));
        }
    }

    private void patch(Stream<String> labels) {
        String body = labels.collect(Collectors.joining(",", "{\"metadata\":{\"labels\":{", "}}}"));
        cluster.client().nodes().withName(cluster.nodeName()).patch(PATCH, body);
    }

    /** Managers of the label of the number of GPUs; empty without the label. */
    static List<String> owners(RealCluster cluster) {
        var owners = new TreeSet<String>();
        cluster.node().getMetadata().getManagedFields().stream()
                .filter(entry -> String.valueOf(entry.getFieldsV1().getAdditionalProperties())
                        .contains("f:" + COUNT + "="))
                .forEach(entry -> owners.add(entry.getManager()));
        return List.copyOf(owners);
    }

    @Override
    public void close() {
        pods.forEach(PodsOfAnother::close);
    }
}
