package io.gpufleet.cli.drill;

import static org.assertj.core.api.Assertions.assertThat;

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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DrillFleetTest {
    private static final ProcessIdentity SELF = ProcessIdentity.of(ProcessHandle.current());

    @Test
    void partsThatAreNotReadyAreNamedWithTheirReasons(@TempDir Path directory) throws IOException {
        // Given
        Path log = Files.writeString(directory.resolve("node-1.log"), "started\nno disk\n");
        var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/readyz", exchange -> {
            byte[] body = "{\"reasons\":[\"taking over\",\"Kafka away\"]}".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(503, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        try {
            var fleet = fleet(
                    part("kafka", SELF, log, Map.of()),
                    part(
                            "health-service-0",
                            SELF,
                            log,
                            Map.of("http", server.getAddress().getPort())),
                    part("node-1", new ProcessIdentity(1, 1), log, Map.of()));

            // When
            List<String> notReady = DrillFleet.notReady(fleet);

            // Then
            assertThat(notReady)
                    .containsExactly(
                            "health-service-0 is not ready: taking over; Kafka away", "node-1 has ended: no disk");
        } finally {
            server.stop(0);
        }
    }

    private static FleetState.FleetProcess part(
            String name, ProcessIdentity identity, Path log, Map<String, Integer> ports) {
        return new FleetState.FleetProcess(name, "ANY", identity, log.toString(), List.of(), Map.of(), ports);
    }

    private static FleetState fleet(FleetState.FleetProcess... parts) {
        return new FleetState(
                "2026-03-01T10:00:00Z",
                10,
                null,
                "127.0.0.1:19092",
                new FleetState.KubernetesEndpoint("http://127.0.0.1:16443", "kubeconfig", true),
                List.of(parts),
                List.of());
    }
}
