package io.gpufleet.cli.manifests;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.gpufleet.testbed.testkit.Repository;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.common.utils.AppInfoParser;
import org.junit.jupiter.api.Test;

/** The Kafka of overlays/dev against that of compose.yaml; {@code DevOverlayClusterIT} runs it. */
class DevelopmentKafkaTest {
    private final Container broker = pod().getContainers().getFirst();

    @Test
    void imageIsThatOfComposeAndOfTheVersionOfTheClients() {
        assertThat(broker.getImage())
                .isEqualTo(compose().path("image").asText())
                .isEqualTo("apache/kafka:" + AppInfoParser.getVersion());
    }

    @Test
    void settingsAreThoseOfComposeButForAddressesAndMemory() {
        Map<String, String> settings =
                broker.getEnv().stream().collect(Collectors.toMap(EnvVar::getName, EnvVar::getValue));
        Map<String, String> ofCompose = new TreeMap<>();
        compose()
                .path("environment")
                .properties()
                .forEach(each -> ofCompose.put(each.getKey(), each.getValue().asText()));

        assertThat(settings.keySet()).containsAll(ofCompose.keySet());
        assertThat(settings).allSatisfy((name, value) -> {
            if (!name.contains("LISTENERS") && !name.contains("VOTERS") && !name.equals("KAFKA_HEAP_OPTS")) {
                assertThat(ofCompose).containsEntry(name, value);
            }
        });
        assertThat(settings)
                .containsEntry("KAFKA_ADVERTISED_LISTENERS", "PLAINTEXT://kafka-for-development.gpufleet-system:9092");
    }

    @Test
    void nothingOutlivesItsPod() {
        assertThat(pod().getVolumes())
                .allSatisfy(volume -> assertThat(volume.getEmptyDir()).isNotNull());
    }

    private static PodSpec pod() {
        return ManifestFiles.objects().stream()
                .filter(Deployment.class::isInstance)
                .map(Deployment.class::cast)
                .filter(object -> object.getMetadata().getName().equals("kafka-for-development"))
                .findFirst()
                .orElseThrow()
                .getSpec()
                .getTemplate()
                .getSpec();
    }

    private static JsonNode compose() {
        return new KubernetesSerialization()
                .unmarshal(ManifestFiles.text(Repository.module("compose/compose.yaml")), JsonNode.class)
                .path("services")
                .path("kafka");
    }
}
