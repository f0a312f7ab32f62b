package io.gpufleet.cli.install;

import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.gpufleet.cli.fleet.DirectoryTrees;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * gpufleet in the test's cluster as k8s/README.md installs it: a copy of the example overlay with the settings of this
 * test, whose daemon has simulated GPUs.
 */
final class Installation {
    static final String SERVICES = "gpufleet-system";
    static final String NODES = "gpufleet-node";

    private static final Pattern VERSION = Pattern.compile("gpufleet_build_info\\{.*version=\"([^\"]*)\"");

    private final RealCluster cluster;
    private final Path overlay;
    private final Path state;
    private final Map<String, String> releases = new TreeMap<>();

    private Installation(RealCluster cluster, Path overlay, Path state) {
        this.cluster = cluster;
        this.overlay = overlay;
        this.state = state;
    }

    /** Writes the overlay beside the example, where its relative paths hold; {@code faults} is a path of the node. */
    static Installation write(RealCluster cluster, Path directory, String kafka, Path faults) throws IOException {
        Path overlay = Files.createDirectories(directory.resolve("overlay"));
        Path state = emptyState();
        Path base = overlay.toRealPath().relativize(Repository.module("k8s").toRealPath());
        Files.writeString(overlay.resolve("fleet.env"), "GPUFLEET_CLUSTER=it\nGPUFLEET_KAFKA=" + kafka + "\n");
        Files.writeString(overlay.resolve("kustomization.yaml"), """
            apiVersion: kustomize.config.k8s.io/v1beta1
            kind: Kustomization
            resources:
              - %1$s/base
            configMapGenerator:
              - {name: gpufleet, namespace: gpufleet-system, behavior: merge, envs: [fleet.env]}
              - {name: gpufleet, namespace: gpufleet-node, behavior: merge, envs: [fleet.env]}
              - {name: topics, namespace: gpufleet-system, behavior: merge, literals: [GPUFLEET_TOPIC_REPLICATION=1]}
              - name: health-service
                namespace: gpufleet-system
                behavior: merge
                literals: [GPUFLEET_MODE=enforce, GPUFLEET_POOLS=unlimited]
              - name: node-daemon
                namespace: gpufleet-node
                behavior: merge
                literals:
                  - GPUFLEET_DEVICES=simulated:8xH100
                  - GPUFLEET_SIMULATION_DIR=%2$s
                  - GPUFLEET_DEVICE_LIST_STRATEGY=envvar
                  - GPUFLEET_RECOVERY_DWELL=2s
            patches:
              - target: {kind: DaemonSet, name: node-daemon}
                patch: |-
                  apiVersion: apps/v1
                  kind: DaemonSet
                  metadata: {name: node-daemon}
                  spec: {template: {spec: {volumes: [{name: state, hostPath: {path: %3$s}}]}}}
            """.formatted(base, faults, state));
        return new Installation(cluster, overlay, state);
    }

    /** The address at which pods reach programs on the node. */
    static String nodeAddress(RealCluster cluster) {
        return cluster.node().getStatus().getAddresses().stream()
                .filter(address -> address.getType().equals("InternalIP"))
                .findFirst()
                .orElseThrow()
                .getAddress();
    }

    /** A directory of the node for the daemon: a run that was killed leaves faults in the state that it kept. */
    private static Path emptyState() throws IOException {
        return Files.createTempDirectory(Files.createDirectories(Path.of("/run/gpufleet")), "it-state");
    }

    /** The two commands of the README. */
    void apply() {
        Kubectl.run("apply", "-k", Repository.module("k8s/base/crds").toString());
        Kubectl.run("apply", "-k", overlay.toString());
    }

    /** Adds a setting of the health-service and applies it; its ConfigMap gets another name. */
    void changeSetting(String setting) throws IOException {
        Path file = overlay.resolve("kustomization.yaml");
        Files.writeString(
                file, Files.readString(file).replace("GPUFLEET_MODE=enforce", "GPUFLEET_MODE=enforce, " + setting));
        Kubectl.run("apply", "-k", overlay.toString());
    }

