package io.gpufleet.cli.monitoring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gpufleet.cli.GpufleetCommand;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.testbed.kafka.FreePort;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What Prometheus itself answers to the questions of the dashboards, about a fleet with a failed GPU and a pod. */
class DashboardsIT {
    private static final Path PROMETHEUS = Path.of("/usr/bin/prometheus");

    /** The questions of Grafana's dashboard 12239, of dcgm-exporter. */
    private static final List<String> DASHBOARD_12239 = Stream.of(
                    "DCGM_FI_DEV_GPU_TEMP{%s}",
                    "avg(DCGM_FI_DEV_GPU_TEMP{%s})",
                    "DCGM_FI_DEV_POWER_USAGE{%s}",
                    "sum(DCGM_FI_DEV_POWER_USAGE{%s})",
                    "DCGM_FI_DEV_SM_CLOCK{%s} * 1000000",
                    "DCGM_FI_DEV_GPU_UTIL{%s}",
                    "DCGM_FI_DEV_FB_USED{%s}",
                    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{%s}")
            .map(query -> query.formatted("instance=~\".+\", gpu=~\"0|1|2|3\""))
            .toList();

    @TempDir
    static Path directory;

    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final List<Process> STARTED = new ArrayList<>();
    private static int port;

    @BeforeAll
    static void up() throws IOException {
        assumeTrue(Files.isExecutable(PROMETHEUS), "no Prometheus here: apt-get install prometheus");
        System.setProperty(
                "gpufleet.home", Path.of("../..").toAbsolutePath().normalize().toString());
        run("up", "--detach", "--kubeconfig=", "--nodes", "1", "--gpus", "4");
        run("pod", "create", "team-a/train", "--gpus", "1");
        run("fault", "node-1", "3", "79");
        port = FreePort.next();
        Path config = Files.writeString(directory.resolve("prometheus.yml"), scrapeConfig());
        STARTED.add(new ProcessBuilder(
                        PROMETHEUS.toString(),
                        "--config.file=" + config,
                        "--storage.tsdb.path=" + directory.resolve("data"),
                        "--web.listen-address=127.0.0.1:" + port)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("prometheus.log").toFile())
                .start());
    }

    @AfterAll
    static void down() throws InterruptedException {
        for (Process process : STARTED) {
            process.destroy();
            process.waitFor();
        }
        HTTP.close();
        if (!STARTED.isEmpty()) {
            run("down", "--clean");
        }
    }

    /** One job for each program, as the PodMonitors have it. */
    private static String scrapeConfig() {
        FleetState fleet =
                FleetState.read(directory.resolve("state/state.json")).orElseThrow();
        var config = new StringBuilder("global: {scrape_interval: 1s}\nscrape_configs:\n");
        for (var part : List.of("inventory-service-0", "health-service-0", "allocation-service-0", "node-1")) {
            String job = part.equals("node-1") ? "node-daemon" : part.replaceFirst("-0$", "");
            int target = fleet.process(part).orElseThrow().ports().getOrDefault("http", 0);
            config.append("""
                  - job_name: %s
                    honor_labels: true
                    static_configs: [{targets: ["127.0.0.1:%d"], labels: {pod: %s, node: node-1}}]
                """.formatted(job, target, part));
        }
        return config.toString();
    }

    @Test
    void everyPanelOfOursHasData() throws IOException {
        var queries = new ArrayList<String>();
        for (Path dashboard : MonitoringManifests.dashboards()) {
            new ObjectMapper()
                    .readTree(dashboard.toFile())
                    .findValuesAsText("expr")
                    .forEach(queries::add);
        }
        assertThat(queries).hasSizeGreaterThan(20);

        await().atMost(Duration.ofSeconds(120))
                .untilAsserted(() -> assertThat(queries)
                        .filteredOn(query -> answer(query).isEmpty())
                        .isEmpty());
    }

    @Test
    void everyPanelOf12239HasDataOfEachGpu() {
        await().atMost(Duration.ofSeconds(120))
                .untilAsserted(() -> assertThat(DASHBOARD_12239)
                        .filteredOn(query -> answer(query).size() != (query.contains("(") ? 1 : 4))
                        .isEmpty());
    }

    /** The series of an answer; a question that Prometheus does not understand fails. */
    private static JsonNode answer(String query) {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/api/v1/query?query="
                + URLEncoder.encode(query, StandardCharsets.UTF_8)));
        try {
            JsonNode answer = new ObjectMapper()
                    .readTree(
                            HTTP.send(request.build(), BodyHandlers.ofString()).body());
            assertThat(answer.path("status").asText()).as(query + " " + answer).isEqualTo("success");
            return answer.path("data").path("result");
        } catch (IOException notYet) {
            throw new AssertionError("Prometheus does not answer", notYet);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupted);
        }
    }

    private static void run(String... words) {
        var arguments = new ArrayList<>(List.of(words));
        arguments.addAll(List.of("--state", directory.resolve("state").toString()));
        assertThat(GpufleetCommand.commandLine().execute(arguments.toArray(String[]::new)))
                .as(String.join(" ", words))
                .isZero();
    }
}
