package io.gpufleet.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.ProcessIdentity;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The status of a part that answers on the loopback, asked again after it changed. */
class StatusReportIT {
    private static final ProcessIdentity RUNNING = ProcessIdentity.of(ProcessHandle.current());
    private static final ProcessIdentity ENDED =
            new ProcessIdentity(ProcessHandle.current().pid(), 1);

    @TempDir
    private Path directory;

    private HttpServer part;
    private volatile String failure = "";

    @BeforeEach
    void open() throws IOException {
        part = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        part.createContext("/readyz", exchange -> {
            byte[] body = ("{\"ok\":" + failure.isEmpty() + ",\"reasons\":[\"" + failure + "\"]}")
                    .getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(failure.isEmpty() ? 200 : 503, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        part.start();
    }

    @AfterEach
    void close() {
        part.stop(0);
    }

    @Test
    void partWhoseReadinessReturnsIsShownReady() throws IOException {
        // Given
        failure = "no answer of the broker";
        assertThat(StatusReport.render(fleet(RUNNING)))
                .containsPattern("health-service-0 +not ready +[0-9]+")
                .contains("health-service-0 is not ready: no answer of the broker\n");
        assertThat(json(RUNNING).path("ready").asBoolean()).isFalse();

        // When
        failure = "";

        // Then
        assertThat(StatusReport.render(fleet(RUNNING)))
                .containsPattern("health-service-0 +ready +[0-9]+")
                .doesNotContain("not ready");
        assertThat(json(RUNNING).path("ready").asBoolean()).isTrue();
    }

    @Test
    void partThatDiedAndWasStartedAgainIsShownReady() throws IOException {
        assertThat(StatusReport.render(fleet(ENDED))).containsPattern("health-service-0 +ended +-");
        assertThat(json(ENDED).path("running").asBoolean()).isFalse();

        assertThat(StatusReport.render(fleet(RUNNING))).containsPattern("health-service-0 +ready +[0-9]+");
        assertThat(json(RUNNING).path("running").asBoolean()).isTrue();
    }

    @Test
    void partThatEndedIsShownWithTheLastLineOfItsLog() throws IOException {
        Files.writeString(log(), "ready\nhealth-service: Kafka refuses topic gpu.verdicts: grant WRITE on it\n\n");
        assertThat(StatusReport.render(fleet(ENDED)))
                .contains("health-service-0 ended; its log, " + log()
                        + ", ends with: health-service: Kafka refuses topic gpu.verdicts: grant WRITE on it\n");

        Files.delete(log());
        assertThat(StatusReport.render(fleet(ENDED)))
                .contains("health-service-0 ended; its log, " + log() + ", has no line\n");
    }

    private Path log() {
        return directory.resolve("health-service-0.log");
    }

    private JsonNode json(ProcessIdentity identity) throws IOException {
        return new ObjectMapper().readTree(StatusCommand.json(fleet(identity))).at("/processes/0");
    }

    private FleetState fleet(ProcessIdentity identity) {
        var process = new FleetState.FleetProcess(
                "health-service-0",
                "HEALTH",
                identity,
                log().toString(),
                List.of(),
                Map.of(),
                Map.of("http", part.getAddress().getPort()));
        return new FleetState(
                "2026-01-01T00:00:00Z",
                1,
                null,
                "127.0.0.1:9092",
                new FleetState.KubernetesEndpoint("http://127.0.0.1:1", "/kubeconfig", true),
                List.of(process),
                List.of());
    }
}
