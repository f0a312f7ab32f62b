package io.gpufleet.cli.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhook;
import io.gpufleet.cli.GpufleetCommand;
import io.gpufleet.cli.fleet.DirectoryTrees;
import io.gpufleet.cli.manifests.ManifestFiles;
import io.gpufleet.testbed.testkit.HostDriver;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * gpufleet in the test's cluster as k8s/README.md installs it: a copy of the example overlay with the settings of this
 * test, whose daemon has simulated GPUs.
 */
public final class Installation {
    public static final String SERVICES = "gpufleet-system";
    public static final String NODES = "gpufleet-node";

    private static final String README = "k8s/README.md";
    /** The reader's overlay on the pages. */
    private static final String MINE = "k8s/overlays/mine";

    private final RealCluster cluster;
    private final Path overlay;
    private final Path state;

    public Installation(RealCluster cluster, Path overlay, Path state) {
        this.cluster = cluster;
        this.overlay = overlay;
        this.state = state;
    }

    /** Writes the overlay beside the example, where its relative paths hold; {@code faults} is a path of the node. */
    public static Installation write(RealCluster cluster, Path directory, String kafka, Path faults)
            throws IOException, InterruptedException {
        Path overlay = Files.createDirectories(directory.resolve("overlay"));
        Path state = emptyState();
        // Whose nodes the base's own strategy, cdi-cri, has the container runtime inject.
        List<String> driver = HostDriver.make(directory, 8).entrySet().stream()
                .map(setting -> setting.getKey() + "=" + setting.getValue())
                .toList();
        Path base = overlay.toRealPath().relativize(Repository.module("k8s").toRealPath());
        writeShared(overlay, kafka);
        Files.writeString(overlay.resolve("kustomization.yaml"), """
            apiVersion: kustomize.config.k8s.io/v1beta1
            kind: Kustomization
            resources:
              - %1$s/base
            configMapGenerator:
              - {name: gpufleet, namespace: gpufleet-system, behavior: merge, envs: [fleet.env]}
              - {name: gpufleet, namespace: gpufleet-node, behavior: merge, envs: [fleet.env]}
              - {name: topics, namespace: gpufleet-system, behavior: merge, literals: [GPUFLEET_TOPIC_REPLICATION=1]}
              - name: inventory-service
                namespace: gpufleet-system
                behavior: merge
                literals: [GPUFLEET_LABELS_MODE=observe]
              - name: health-service
                namespace: gpufleet-system
                behavior: merge
                literals: [GPUFLEET_MODE=observe, GPUFLEET_POOLS=unlimited]
              - name: node-daemon
                namespace: gpufleet-node
                behavior: merge
                literals:
                  - GPUFLEET_DEVICES=simulated:8xH100
                  - GPUFLEET_SIMULATION_DIR=%2$s
                  - %4$s
                  - %5$s
                  - GPUFLEET_RECOVERY_DWELL=2s
            patches:
              - target: {kind: DaemonSet, name: node-daemon}
                patch: |-
                  apiVersion: apps/v1
                  kind: DaemonSet
                  metadata: {name: node-daemon}
                  spec: {template: {spec: {volumes: [{name: state, hostPath: {path: %3$s}}]}}}
            """.formatted(
                        base, faults, state, driver.getFirst(), driver.getLast()));
        return new Installation(cluster, overlay, state);
    }

    private static void writeShared(Path overlay, String kafka) throws IOException {
        Files.writeString(overlay.resolve("fleet.env"), "GPUFLEET_CLUSTER=it\nGPUFLEET_KAFKA=" + kafka + "\n");
    }

    /** The address at which pods reach programs on the node. */
    public static String nodeAddress(RealCluster cluster) {
        return cluster.node().getStatus().getAddresses().stream()
                .filter(address -> address.getType().equals("InternalIP"))
                .findFirst()
                .orElseThrow()
                .getAddress();
    }

    /** A directory of the node for the daemon: a run that was killed leaves faults in the state that it kept. */
    public static Path emptyState() throws IOException {
        return Files.createTempDirectory(Files.createDirectories(Path.of("/run/gpufleet")), "it-state");
    }

