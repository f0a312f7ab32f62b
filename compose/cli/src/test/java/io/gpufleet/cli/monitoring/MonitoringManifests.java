package io.gpufleet.cli.monitoring;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The manifests of the component monitoring, as tests read them. */
public final class MonitoringManifests {
    private static final KubernetesSerialization YAML = new KubernetesSerialization();
    private static final Pattern METRIC = Pattern.compile("\\b(?:gpufleet_|DCGM_|jvm_|process_)\\w+");

    /** One alert: its name, expression, severity and annotations. */
    record Alert(String name, String expression, String severity, JsonNode annotations) {}

    private MonitoringManifests() {}

    /** {@code k8s/components/monitoring}. */
    static Path directory() {
        return Repository.root().resolve("k8s/components/monitoring");
    }

    /** The rule groups, as Prometheus itself reads them: without the object of the operator around them. */
    static JsonNode rules() throws IOException {
        return YAML.unmarshal(Files.readString(directory().resolve("alerts.yaml")), JsonNode.class)
                .path("spec");
    }

    static String yaml(JsonNode node) {
        return YAML.asYaml(node);
    }

    static List<Alert> alerts() throws IOException {
        var alerts = new ArrayList<Alert>();
        for (JsonNode group : rules().path("groups")) {
            for (JsonNode rule : group.path("rules")) {
                alerts.add(new Alert(
                        rule.path("alert").asText(),
                        rule.path("expr").asText(),
                        rule.path("labels").path("severity").asText(),
                        rule.path("annotations")));
            }
        }
        return alerts;
    }

    /** Names of all metrics that the alerts and the dashboards ask for. */
    public static Set<String> metrics() throws IOException {
        var expressions =
                new ArrayList<>(alerts().stream().map(Alert::expression).toList());
        for (Path dashboard : dashboards()) {
            new ObjectMapper()
                    .readTree(dashboard.toFile())
                    .findValuesAsText("expr")
                    .forEach(expressions::add);
        }
        var names = new TreeSet<String>();
        expressions.forEach(expression ->
                METRIC.matcher(expression).results().map(MatchResult::group).forEach(names::add));
        return names;
    }

    static List<Path> dashboards() throws IOException {
        try (Stream<Path> files = Files.list(directory().resolve("dashboards"))) {
            return files.sorted().toList();
        }
    }
}
