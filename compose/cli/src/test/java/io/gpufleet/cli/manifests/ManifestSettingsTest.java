package io.gpufleet.cli.manifests;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Every variable that a manifest, overlay, component or platform gives a program is one of its settings: it refuses others. */
class ManifestSettingsTest {
    private static final String PREFIX = "GPUFLEET_";
    /** What reads a ConfigMap, beside the program of the same name. */
    private static final Map<String, List<String>> READERS = Map.of(
            "gpufleet in gpufleet-system", List.of("inventory-service", "health-service", "allocation-service", "cli"),
            "gpufleet in gpufleet-node", List.of("node-daemon"),
            "topics in gpufleet-system", List.of("cli"));

    private final Map<String, Set<String>> settings = new TreeMap<>();

    @Test
    void keysOfConfigMapsAreSettingsOfTheirReaders() {
        var seen = new HashSet<String>();
        ManifestFiles.kustomizations().forEach((file, kustomization) -> {
            for (JsonNode map : kustomization.path("configMapGenerator")) {
                List<String> keys = keys(file, map);
                if (!keys.isEmpty()) {
                    String name = map.path("name").asText();
                    String namespace = Optional.of(map.path("namespace").asText())
                            .filter(given -> !given.isEmpty())
                            .orElse(kustomization.path("namespace").asText());
                    List<String> readers = READERS.getOrDefault(name + " in " + namespace, List.of(name));
                    readers.forEach(reader ->
                            assertThat(settings(reader)).as(file + " " + name).containsAll(keys));
                    seen.addAll(keys);
                }
            }
        });
        assertThat(seen).contains("GPUFLEET_MODE", "GPUFLEET_DRIVER_ROOT", "GPUFLEET_KAFKA_CONFIG");
    }

    @Test
    void variablesOfContainersAreSettingsOfTheirProgram() {
        var variables = new TreeMap<String, List<String>>();
        for (HasMetadata object : ManifestFiles.objects()) {
            template(object).stream()
                    .flatMap(pod -> pod.getSpec().getContainers().stream())
                    .filter(container -> container.getImage().startsWith("gpufleet/"))
                    .forEach(container -> variables.put(program(container), names(container)));
        }

        assertThat(variables).containsKeys("node-daemon", "health-service", "allocation-service");
        variables.forEach(
                (program, names) -> assertThat(settings(program)).as(program).containsAll(names));
    }

    private static Optional<PodTemplateSpec> template(HasMetadata object) {
        return switch (object) {
            case StatefulSet set -> Optional.of(set.getSpec().getTemplate());
            case DaemonSet set -> Optional.of(set.getSpec().getTemplate());
            case Job job -> Optional.of(job.getSpec().getTemplate());
            default -> Optional.empty();
        };
    }

    private static String program(Container container) {
        return container.getImage().replaceAll("^gpufleet/|:.*$", "");
    }

    private static List<String> names(Container container) {
        return container.getEnv().stream()
                .map(EnvVar::getName)
                .filter(name -> name.startsWith(PREFIX))
                .toList();
    }

    /** Names in literals and in files of variables. */
    private static List<String> keys(Path file, JsonNode map) {
        var lines = new ArrayList<String>();
        map.path("literals").forEach(literal -> lines.add(literal.asText()));
        map.path("envs")
                .forEach(env -> ManifestFiles.text(file.resolveSibling(env.asText()))
                        .lines()
                        .forEach(lines::add));
        return lines.stream()
                .filter(line -> line.startsWith(PREFIX))
                .map(line -> line.split("=", 2)[0])
                .toList();
    }

    private Set<String> settings(String program) {
        return settings.computeIfAbsent(program, ProgramSettings::of);
    }
}
