package io.gpufleet.nodedaemon.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.proto.kubelet.EventLoops;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Probes, metrics and reports over a real socket. */
class OpsServerIT {
    private static final String LOOPBACK = "127.0.0.1";

    private final EventLoop loop = EventLoops.open("reporting");
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final AtomicReference<List<String>> notReady = new AtomicReference<>(List.of());
    private final AtomicReference<Optional<String>> metrics = new AtomicReference<>(Optional.of("a_metric 1\n"));
    private final AtomicInteger pages = new AtomicInteger();
    private OpsServer server;

    @BeforeEach
    void serve() throws Exception {
        server = OpsServer.open(loop, LOOPBACK, 0, responses());
    }

    private OpsServer.OpsResponses responses() {
        return new OpsServer.OpsResponses(
                List::of,
                notReady::get,
                this::page,
                (command, devices, json) -> devices.equals("other")
                        ? Optional.empty()
                        : Optional.of(new DiagnosticReports.OperatorReport(command + " json=" + json, 1)));
    }

    private String page() {
        pages.incrementAndGet();
        return metrics.get().orElseThrow(() -> new IllegalStateException("a defect"));
    }

    @AfterEach
    void stop() throws Exception {
        server.close();
        client.close();
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
    }

    private HttpResponse<String> get(String path, String... headers) throws Exception {
        var request = HttpRequest.newBuilder(URI.create("http://" + LOOPBACK + ":" + server.port() + path));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void probesHaveTheirReasons() throws Exception {
        assertThat(get("/livez").statusCode()).isEqualTo(200);
        assertThat(get("/health").body()).isEqualTo("{\"ok\":true,\"reasons\":[]}");

        notReady.set(List.of("kubelet: Register is in flight"));

        assertThat(get("/readyz?verbose").statusCode()).isEqualTo(503);
        assertThat(get("/readyz").body()).contains("Register is in flight");
    }

    @Test
    void unknownPathNamesThePaths() throws Exception {
        var answer = get("/");

        assertThat(answer.statusCode()).isEqualTo(404);
        assertThat(answer.body()).contains("/livez, /readyz, /metrics");
    }

    @Test
    void pageThatFailsIsAnErrorOfThatRequestAlone() throws Exception {
        metrics.set(Optional.empty());
        assertThat(get("/metrics").statusCode()).isEqualTo(500);
        assertThat(get("/metrics").body()).contains("a defect");

        metrics.set(Optional.of("a_metric 2\n"));

        var page = get("/metrics");
        assertThat(page.body()).isEqualTo("a_metric 2\n");
        assertThat(page.headers().firstValue("content-type")).contains("text/plain; version=0.0.4; charset=utf-8");
    }

    @Test
    void reportHasTheExitStatusOfItsCommand() throws Exception {
        var report = get("/doctor?json", "x-gpufleet-devices", "nvml");

        assertThat(report.body()).isEqualTo("doctor json=true");
        assertThat(report.headers().firstValue("x-exit-status")).contains("1");
        assertThat(get("/probe").body()).isEqualTo("probe json=false");
        assertThat(get("/probe", "x-gpufleet-devices", "other").statusCode()).isEqualTo(409);
    }

    /** Another address than that of the server stands for another machine; the daemon's port is open to all of them. */
    @ParameterizedTest
    @CsvSource({
        "/doctor, 403",
        "/doctor?json, 403",
        "/probe, 403",
        "/livez, 200",
        "/readyz, 200",
        "/metrics, 200",
    })
    void reportsAreForProgramsOfTheSameMachineAlone(String path, int status) throws Exception {
        String request = "GET " + path + " HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        assertThat(answers(request, LOOPBACK)).startsWith("HTTP/1.1 200");

        assertThat(answers(request, "127.0.0.2")).startsWith("HTTP/1.1 " + status);
    }

    @Test
    void bytesThatAreNoRequestAreRefusedAndOthersServed() throws Exception {
        try (var socket = new Socket(InetAddress.getByName(LOOPBACK), server.port())) {
            socket.getOutputStream().write("\u0000\u0001 nonsense\r\n\r\n".getBytes(StandardCharsets.US_ASCII));

            assertThat(firstLine(socket)).contains("400");
        }
        assertThat(get("/livez").statusCode()).isEqualTo(200);
    }

    @Test
    void connectionsThatSendNothingLeaveOthersTheirAnswers() throws Exception {
        List<Socket> silent = new ArrayList<>();
        try {
            for (int i = 0; i < 200; i++) {
                silent.add(new Socket(InetAddress.getByName(LOOPBACK), server.port()));
            }

            assertThat(get("/livez").statusCode()).isEqualTo(200);
            // The oldest had to go.
            assertThat(silent.getFirst().getInputStream().read()).isEqualTo(-1);
        } finally {
            for (Socket each : silent) {
                each.close();
            }
        }
    }

    @Test
    void pagesThatAreNotReadAreMadeOneAtATime() throws Exception {
        metrics.set(Optional.of("a_metric 1\n".repeat(1 << 20)));
        try (var socket = new Socket(InetAddress.getByName(LOOPBACK), server.port())) {
            socket.getOutputStream()
                    .write("GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n".repeat(50).getBytes(StandardCharsets.US_ASCII));
            assertThat(firstLine(socket)).contains("200");

            assertThat(get("/livez").statusCode()).isEqualTo(200);
            assertThat(pages).hasValue(1);
        }
    }

    @Test
    void requestThatIsTooLargeEndsItsConnectionAlone() throws Exception {
        String large = "POST /livez HTTP/1.1\r\nhost: x\r\ncontent-length: 9000\r\n\r\n" + "x".repeat(9_000);
        String next = "GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";

        assertThat(answers(large + next)).startsWith("HTTP/1.1 413").doesNotContain("HTTP/1.1 200");
        assertThat(answers(next)).startsWith("HTTP/1.1 200");
    }

    private String answers(String requests) throws IOException {
        return answers(requests, LOOPBACK);
    }

    private String answers(String requests, String caller) throws IOException {
        try (var socket =
                new Socket(InetAddress.getByName(LOOPBACK), server.port(), InetAddress.getByName(caller), 0)) {
            socket.getOutputStream().write(requests.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        }
    }

    private static String firstLine(Socket socket) throws IOException {
        return new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
    }

    @Test
    void portInUseIsOneLine() {
        assertThatThrownBy(() -> OpsServer.open(loop, LOOPBACK, server.port(), responses()))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("GPUFLEET_HTTP_PORT=" + server.port())
                .hasMessageContaining("the port is in use");
    }
}
