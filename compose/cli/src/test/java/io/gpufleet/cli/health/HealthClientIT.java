package io.gpufleet.cli.health;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.gpufleet.cli.CommandProcess;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.testbed.testkit.CommandOutput;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Commands of operators as requests. */
class HealthClientIT {
    private final List<String> requests = new ArrayList<>();
    private HttpServer server;
    private HealthClient client;
    private int status = 202;
    private String answer = "{}";

    @BeforeEach
    void open() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            requests.add(exchange.getRequestMethod() + " " + exchange.getRequestURI() + " "
                    + exchange.getRequestHeaders().getFirst("authorization") + " "
                    + new String(exchange.getRequestBody().readAllBytes(), UTF_8));
            byte[] body = answer.getBytes(UTF_8);
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        client = new HealthClient(address(), "secret");
    }

    private String address() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    @AfterEach
    void close() {
        server.stop(0);
    }

    @Test
    void commandIsOneRequestWithItsReasonAndToken() throws InterruptedException {
        client.command("node-1", "begin-maintenance", "a \"loud\" fan");
        client.fleetCommand("freeze", "fire drill");

        assertThat(requests)
                .containsExactly(
                        "POST /v1/nodes/node-1/begin-maintenance Bearer secret {\"reason\":\"a \\\"loud\\\" fan\"}",
                        "POST /v1/freeze Bearer secret {\"reason\":\"fire drill\"}");
    }

    @Test
    void forgetOfTheCommandLineIsOneRequestWithItsReasonAndToken() throws IOException, InterruptedException {
        CommandOutput output = forget();

        assertThat(output.text()).isEqualTo("node-1: forgotten\n");
        assertThat(output.status()).isZero();
        assertThat(requests)
                .containsExactly("POST /v1/nodes/node-1/forget Bearer secret {\"reason\":\"the host is scrapped\"}");
    }

    @Test
    void forgetOfANodeThatIsThereIsRefusedInOneLine() throws IOException, InterruptedException {
        status = 409;
        answer = "{\"detail\": \"node node-1 has a Node object\"}";

        CommandOutput output = forget();

        assertThat(output.text().strip())
                .isEqualTo("gpufleet: the health-service says 409: node node-1 has a Node object");
        assertThat(output.status()).isEqualTo(2);
    }

    private CommandOutput forget() throws IOException, InterruptedException {
        return CommandProcess.run(
                Map.of("GPUFLEET_TOKEN", "secret"),
                List.of("forget", "node-1", "--reason", "the host is scrapped", "--server", address()));
    }

    @Test
    void refusalIsOneLineWithTheDetailOfTheServer() {
        status = 409;
        answer = "{\"detail\": \"the fleet is frozen already\"}";

        assertThatThrownBy(() -> client.fleetCommand("freeze", "again"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessage("the health-service says 409: the fleet is frozen already");
    }

    @Test
    void serverThatIsGoneIsOneLine() {
        server.stop(0);

        assertThatThrownBy(() -> client.fleetCommand("freeze", "gone"))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("does not answer");
    }
}
