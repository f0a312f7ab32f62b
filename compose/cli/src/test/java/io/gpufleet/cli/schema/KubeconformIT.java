package io.gpufleet.cli.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.gpufleet.cli.chart.Manifests;
import io.gpufleet.testbed.testkit.CommandOutput;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;

/**
 * kubeconform accepts what k8s/ renders, by the schemas of three Kubernetes versions, the oldest among them that gpufleet
 * supports. The schemas come from the Go module of Kubernetes.
 */
class KubeconformIT {
    static final List<String> VERSIONS = List.of("1.30.14", "1.32.13", "1.34.4");

    @TempDir
    static Path directory;

    private static List<Path> manifests;

    @BeforeAll
    static void renderAndWriteSchemas() throws IOException {
        assumeTrue(Manifests.isOnPath("kubeconform"), "no kubeconform here; k8s/README.md says how to get it");
        assumeTrue(Manifests.isOnPath("go"), "no go here, by whose modules the schemas come");
        manifests = RenderedManifests.render(Files.createDirectory(directory.resolve("manifests")));
        List<Path> definitions = Stream.concat(
                        manifests.stream(),
                        Stream.of("gpufleet-it-monitoring-crds.yaml", "strimzi-crds.yaml")
                                .map(Repository.module("compose/cli/src/test/resources")::resolve))
                .toList();
        for (String version : VERSIONS) {
            var schemas = new KubernetesSchemas(directory.resolve(version));
            schemas.addKubernetes(sources(version));
            for (Path file : definitions) {
                schemas.addCustomResources(file);
            }
        }
    }

    private static Path sources(String version) throws IOException {
        CommandOutput said = Manifests.run("go", "mod", "download", "-json", "k8s.io/kubernetes@v" + version);
        assumeTrue(said.status() == 0, () -> "the schemas of Kubernetes " + version + " cannot be had: " + said.text());
        return Path.of(new ObjectMapper().readTree(said.text()).path("Dir").asText());
    }

    private static CommandOutput kubeconform(String version, List<Path> files) {
        var command = new ArrayList<>(List.of(
                "kubeconform",
                "-strict",
                "-summary",
                "-kubernetes-version",
                version,
                "-schema-location",
                directory.resolve(version) + "/{{.ResourceKind}}{{.KindSuffix}}.json"));
        files.forEach(file -> command.add(file.toString()));
        return Manifests.run(command.toArray(String[]::new));
    }

    @ParameterizedTest
    @FieldSource("VERSIONS")
    void everyManifestIsAccepted(String version) {
        CommandOutput said = kubeconform(version, manifests);

        assertThat(said.status()).as(said.text()).isZero();
        assertThat(said.text())
                .contains("Invalid: 0, Errors: 0, Skipped: 0")
                .contains("in " + manifests.size() + " files");
    }

    @ParameterizedTest
    @CsvSource({
        "1.30.14, replicaz: 2, replicaz",
        "1.34.4, replicaz: 2, replicaz",
        "1.32.13, replicas: two, want integer",
        "1.30.14, 'template: {spec: {hostnameOverride: a, containers: []}}', hostnameOverride",
    })
    void wrongFieldIsRefusedByItsName(String version, String field, String named) throws IOException {
        CommandOutput said = kubeconform(version, List.of(deployment(field)));

        assertThat(said.status()).isNotZero();
        assertThat(said.text()).contains(named).contains("Invalid: 1, Errors: 0");
    }

    @Test
    void newFieldIsAcceptedByTheVersionThatHasIt() throws IOException {
        Path file = deployment("template: {spec: {hostnameOverride: a, containers: []}}");

        assertThat(kubeconform("1.34.4", List.of(file)).status()).isZero();
    }

    private static Path deployment(String field) throws IOException {
        String template = field.startsWith("template") ? "" : "template: {}";
        return Files.writeString(directory.resolve("deployment.yaml"), """
            apiVersion: apps/v1
            kind: Deployment
            metadata: {name: a}
            spec:
              selector: {matchLabels: {app: a}}
              %s
              %s
            """.formatted(template, field));
    }
}
