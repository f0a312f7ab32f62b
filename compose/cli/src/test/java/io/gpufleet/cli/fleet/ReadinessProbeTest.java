package io.gpufleet.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
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
}
