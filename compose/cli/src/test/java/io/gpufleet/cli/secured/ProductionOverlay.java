package io.gpufleet.cli.secured;

import io.gpufleet.cli.install.Installation;
import io.gpufleet.testbed.testkit.HostDriver;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A copy of overlays/production with the values that its reader sets, and an overlay over it with what this machine forces: topics
 * without replication, for there is one broker, and simulated GPUs. Three replicas of each service share the one node of two cores, so
 * that they request less of them.
 */
final class ProductionOverlay {
    private static final Path ORIGINAL = Repository.module("k8s/overlays/production");

    private ProductionOverlay() {}

    /** Writes both; {@code faults} is a path of the node. */
    static Installation write(RealCluster cluster, Path directory, Path faults)
            throws IOException, InterruptedException {
        Path copy = Files.createDirectories(directory.resolve("production"));
        Files.copy(ORIGINAL.resolve("fleet.env"), copy.resolve("fleet.env"));
        var values = new LinkedHashMap<String, String>();
        values.put(
                "../../", copy.toRealPath().relativize(Repository.module("k8s").toRealPath()) + "/");
        values.put("192.0.2.10/32", Installation.nodeAddress(cluster) + "/32");
        values.put("registry.example/gpufleet/", "docker.io/gpufleet/");
        // The switches of docs/stages.md to the stages 2 and 3
        values.put("GPUFLEET_LABELS_MODE=observe", "GPUFLEET_LABELS_MODE=write");
        values.put("GPUFLEET_MODE=observe", "GPUFLEET_MODE=enforce, GPUFLEET_POOLS=unlimited");
        String text = Files.readString(ORIGINAL.resolve("kustomization.yaml"));
        for (var value : values.entrySet()) {
            if (!text.contains(value.getKey())) {
                throw new AssertionError(ORIGINAL + " has no " + value.getKey());
            }
            text = text.replace(value.getKey(), value.getValue());
        }
        Files.writeString(copy.resolve("kustomization.yaml"), text);
        Path state = Installation.emptyState();
        return new Installation(cluster, onThisMachine(directory, state, faults), state);
    }

    private static Path onThisMachine(Path directory, Path state, Path faults)
            throws IOException, InterruptedException {
        Path overlay = Files.createDirectories(directory.resolve("overlay"));
        String driver = HostDriver.make(directory, 8).entrySet().stream()
                .map(Map.Entry::toString)
                .collect(Collectors.joining(", "));
        Files.writeString(overlay.resolve("kustomization.yaml"), """
            apiVersion: kustomize.config.k8s.io/v1beta1
            kind: Kustomization
            resources: [../production]
            configMapGenerator:
              - {name: topics, namespace: gpufleet-system, behavior: merge, literals: [GPUFLEET_TOPIC_REPLICATION=1]}
              - name: node-daemon
                namespace: gpufleet-node
                behavior: merge
                literals: [GPUFLEET_DEVICES=simulated:8xH100, GPUFLEET_SIMULATION_DIR=%s, GPUFLEET_RECOVERY_DWELL=2s, %s]
            patches:
              - target: {kind: StatefulSet}
                patch: |-
                  - {op: replace, path: /spec/template/spec/containers/0/resources/requests/cpu, value: 100m}
              - target: {kind: DaemonSet, name: node-daemon}
                patch: |-
                  apiVersion: apps/v1
                  kind: DaemonSet
                  metadata: {name: node-daemon}
                  spec: {template: {spec: {volumes: [{name: state, hostPath: {path: %s}}]}}}
            """.formatted(faults, driver, state));
        return overlay;
    }
}
