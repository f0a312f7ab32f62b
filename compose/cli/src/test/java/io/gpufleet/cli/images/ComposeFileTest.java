package io.gpufleet.cli.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.gpufleet.cli.manifests.ProgramSettings;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** compose.yaml against the programs and files that it names; no Docker is needed. */
class ComposeFileTest {
    private static final Path COMPOSE = Repository.module("compose/compose.yaml");
    private static final Path PROMTOOL = Path.of("/usr/bin/promtool");

    private final Map<String, JsonNode> services = services();

    @Test
    void everyVariableOfAProgramIsOneOfItsSettings() {
        for (var service : services.entrySet()) {
            String target = service.getValue().path("build").path("target").asText();
            List<String> variables = names(service.getValue().path("environment")).stream()
                    .filter(name -> name.startsWith("GPUFLEET_"))
                    .toList();
            if (!variables.isEmpty()) {
                assertThat(ProgramSettings.of(target)).as(service.getKey()).containsAll(variables);
            }
        }
    }

    @Test
    void portsAreReachedFromThisMachineOnly() {
        assertThat(services)
                .allSatisfy((name, service) -> assertThat(service.path("ports"))
                        .as(name)
                        .allSatisfy(port -> assertThat(port.asText()).startsWith("127.0.0.1:")));
        assertThat(services.values().stream()
                        .flatMap(service -> stream(service.path("ports")))
                        .map(JsonNode::asText))
                .doesNotHaveDuplicates();
    }

    /** A Docker Desktop runs containers in a machine of its own, whose network nobody reaches. */
    @Test
    void containersAreInANetworkOfTheirOwn() {
        assertThat(services)
                .allSatisfy((name, service) ->
                        assertThat(service.has("network_mode")).as(name).isFalse());
    }

    @Test
    void whatOthersWaitForHasAHealthCheckOrEnds() throws IOException {
        String stages = Files.readString(Repository.module("compose/docker/Dockerfile"));
        for (var service : services.entrySet()) {
            for (var waited : service.getValue().path("depends_on").properties()) {
                JsonNode other = service(waited.getKey());
                if (waited.getValue().path("condition").asText().equals("service_healthy")) {
                    String target = other.path("build").path("target").asText("none");
                    assertThat(other.has("healthcheck") || healthCheckOf(target, stages))
                            .as(waited.getKey())
                            .isTrue();
                } else {
                    assertThat(other.has("restart")).as(waited.getKey()).isFalse();
                }
            }
        }
    }

    private JsonNode service(String name) {
        return Optional.ofNullable(services.get(name)).orElseThrow(() -> new AssertionError("no service " + name));
    }

    /** Of the stage itself or of that of all services. */
    private static boolean healthCheckOf(String target, String stages) {
        return stages.contains("FROM service AS " + target + "\n")
                || stages.substring(Math.max(0, stages.indexOf(" AS " + target + "\n")))
                        .split("\nFROM ", 2)[0]
                        .contains("HEALTHCHECK --interval");
    }

    @Test
    void profilesAddServicesAndNothingWaitsForThem() {
        var profiles = new TreeMap<String, TreeSet<String>>();
        services.forEach((name, service) -> stream(service.path("profiles"))
                .forEach(profile -> profiles.computeIfAbsent(profile.asText(), _ -> new TreeSet<>())
                        .add(name)));
        assertThat(profiles)
                .isEqualTo(Map.of(
                        "cluster", new TreeSet<>(List.of("cluster")),
                        "gpu", new TreeSet<>(List.of("kubelet-gpu", "node-gpu")),
                        "monitoring", new TreeSet<>(List.of("grafana", "prometheus"))));

        services.forEach((name, service) -> service.path("depends_on")
                .properties()
                .forEach(waited -> {
                    JsonNode other = service(waited.getKey());
                    if (other.has("profiles") && !service.has("profiles")) {
                        assertThat(waited.getValue().path("required").asBoolean(true))
                                .as(name + " waits for " + waited.getKey())
                                .isFalse();
                    }
                }));
    }

    @Test
    void mountedFilesAndVolumesExist() throws IOException {
        JsonNode volumes = yaml(COMPOSE).path("volumes");
        services.forEach((name, service) -> stream(service.path("volumes")).forEach(volume -> {
            String source = volume.asText()
                    .replaceFirst("^\\$\\{[A-Z_]+:-([^}]*)}", "$1")
                    .split(":", 2)[0];
            if (source.startsWith(".")) {
                assertThat(COMPOSE.resolveSibling(source)).as(name).exists();
            } else if (!source.startsWith("/")) {
                assertThat(volumes.has(source)).as(name + " " + source).isTrue();
            }
        }));
    }

    @Test
    void addressesNameThePublishedPorts() {
        String printed = service("addresses").path("command").toString();
        assertThat(Stream.of("inventory-service", "health-service", "allocation-service", "prometheus", "grafana")
                        .map(service -> service(service).path("ports").path(0).asText())
                        .map(port -> "http://" + port.substring(0, port.lastIndexOf(':'))))
                .allSatisfy(address -> assertThat(printed).contains(address));
    }

    @Test
    void prometheusUnderstandsItsConfigurationAndScrapesEveryProgram() throws Exception {
        Path config = Repository.module("compose/docker/prometheus.yml");
        assertThat(yaml(config).path("scrape_configs").findValuesAsText("job_name"))
                .containsExactly("inventory-service", "health-service", "allocation-service", "node-daemon");

        assumeTrue(Files.isExecutable(PROMTOOL), "no promtool here: apt-get install prometheus");
        Process promtool = new ProcessBuilder(PROMTOOL.toString(), "check", "config", config.toString())
                .redirectErrorStream(true)
                .start();
        String output = new String(promtool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(promtool.waitFor()).as(output).isZero();
    }

    private static Map<String, JsonNode> services() {
        var services = new TreeMap<String, JsonNode>();
        yaml(COMPOSE)
                .path("services")
                .properties()
                .forEach(service -> services.put(service.getKey(), service.getValue()));
        return services;
    }

    /** With merge keys resolved, which the parser leaves as they are. */
    private static JsonNode yaml(Path file) {
        try {
            return merged(new KubernetesSerialization().unmarshal(Files.readString(file), JsonNode.class));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static JsonNode merged(JsonNode node) {
        if (node instanceof ObjectNode object) {
            JsonNode base = object.remove("<<");
            if (base != null) {
                merged(base.deepCopy()).properties().forEach(field -> {
                    if (!object.has(field.getKey())) {
                        object.set(field.getKey(), field.getValue());
                    }
                });
            }
        }
        node.forEach(ComposeFileTest::merged);
        return node;
    }

    private static List<String> names(JsonNode object) {
        return object.properties().stream().map(Map.Entry::getKey).toList();
    }

    private static Stream<JsonNode> stream(JsonNode array) {
        return array.valueStream();
    }
}