    /** Applies the manifests with another release of some parts, and waits until their pods are replaced. */
    void useRelease(String release, String... parts) throws IOException {
        List.of(parts).forEach(part -> releases.put("gpufleet/" + part, release));
        Path file = overlay.resolve("kustomization.yaml");
        String rest = Files.readString(file).replaceAll("(?s)images:\n.*# end of images\n", "");
        String images = releases.entrySet().stream()
                .map(image -> "  - {name: " + image.getKey() + ", newTag: " + image.getValue() + "}\n")
                .collect(Collectors.joining());
        Files.writeString(file, "images:\n" + images + "# end of images\n" + rest);
        Kubectl.run("apply", "-k", overlay.toString());
        for (String part : parts) {
            boolean daemon = part.equals("node-daemon");
            Kubectl.run(
                    "-n",
                    daemon ? NODES : SERVICES,
                    "rollout",
                    "status",
                    (daemon ? "daemonset/" : "statefulset/") + part,
                    "--timeout=180s");
        }
    }

    /** Replaces the daemons by ones with these simulated devices, and with a component of k8s/, or with none. */
    void useDevices(String devices, String component) throws IOException {
        Path file = overlay.resolve("kustomization.yaml");
        Path path = overlay.toRealPath()
                .relativize(Repository.module("k8s").toRealPath())
                .resolve(component);
        String text = Files.readString(file)
                .replaceAll("GPUFLEET_DEVICES=.*", "GPUFLEET_DEVICES=" + devices)
                .replaceAll("components: .*\n", "");
        Files.writeString(file, component.isEmpty() ? text : "components: [" + path + "]\n" + text);
        Kubectl.run("apply", "-k", overlay.toString());
        Kubectl.run("-n", NODES, "rollout", "status", "daemonset/node-daemon", "--timeout=180s");
    }

    /** Versions that the running programs say of themselves, each once. */
    Set<String> versions() {
        var versions = new TreeSet<String>();
        // The API server's proxy takes the scheme before the name, and does not verify certificates.
        for (var port : Map.of(SERVICES, "https:%s:8080", NODES, "%s:9400").entrySet()) {
            for (var pod :
                    cluster.client().pods().inNamespace(port.getKey()).list().getItems()) {
                // The pod of the Job that makes the topics has no metrics.
                boolean ofJob = pod.getMetadata().getOwnerReferences().stream()
                        .anyMatch(owner -> owner.getKind().equals("Job"));
                if (!ofJob && pod.getStatus().getPhase().equals("Running")) {
                    String metrics = Kubectl.run(
                            "get",
                            "--raw",
                            "/api/v1/namespaces/%s/pods/%s/proxy/metrics"
                                    .formatted(
                                            port.getKey(),
                                            port.getValue()
                                                    .formatted(pod.getMetadata().getName())));
                    VERSION.matcher(metrics).results().forEach(found -> versions.add(found.group(1)));
                }
            }
        }
        return versions;
    }

    /** Deletes what {@link #apply} made, but the definition of quotas. */
    void delete() {
        Kubectl.run("delete", "-k", overlay.toString(), "--ignore-not-found", "--wait=true", "--timeout=90s");
        DirectoryTrees.delete(state);
    }

    /** Labels, annotations, taints and conditions of the node that begin with one of ours; empty when it is clean. */
    Map<String, String> appliedFields() {
        var appliedFields = new TreeMap<String, String>();
        ObjectMeta metadata = cluster.node().getMetadata();
        collect(appliedFields, "label ", metadata.getLabels());
        collect(appliedFields, "annotation ", metadata.getAnnotations());
        cluster.taints().stream()
                .filter(taint -> taint.getKey().startsWith("gpufleet.io/"))
                .forEach(taint -> appliedFields.put("taint " + taint.getKey(), taint.getEffect()));
        cluster.node().getStatus().getConditions().stream()
                .filter(condition -> condition.getType().startsWith("Gpu"))
                .forEach(condition -> appliedFields.put("condition " + condition.getType(), condition.getStatus()));
        return appliedFields;
    }

    private static void collect(Map<String, String> appliedFields, String kind, Map<String, String> found) {
        Optional.ofNullable(found).orElse(Map.of()).forEach((key, value) -> {
            if (key.startsWith("gpufleet.io/") || key.startsWith("nvidia.com/") || key.startsWith("gpu-")) {
                appliedFields.put(kind + key, value);
            }
        });
    }

    /** Sum of the restarts of all containers of a namespace. */
    int restarts(String namespace) {
        return cluster.client().pods().inNamespace(namespace).list().getItems().stream()
                .flatMap(pod -> pod.getStatus().getContainerStatuses().stream())
                .mapToInt(status -> status.getRestartCount())
                .sum();
    }
}