    /** The commands of the README. */
    public void apply() {
        run(PageCommands.kubectl(README, "./gpufleet images build"));
    }

    /** Commands of a page with the overlay of this test, and a limit of time where the page has none. */
    private void run(List<List<String>> commands) {
        for (List<String> command : commands) {
            var arguments = new ArrayList<>(command);
            arguments.replaceAll(this::onThisMachine);
            if (command.contains("rollout")) {
                arguments.add("--timeout=180s");
            }
            if (command.contains("delete") && command.contains("-k")) {
                arguments.add("--timeout=90s");
            }
            Kubectl.run(arguments.toArray(String[]::new));
        }
    }

    private String onThisMachine(String argument) {
        return switch (argument) {
            case MINE -> overlay.toString();
            // Images are loaded under the names of the base
            case "k8s/overlays/mine-purge" -> Repository.module("k8s/purge").toString();
            default -> argument.startsWith("k8s/") ? Repository.module(argument).toString() : argument;
        };
    }

    /** The switch from stage 1 of docs/stages.md, with which the overlay begins, to stage 2; it rolls the pods. */
    public void writeLabels() throws IOException {
        setModes("write", "observe");
        applyTo("inventory-service");
    }

    /** The switch from stage 2 to stage 3; it rolls the pods. */
    public void enforce() throws IOException {
        setModes("write", "enforce");
        applyTo("health-service");
    }

    /** Sets the modes of labels and of patches, for the next {@link #apply}. */
    public void setModes(String labels, String patches) throws IOException {
        Path file = overlay.resolve("kustomization.yaml");
        Files.writeString(
                file,
                Files.readString(file)
                        .replaceAll("GPUFLEET_LABELS_MODE=\\w+", "GPUFLEET_LABELS_MODE=" + labels)
                        .replaceAll("GPUFLEET_MODE=\\w+", "GPUFLEET_MODE=" + patches));
    }

    private void applyTo(String service) {
        Kubectl.run("apply", "-k", overlay.toString());
        awaitRollout(SERVICES, "statefulset/" + service);
    }

    /** Adds a setting of the health-service, for the next {@link #apply}. */
    public void addSetting(String setting) throws IOException {
        change("GPUFLEET_MODE=enforce", "GPUFLEET_MODE=enforce, " + setting);
    }

    /** Takes back {@link #addSetting}. */
    public void removeSetting(String setting) throws IOException {
        change(", " + setting, "");
    }

    /** Names another Kafka, for the next {@link #apply}. */
    public void useKafka(String kafka) throws IOException {
        writeShared(overlay, kafka);
    }

    /** Adds a component of k8s/ that changes a service, and applies it; it rolls the pods. */
    public void addComponent(String component, String service) throws IOException {
        change("resources:\n", "components: [" + componentPath(component) + "]\nresources:\n");
        applyTo(service);
    }

    private Path componentPath(String component) throws IOException {
        return overlay.toRealPath()
                .relativize(Repository.module("k8s").toRealPath())
                .resolve(component);
    }

    private void change(String part, String other) throws IOException {
        Path file = overlay.resolve("kustomization.yaml");
        String text = Files.readString(file);
        if (!text.contains(part)) {
            throw new AssertionError(file + " has no " + part);
        }
        Files.writeString(file, text.replace(part, other));
    }

    /** Goes to another release by the commands of docs/upgrade.md, and waits until every pod is replaced. */
    public void useRelease(String release) throws IOException {
        Path file = overlay.resolve("kustomization.yaml");
        String rest = Files.readString(file).replaceAll("(?s)images:\n.*# end of images\n", "");
        String images = ManifestFiles.IMAGES.stream()
                .filter(image -> !image.endsWith("/cli"))
                .map(image -> "  - {name: " + image + ", newTag: " + release + "}\n")
                .collect(Collectors.joining());
        Files.writeString(file, "images:\n" + images + "# end of images\n" + rest);
        run(PageCommands.kubectl("k8s/docs/upgrade.md", "kubectl apply -k k8s/base/crds"));
    }

    private static void awaitRollout(String namespace, String part) {
        Kubectl.run("-n", namespace, "rollout", "status", part, "--timeout=180s");
    }

