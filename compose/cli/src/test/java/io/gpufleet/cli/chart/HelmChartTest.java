package io.gpufleet.cli.chart;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.testkit.CommandOutput;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The Helm chart renders what kustomize renders; this test can write its templates. */
class HelmChartTest {
    private static final Path TEMPLATES = Manifests.CHART.resolve("templates");
    private static final String[] COMPONENTS = {"kafka-client", "monitoring", "network-policies", "drain"};

    @TempDir
    Path directory;

    @Test
    void templatesAreMadeFromTheBase() throws IOException {
        Map<String, ObjectNode> base = Manifests.kustomize(directory);
        var templates = new ChartTemplates();
        var expected = new TreeMap<>(templates.base(Manifests.kustomize(directory, "kafka-client")));
        for (String component : COMPONENTS) {
            var added = Manifests.kustomize(directory, component);
            added.keySet().removeAll(base.keySet());
            if (!added.isEmpty()) {
                expected.put(
                        "component-" + component + ".yaml",
                        templates.component(component, added.values().stream().toList()));
            }
        }

        assertThat(written(expected)).isEqualTo(expected);
    }

    @Test
    void definitionsAreThoseOfTheBase() throws IOException {
        Path definition = Repository.module("k8s/base/crds/gpuquotas.yaml");
        Path copy = Manifests.CHART.resolve("crds/gpuquotas.yaml");
        if (Boolean.getBoolean("helm.write")) {
            Files.writeString(copy, Files.readString(definition));
        }

        assertThat(copy).hasSameTextualContentAs(definition);
    }

    @Test
    void defaultValuesGiveTheObjectsOfTheBase() throws IOException {
        assertSameObjects(Manifests.helm(), Manifests.kustomize(directory));
    }

    @ParameterizedTest
    @ValueSource(strings = {"kafka-client", "monitoring", "network-policies", "drain"})
    void componentGivesTheObjectsOfTheComponent(String component) throws IOException {
        assertSameObjects(
                Manifests.helm("--set", "components." + component + "=true"),
                Manifests.kustomize(directory, component));
    }

    @Test
    void changedSettingRollsThePodsThatReadItOnly() {
        Map<String, ObjectNode> before = Manifests.helm();
        Map<String, ObjectNode> after = Manifests.helm("--set", "settings.health-service.GPUFLEET_MODE=enforce");

        assertThat(object(after, "ConfigMap gpufleet-system/health-service")
                        .at("/data/GPUFLEET_MODE")
                        .asText())
                .isEqualTo("enforce");
        assertThat(object(after, "StatefulSet gpufleet-system/health-service").at("/spec/template"))
                .isNotEqualTo(object(before, "StatefulSet gpufleet-system/health-service")
                        .at("/spec/template"));
        assertThat(object(after, "DaemonSet gpufleet-node/node-daemon"))
                .isEqualTo(object(before, "DaemonSet gpufleet-node/node-daemon"));
    }

    @Test
    void imagesComeFromTheRegistryOfTheValues() {
        Map<String, ObjectNode> objects = Manifests.helm(
                "--set", "image.repository=registry.example/gpufleet",
                "--set", "image.tag=v9",
                "--set", "image.pullSecrets[0].name=registry");
        JsonNode pod = object(objects, "DaemonSet gpufleet-node/node-daemon").at("/spec/template/spec");

        assertThat(pod.at("/containers/0/image").asText()).isEqualTo("registry.example/gpufleet/node-daemon:v9");
        assertThat(pod.at("/imagePullSecrets/0/name").asText()).isEqualTo("registry");
    }

    @Test
    void daemonsRunOnTheNodesOfTheValues() {
        Map<String, ObjectNode> objects = Manifests.helm("--set-string", "nodeSelector.example\\.com/gpu=true");

        assertThat(object(objects, "DaemonSet gpufleet-node/node-daemon")
                        .at("/spec/template/spec/nodeSelector")
                        .toString())
                .isEqualTo("{\"example.com/gpu\":\"true\",\"kubernetes.io/os\":\"linux\"}");
    }

    @Test
    void webhookIsReachedFromTheAddressesOfTheValues() {
        Map<String, ObjectNode> objects = Manifests.helm(
                "--set", "components.network-policies=true",
                "--set", "apiServers={192.0.2.10/32,192.0.2.11/32}");

        assertThat(object(objects, "NetworkPolicy gpufleet-system/webhook")
                        .at("/spec/ingress/0/from")
                        .findValuesAsText("cidr"))
                .containsExactly("192.0.2.10/32", "192.0.2.11/32");
    }

    @ParameterizedTest
    @CsvSource({
        "settings.health-service.GPUFLEET_MODE=on, GPUFLEET_MODE",
        "settings.node-daemon.MODE=on, MODE",
        "settings.gpufleet.GPUFLEET_KAFKA=null, GPUFLEET_KAFKA",
        "replicas.health-service=0, health-service",
        "imag.tag=1, imag",
        "components.mps=true, mps"
    })
    void wrongValueIsRefusedByItsName(String value, String named) {
        CommandOutput output = Manifests.tryHelm("--set", value);

        assertThat(output.status()).as(value).isNotZero();
        assertThat(output.text())
                .contains("values don't meet the specifications")
                .contains(named);
    }

    @Test
    void lintHasNoObjection() {
        CommandOutput output = Manifests.run(
                "helm", "lint", "--strict", "--kube-version", Manifests.KUBERNETES, Manifests.CHART.toString());

        assertThat(output.status()).as(output.text()).isZero();
    }

    /** Equal but for the annotation that rolls pods and the name of the Job, in place of kustomize's hashes. */
    private static void assertSameObjects(Map<String, ObjectNode> helm, Map<String, ObjectNode> kustomize) {
        var chart = new TreeMap<>(helm);
        ObjectNode job = object(chart, "Job gpufleet-system/topics-1");
        chart.remove("Job gpufleet-system/topics-1");
        ((ObjectNode) job.path("metadata")).put("name", "topics");
        chart.put("Job gpufleet-system/topics", job);
        chart.values().forEach(HelmChartTest::removeChecksum);

        assertThat(chart.keySet()).isEqualTo(kustomize.keySet());
        chart.forEach((name, object) -> assertThat(object).as(name).isEqualTo(kustomize.get(name)));
    }

    private static ObjectNode object(Map<String, ObjectNode> objects, String name) {
        return Optional.ofNullable(objects.get(name)).orElseThrow(() -> new AssertionError("no " + name));
    }

    private static void removeChecksum(ObjectNode object) {
        if (object.at("/spec/template/metadata") instanceof ObjectNode metadata) {
            assertThat(metadata.path("annotations").path("checksum/settings").asText())
                    .hasSize(64);
            metadata.remove("annotations");
        }
    }

    private static Map<String, String> written(Map<String, String> expected) throws IOException {
        if (Boolean.getBoolean("helm.write")) {
            for (var file : expected.entrySet()) {
                Files.writeString(TEMPLATES.resolve(file.getKey()), file.getValue());
            }
        }
        var found = new TreeMap<String, String>();
        try (var files = Files.list(TEMPLATES)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".yaml")).toList()) {
                found.put(file.getFileName().toString(), Files.readString(file));
            }
        }
        return found;
    }
}
