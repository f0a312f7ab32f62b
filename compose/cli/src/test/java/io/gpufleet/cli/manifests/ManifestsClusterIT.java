package io.gpufleet.cli.manifests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.cli.chart.Combinations;
import io.gpufleet.cli.chart.Manifests;
import io.gpufleet.cli.cluster.ClusterDoctor;
import io.gpufleet.cli.cluster.Finding;
import io.gpufleet.cli.install.Installation;
import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.testbed.testkit.CommandOutput;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A real API server accepts every overlay, component, platform and sample, by a dry run that fills in and checks everything. */
class ManifestsClusterIT {
    private static final Path K8S = Repository.module("k8s");
    /** Definitions of the operators that some components want. */
    private static final List<String> DEFINITIONS = Stream.of("gpufleet-it-monitoring-crds.yaml", "strimzi-crds.yaml")
            .map(file -> Repository.module("compose/cli/src/test/resources")
                    .resolve(file)
                    .toString())
            .toList();

    /** The standard of Pod Security that the manifests give a namespace. */
    private static final Map<String, String> NAMESPACES = Map.of(
            Installation.SERVICES,
            "restricted",
            Installation.NODES,
            "privileged",
            "gpufleet-purge",
            "restricted",
            "kafka",
            "privileged");

    @TempDir
    static Path directory;

    @BeforeAll
    static void namespacesAndDefinitions() {
        Kubectl.run("apply", "-k", K8S.resolve("base/crds").toString());
        for (String definitions : DEFINITIONS) {
            Kubectl.run("apply", "-f", definitions);
            Kubectl.run("wait", "--for=condition=Established", "--timeout=30s", "-f", definitions);
        }
        // A dry run creates no namespace for what follows it, and labels none: of a pod template the API server can
        // only warn.
        NAMESPACES.forEach((namespace, standard) -> {
            Kubectl.run("create", "namespace", namespace);
            Kubectl.run("label", "namespace", namespace, "pod-security.kubernetes.io/warn=" + standard);
        });
    }

    @AfterAll
    static void remove() {
        DEFINITIONS.forEach(definitions -> Kubectl.run("delete", "-f", definitions));
        NAMESPACES
                .keySet()
                .forEach(namespace -> Kubectl.run("delete", "namespace", namespace, "--wait=true", "--timeout=60s"));
    }

    static Stream<Path> overlays() throws IOException {
        return Stream.concat(kustomizations("overlays"), Stream.of(K8S.resolve("purge"), K8S.resolve("kafka")));
    }

    static Stream<Path> components() throws IOException {
        return Stream.concat(kustomizations("components"), kustomizations("platforms"));
    }

    static Stream<Path> samples() throws IOException {
        return Files.list(K8S.resolve("samples")).sorted();
    }

    @ParameterizedTest
    @MethodSource("overlays")
    void overlayIsAccepted(Path overlay) {
        assertAccepted(Kubectl.tryRun("apply", "--dry-run=server", "-k", overlay.toString()));
    }

    @Test
    void combinationsAreAccepted() throws IOException {
        Combinations.write(Files.createTempDirectory(directory, "combinations"))
                .values()
                .forEach(overlay ->
                        assertAccepted(Kubectl.tryRun("apply", "--dry-run=server", "-k", overlay.toString())));
    }

    @ParameterizedTest
    @MethodSource("components")
    void componentIsAccepted(Path component) throws IOException {
        Path overlay = Files.createTempDirectory(directory, "overlay").toRealPath();
        Files.writeString(overlay.resolve("kustomization.yaml"), """
            apiVersion: kustomize.config.k8s.io/v1beta1
            kind: Kustomization
            resources: [%s]
            components: [%s]
            """.formatted(
                        relative(overlay, K8S.resolve("base")), relative(overlay, component)));

        assertAccepted(Kubectl.tryRun("apply", "--dry-run=server", "-k", overlay.toString()));
    }

    @ParameterizedTest
    @MethodSource("samples")
    void sampleIsAccepted(Path sample) {
        assertAccepted(Kubectl.tryRun("apply", "--dry-run=server", "-f", sample.toString()));
    }

    @Test
    void chartIsAccepted() throws IOException {
        CommandOutput rendered = Manifests.tryHelm(
                "--set",
                "components.kafka-client=true,components.monitoring=true,components.network-policies=true,"
                        + "components.drain=true");
        assertThat(rendered.status()).as(rendered.text()).isZero();
        Path objects = Files.writeString(directory.resolve("chart.yaml"), rendered.text());

        assertAccepted(Kubectl.tryRun("apply", "--dry-run=server", "-f", objects.toString()));
    }

    @Test
    void podsBelowTheStandardOfTheirNamespaceAreWarnedOf() {
        CommandOutput output = Kubectl.tryRun(
                "-n",
                Installation.SERVICES,
                "apply",
                "--dry-run=server",
                "-f",
                K8S.resolve("base/node-daemon/daemonset.yaml").toString());

        assertThat(output.text()).contains("Warning: would violate PodSecurity \"restricted:latest\"");
    }

    /** Such as on a platform whose component the overlay lacks: the daemon is privileged, and its pods do not exist. */
    @Test
    void doctorNamesPodsThatAdmissionRefuses() {
        String daemons = K8S.resolve("base/node-daemon/daemonset.yaml").toString();
        String enforce = "pod-security.kubernetes.io/enforce";
        Kubectl.run("label", "namespace", Installation.NODES, enforce + "=restricted");
        Kubectl.run("-n", Installation.NODES, "apply", "-f", daemons);

        try (var cluster = RealCluster.open()) {
            await().atMost(Duration.ofSeconds(60))
                    .untilAsserted(() -> assertThat(new ClusterDoctor(cluster.client()).examine())
                            .anySatisfy(finding -> {
                                assertThat(finding.level()).isEqualTo(Finding.Level.FAIL);
                                assertThat(finding.toLine())
                                        .contains("DaemonSet/node-daemon", "violates PodSecurity", enforce);
                            }));
        } finally {
            Kubectl.run("-n", Installation.NODES, "delete", "-f", daemons);
            Kubectl.run("label", "namespace", Installation.NODES, enforce + "-");
        }
    }

    /** A warning, for example of Pod Security, is no error of kubectl. */
    private static void assertAccepted(CommandOutput output) {
        assertThat(output.status()).as(output.text()).isZero();
        assertThat(output.text().lines())
                .filteredOn(line -> !line.contains("last-applied-configuration"))
                .noneMatch(line -> line.startsWith("Warning"));
    }

    private static Path relative(Path overlay, Path target) throws IOException {
        return overlay.relativize(target.toRealPath());
    }

    private static Stream<Path> kustomizations(String kind) throws IOException {
        return Files.walk(K8S.resolve(kind))
                .filter(file -> file.endsWith("kustomization.yaml"))
                .map(Path::getParent)
                .sorted();
    }
}
