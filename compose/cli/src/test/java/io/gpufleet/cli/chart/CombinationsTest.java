package io.gpufleet.cli.chart;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Parts of k8s/ in one overlay: what the pages say of which one wins. */
class CombinationsTest {
    @TempDir
    Path directory;

    private Map<String, Path> combinations;

    @BeforeEach
    void write() throws IOException {
        combinations = Combinations.write(directory);
    }

    @Test
    void programsOnStrimziReadTheirSecretsAndNoJobMakesTopics() {
        Map<String, ObjectNode> objects = rendered("strimzi-by-kafka-client");

        assertThat(objects).doesNotContainKey("Job gpufleet-system/topics");
        assertThat(objects.values())
                .filteredOn(object -> object.at("/spec/template/spec/volumes").isArray())
                .hasSize(4)
                .allSatisfy(object -> assertThat(object.findValuesAsText("secretName"))
                        .contains("kafka-client-" + object.at("/metadata/name").asText()));
        assertThat(setting(objects, "gpufleet-system/gpufleet", "GPUFLEET_KAFKA"))
                .isEqualTo("gpufleet-kafka-bootstrap.kafka:9093");
    }

    @ParameterizedTest
    @CsvSource({
        "aks, envvar",
        "eks, envvar",
        "gke, host-mounts",
        "k3s, host-mounts",
        "k0s, cdi-cri",
        "openshift, cdi-cri"
    })
    void platformWinsOverTheStrategyOfTheOverlay(String platform, String strategy) {
        Map<String, ObjectNode> objects = rendered("example-on-" + platform);

        assertThat(setting(objects, "gpufleet-node/node-daemon", "GPUFLEET_DEVICE_LIST_STRATEGY"))
                .isEqualTo(strategy);
        assertThat(setting(objects, "gpufleet-node/gpufleet", "GPUFLEET_CLUSTER"))
                .isEqualTo("example");
    }

    @Test
    void nodeSelectorOfTheExampleIsBesideTheBases() {
        JsonNode selector = object(rendered("example-with-node-selector"), "DaemonSet gpufleet-node/node-daemon")
                .at("/spec/template/spec/nodeSelector");

        assertThat(selector).hasToString("{\"example.com/gpu\":\"true\",\"kubernetes.io/os\":\"linux\"}");
    }

    private Map<String, ObjectNode> rendered(String combination) {
        return Manifests.kustomized(Optional.ofNullable(combinations.get(combination))
                .orElseThrow(() -> new AssertionError("no " + combination)));
    }

    private static String setting(Map<String, ObjectNode> objects, String configMap, String key) {
        return object(objects, "ConfigMap " + configMap).path("data").path(key).asText();
    }

    private static ObjectNode object(Map<String, ObjectNode> objects, String name) {
        return Optional.ofNullable(objects.get(name)).orElseThrow(() -> new AssertionError("no " + name));
    }
}
