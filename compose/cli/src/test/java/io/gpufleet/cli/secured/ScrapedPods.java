package io.gpufleet.cli.secured;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.testbed.kafka.FreePort;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.StreamSupport;

/**
 * The pods of an installation as Prometheus finds and asks them by its PodMonitors. The Prometheus operator is not here: what it makes of
 * the fields that these objects have is made by this class.
 */
final class ScrapedPods {
    private static final Path PROMETHEUS = Path.of("/usr/bin/prometheus");
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final String NAMESPACE = "__meta_kubernetes_namespace";
    private static final String NAME = "__meta_kubernetes_pod_name";
    private static final String PHASE = "__meta_kubernetes_pod_phase";
    private static final String PORT = "__meta_kubernetes_pod_container_port_name";
    private static final ObjectMapper JSON = new ObjectMapper();

    private ScrapedPods() {}

    /** Returns when this number of pods of each job has answered, all with the labels that alerts and dashboards read. */
    static void awaitTargets(Path directory, Map<String, Integer> podsByJob, String node)
            throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(PROMETHEUS), "no Prometheus here: apt-get install prometheus");
        Path configuration = directory.resolve("prometheus.yml");
        // JSON is YAML
        Files.writeString(configuration, JSON.writeValueAsString(Map.of("scrape_configs", jobs(directory))));
        int port = FreePort.next();
        Process prometheus = new ProcessBuilder(
                        PROMETHEUS.toString(),
                        "--config.file=" + configuration,
                        "--storage.tsdb.path=" + directory.resolve("prometheus"),
                        "--web.listen-address=127.0.0.1:" + port)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("prometheus.log").toFile())
                .start();
        try (var http = HttpClient.newHttpClient()) {
            var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:%d/api/v1/targets".formatted(port)))
                    .build();
            await().atMost(TIMEOUT)
                    .ignoreExceptionsInstanceOf(IOException.class)
                    .untilAsserted(() -> {
                        JsonNode targets = JSON.readTree(http.send(request, BodyHandlers.ofString())
                                        .body())
                                .at("/data/activeTargets");
                        podsByJob.forEach((job, pods) -> assertThat(targets)
                                .as(targets.toString())
                                .filteredOn(target ->
                                        target.at("/labels/job").asText().equals(job))
                                .hasSize(pods)
                                .allSatisfy(target -> {
                                    assertThat(target.path("health").asText()).isEqualTo("up");
                                    assertThat(target.at("/labels/pod").asText())
                                            .startsWith(job);
                                }));
                        assertThat(targets)
                                .filteredOn(target ->
                                        target.at("/labels/job").asText().equals("node-daemon"))
                                .allSatisfy(target -> assertThat(
                                                target.at("/labels/node").asText())
                                        .isEqualTo(node));
                    });
        } finally {
            prometheus.destroy();
            prometheus.waitFor();
        }
    }

    private static List<Map<String, Object>> jobs(Path directory) throws IOException {
        JsonNode monitors = JSON.readTree(Kubectl.run("get", "podmonitors", "-A", "-o", "json"));
        var jobs = new ArrayList<Map<String, Object>>();
        for (JsonNode monitor : monitors.path("items")) {
            for (JsonNode endpoint : monitor.at("/spec/podMetricsEndpoints")) {
                jobs.add(job(directory, monitor, endpoint));
            }
        }
        return jobs;
    }

    private static Map<String, Object> job(Path directory, JsonNode monitor, JsonNode endpoint) throws IOException {
        String namespace = monitor.at("/metadata/namespace").asText();
        return Map.of(
                "job_name",
                namespace + "/" + monitor.at("/metadata/name").asText(),
                // Sooner than a monitor of every 15 s says
                "scrape_interval",
                "2s",
                "honor_labels",
                endpoint.path("honorLabels").asBoolean(),
                "metrics_path",
                endpoint.path("path").asText(),
                "scheme",
                endpoint.path("scheme").asText("http"),
                "tls_config",
                tls(directory, namespace, endpoint.at("/tlsConfig/ca/configMap")),
                "static_configs",
                discovered(namespace),
                "relabel_configs",
                relabelings(monitor.path("spec"), endpoint));
    }

    /** What the discovery of pods finds, which Debian's Prometheus does not have: a target for each port. */
    private static List<Map<String, Object>> discovered(String namespace) throws IOException {
        var targets = new ArrayList<Map<String, Object>>();
        JsonNode pods = JSON.readTree(Kubectl.run("-n", namespace, "get", "pods", "-o", "json"));
        for (JsonNode pod : pods.path("items")) {
            for (JsonNode port : pod.at("/spec/containers/0/ports")) {
                var labels = new TreeMap<String, String>();
                pod.at("/metadata/labels")
                        .properties()
                        .forEach(label -> labels.put(
                                ofLabel(label.getKey()), label.getValue().asText()));
                labels.put(NAMESPACE, namespace);
                labels.put(NAME, pod.at("/metadata/name").asText());
                labels.put(PHASE, pod.at("/status/phase").asText());
                labels.put(PORT, port.path("name").asText());
                labels.put(
                        "__meta_kubernetes_pod_node_name",
                        pod.at("/spec/nodeName").asText());
                String address = pod.at("/status/podIP").asText() + ":"
                        + port.path("containerPort").asText();
                targets.add(Map.of("targets", List.of(address), "labels", labels));
            }
        }
        return targets;
    }

    private static Map<String, String> tls(Path directory, String namespace, JsonNode configMap) throws IOException {
        if (configMap.isMissingNode()) {
            return Map.of();
        }
        JsonNode published = JSON.readTree(Kubectl.run(
                "-n", namespace, "get", "configmap", configMap.path("name").asText(), "-o", "json"));
        String certificate =
                published.path("data").path(configMap.path("key").asText()).asText();
        return Map.of(
                "ca_file",
                Files.writeString(directory.resolve("prometheus-ca.crt"), certificate)
                        .toString());
    }

    private static List<Map<String, Object>> relabelings(JsonNode spec, JsonNode endpoint) {
        var rules = new ArrayList<Map<String, Object>>();
        spec.at("/selector/matchLabels")
                .properties()
                .forEach(label ->
                        rules.add(keep(ofLabel(label.getKey()), label.getValue().asText())));
        for (JsonNode expression : spec.at("/selector/matchExpressions")) {
            assertThat(expression.path("operator").asText()).isEqualTo("In");
            List<String> values = StreamSupport.stream(expression.path("values").spliterator(), false)
                    .map(JsonNode::asText)
                    .toList();
            rules.add(keep(ofLabel(expression.path("key").asText()), String.join("|", values)));
        }
        rules.add(keep(PHASE, "Pending|Running"));
        rules.add(keep(PORT, endpoint.path("port").asText()));
        rules.add(copy(NAMESPACE, "namespace"));
        rules.add(copy(NAME, "pod"));
        rules.add(copy(ofLabel(spec.path("jobLabel").asText()), "job"));
        for (JsonNode relabeling : endpoint.path("relabelings")) {
            assertThat(relabeling.properties()).hasSize(2);
            rules.add(copy(
                    relabeling.at("/sourceLabels/0").asText(),
                    relabeling.path("targetLabel").asText()));
        }
        return rules;
    }

    private static String ofLabel(String key) {
        return "__meta_kubernetes_pod_label_" + key.replaceAll("[^a-zA-Z0-9_]", "_");
    }

    private static Map<String, Object> keep(String label, String values) {
        return Map.of("source_labels", List.of(label), "action", "keep", "regex", values);
    }

    private static Map<String, Object> copy(String label, String target) {
        return Map.of("source_labels", List.of(label), "target_label", target);
    }
}
