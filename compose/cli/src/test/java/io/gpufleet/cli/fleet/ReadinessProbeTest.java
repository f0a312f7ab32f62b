package io.gpufleet.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReadinessProbeTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "200 | {\"ok\":true,\"reasons\":[]}                 | ``",
                "503 | {\"ok\":false,\"reasons\":[\"one\",\"two\"]}  | one; two",
                "503 | {\"ok\":false}                              | {\"ok\":false}",
                "503 | Service Unavailable                       | Service Unavailable"
            })
    void serviceThatIsNotReadySaysWhy(int status, String body, String expected) throws IOException {
        // Given
        var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/readyz", exchange -> {
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
        server.start();
        try {
            // When
            String reason = ReadinessProbe.probe(server.getAddress().getPort());
            // Then
            assertThat(reason).isEqualTo(expected);
        } finally {
            server.stop(0);
        }
    }

    @Test
    void partThatDiesWhileItStartsIsShownWithTheEndOfItsLog(@TempDir Path directory) throws IOException {
        // Given
        Path log = directory.resolve("health-service-0.log");
        Files.write(
                log,
                IntStream.rangeClosed(1, 20).mapToObj(line -> "line " + line).toList());
        var dead = new ProcessIdentity(ProcessHandle.current().pid(), 1);
        var started = new FleetState.FleetProcess(
                "health-service-0", "HEALTH", dead, log.toString(), List.of(), Map.of(), Map.of("http", 1));
        // When, then
        assertThatThrownBy(() -> ReadinessProbe.await(started, Duration.ofMinutes(1)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("health-service-0 exited while starting; its log, " + log + ", ends with\n")
                .hasMessageEndingWith("    line 9\n    line 10\n    line 11\n    line 12\n    line 13\n    line 14\n"
                        + "    line 15\n    line 16\n    line 17\n    line 18\n    line 19\n    line 20")
                .hasMessageNotContaining("line 8");
    }
}
