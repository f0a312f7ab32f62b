package io.gpufleet.cli.monitoring;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.gpufleet.cli.manifests.ManifestFiles;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

/** The PodMonitors select the pods of the base, by labels and ports that these have. */
class PodMonitorsTest {
    private static final String NAME = "app.kubernetes.io/name";

    private final Map<String, PodTemplateSpec> pods = pods();
    private final List<JsonNode> monitors = ManifestFiles.objects().stream()
            .filter(object -> object instanceof GenericKubernetesResource
                    && object.getKind().equals("PodMonitor"))
            .<JsonNode>map(new ObjectMapper()::valueToTree)
            .toList();

    @Test
    void everyProgramIsScrapedAtAPortThatItHasBySchemeOfItsProbes() {
        assertThat(pods)
                .containsOnlyKeys("allocation-service", "health-service", "inventory-service", "node-daemon")
                .allSatisfy((name, pod) -> {
                    List<JsonNode> selecting = monitors.stream()
                            .filter(monitor -> selects(monitor, name))
                            .toList();
                    assertThat(selecting).as(name).hasSize(1);
                    assertThat(pod.getMetadata().getLabels()).containsEntry(NAME, name);
                    JsonNode endpoint = selecting.getFirst().at("/spec/podMetricsEndpoints/0");
                    Container container = pod.getSpec().getContainers().getFirst();
                    assertThat(container.getPorts())
                            .as(name)
                            .extracting(ContainerPort::getName)
                            .contains(endpoint.path("port").asText());
                    assertThat(endpoint.path("scheme").asText("http"))
                            .as(name)
                            .isEqualTo(scheme(container.getReadinessProbe()));
                });
    }

    @Test
    void monitorsSelectNothingElseAndNameTheJobByALabelOfThePods() {
        assertThat(monitors).hasSize(2).allSatisfy(monitor -> {
            assertThat(monitor.at("/spec/jobLabel").asText()).isEqualTo(NAME);
            assertThat(pods.keySet()).anyMatch(name -> selects(monitor, name));
        });
    }

    private static String scheme(Probe probe) {
        return Optional.ofNullable(probe.getHttpGet().getScheme())
                .orElse("HTTP")
                .toLowerCase(Locale.ROOT);
    }

    private static boolean selects(JsonNode monitor, String name) {
        JsonNode selector = monitor.at("/spec/selector");
        return selector.path("matchLabels").path(NAME).asText().equals(name)
                || StreamSupport.stream(selector.path("matchExpressions").spliterator(), false)
                        .filter(expression -> expression.path("key").asText().equals(NAME)
                                && expression.path("operator").asText().equals("In"))
                        .flatMap(expression ->
                                StreamSupport.stream(expression.path("values").spliterator(), false))
                        .anyMatch(value -> value.asText().equals(name));
    }

    /** Pods with a readiness probe, which is where the programs serve HTTP. */
    private static Map<String, PodTemplateSpec> pods() {
        var pods = new TreeMap<String, PodTemplateSpec>();
        for (HasMetadata object : ManifestFiles.objects()) {
            Optional<PodTemplateSpec> template = switch (object) {
                case StatefulSet set -> Optional.of(set.getSpec().getTemplate());
                case DaemonSet set -> Optional.of(set.getSpec().getTemplate());
                default -> Optional.empty();
            };
            template.filter(pod -> pod.getSpec().getContainers().getFirst().getReadinessProbe() != null)
                    .ifPresent(pod -> pods.put(object.getMetadata().getName(), pod));
        }
        return pods;
    }
}