    /** The daemon of the node. */
    public InstalledDaemon daemon() {
        return new InstalledDaemon(overlay, state);
    }

    /** What its programs expose. */
    public ProgramMetrics metrics() {
        return new ProgramMetrics(cluster);
    }

    /** Deletes what {@link #apply} made, but the definition of quotas, by the README's command. */
    public void delete() {
        run(PageCommands.kubectl(README, "./gpufleet purge").stream()
                .filter(command -> command.contains(MINE))
                .toList());
    }

    /** Deletes the definition of quotas, and so every quota, by the README's command. */
    public void deleteDefinition() {
        run(PageCommands.kubectl(README, "./gpufleet purge").stream()
                .filter(command -> !command.contains(MINE))
                .toList());
    }

    /** Deletes what the daemons kept on the node. */
    public void deleteState() {
        DirectoryTrees.delete(state);
        DirectoryTrees.delete(InstalledDaemon.other(state));
    }

    /** Runs the Job of k8s/purge to its end and deletes it, by the commands of the README. */
    public void purge() {
        run(PageCommands.kubectl(README, "kubectl apply -k k8s/overlays/mine-purge"));
    }

    /** What gpufleet has set on the node; empty when it is clean. */
    public Map<String, String> appliedFields() {
        return AppliedFields.of(cluster.node());
    }

    /** Sum of the restarts of all containers of a namespace. */
    public int restarts(String namespace) {
        return cluster.client().pods().inNamespace(namespace).list().getItems().stream()
                .flatMap(pod -> pod.getStatus().getContainerStatuses().stream())
                .mapToInt(status -> status.getRestartCount())
                .sum();
    }

    /** Labels of a namespace. */
    public Map<String, String> labels(String namespace) {
        return cluster.client()
                .namespaces()
                .withName(namespace)
                .get()
                .getMetadata()
                .getLabels();
    }

    /** Ready replicas of a service. */
    public int ready(String service) {
        Integer ready = cluster.client()
                .apps()
                .statefulSets()
                .inNamespace(SERVICES)
                .withName(service)
                .get()
                .getStatus()
                .getReadyReplicas();
        return ready == null ? 0 : ready;
    }

    /** Returns when both replicas of a service are ready. */
    public void awaitReady(String service) {
        await().atMost(Duration.ofMinutes(5))
                .untilAsserted(() -> assertThat(ready(service)).as(service).isEqualTo(2));
    }

    /** Returns when one of two replicas of a service may be evicted. */
    public void awaitDrainable(String service) {
        var budget = cluster.client()
                .policy()
                .v1()
                .podDisruptionBudget()
                .inNamespace(SERVICES)
                .withName(service);
        await().atMost(Duration.ofMinutes(3)).untilAsserted(() -> {
            assertThat(budget.get().getStatus().getCurrentHealthy()).as(service).isEqualTo(2);
            assertThat(budget.get().getStatus().getDisruptionsAllowed())
                    .as(service)
                    .isEqualTo(1);
        });
    }

    /** UIDs of the pods of a service. */
    public Set<String> pods(String service) {
        return cluster
                .client()
                .pods()
                .inNamespace(SERVICES)
                .withLabel("app.kubernetes.io/name", service)
                .list()
                .getItems()
                .stream()
                .map(pod -> pod.getMetadata().getUid())
                .collect(Collectors.toSet());
    }

    /** Failure policies of the quota webhooks by name; empty without them. */
    public Map<String, String> policies() {
        var found = cluster.client()
                .admissionRegistration()
                .v1()
                .validatingWebhookConfigurations()
                .withName("gpufleet-quota")
                .get();
        return found == null
                ? Map.of()
                : found.getWebhooks().stream()
                        .collect(Collectors.toMap(ValidatingWebhook::getName, ValidatingWebhook::getFailurePolicy));
    }

    /** Status of {@code ./gpufleet purge}. */
    public static int purgeByCommandLine() {
        return GpufleetCommand.commandLine()
                .execute("purge", "--kubeconfig", RealCluster.kubeconfig().toString());
    }
}
