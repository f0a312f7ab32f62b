package io.gpufleet.allocation.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * 10,000 pods in a heap of 46 MiB, a tenth of the 307 that a container of 512 MiB gives and 16 for the classes: while they are
 * listed first, listed anew because the watch has ended, and listed beside it.
 * {@code bench allocation --pods 100000 --memory 512} is the whole.
 */
@NullMarked
class PodListMemoryIT {
    private static final int PODS = 10_000;
    private static final String HEAP = "-Xmx46m";

    private final CountDownLatch listedAnew = new CountDownLatch(2);
    private HttpServer api;

    @BeforeEach
    void open() throws IOException {
        api = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        api.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        api.createContext("/", exchange -> answer(exchange, 404, "{\"kind\":\"Status\",\"code\":404}"));
        api.createContext("/api/v1/nodes", exchange -> list(exchange, "NodeList"));
        api.createContext("/api/v1/namespaces", exchange -> list(exchange, "NamespaceList"));
        api.createContext("/api/v1/pods", this::pods);
        api.start();
    }

    @AfterEach
    void close() {
        api.stop(0);
    }

    private static Map<String, String> query(HttpExchange exchange) {
        return Arrays.stream(exchange.getRequestURI().getQuery().split("&"))
                .map(parameter -> parameter.split("=", 2))
                .collect(Collectors.toMap(parameter -> parameter[0], parameter -> parameter[1]));
    }

    private static void answer(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(UTF_8);
        exchange.getResponseHeaders().add("content-type", "application/json");
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    /** A watch stays open, without an event. */
    private static void list(HttpExchange exchange, String kind) throws IOException {
        if (query(exchange).containsKey("watch")) {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().flush();
        } else {
            answer(exchange, 200, list(kind, "", ""));
        }
    }

    private static String list(String kind, String next, String items) {
        return "{\"kind\":\"" + kind
                + "\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"7\",\"continue\":\"" + next
                + "\"},\"items\":[" + items + "]}";
    }

    /** The first watch ends because its version is gone: the informer lists anew. */
    private void pods(HttpExchange exchange) throws IOException {
        Map<String, String> query = query(exchange);
        if ("websocket".equalsIgnoreCase(exchange.getRequestHeaders().getFirst("Upgrade"))) {
            // None here: the client then watches by a plain request.
            answer(exchange, 200, "");
            return;
        }
        if (query.containsKey("watch")) {
            listedAnew.countDown();
            if (listedAnew.getCount() > 0) {
                answer(
                        exchange,
                        200,
                        "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":410}}\n");
            } else {
                list(exchange, "PodList");
            }
            return;
        }
        int from = Integer.parseInt(query.getOrDefault("continue", "0"));
        int to = Math.min(PODS, from + Integer.parseInt(query.getOrDefault("limit", Integer.toString(PODS))));
        String items = IntStream.range(from, to).mapToObj(PodListMemoryIT::pod).collect(Collectors.joining(","));
        answer(exchange, 200, list("PodList", to < PODS ? Integer.toString(to) : "", items));
    }

    /** A pod of 6 KB, as an API server sends many. */
    private static String pod(int number) {
        return PodMemoryTest.POD
                .replace("\"metadata\":{", "\"metadata\":{\"annotations\":{\"applied\":\"" + "x".repeat(4_500) + "\"},")
                .replace("#", "%012d".formatted(number));
    }

    @Test
    void podsOfALargeClusterFitWhileTheyAreListedAgainAndAgain() throws Exception {
        // Given
        var builder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        HEAP,
                        "-XX:+UseSerialGC",
                        "@" + Repository.module("proto/service-runtime").resolve("jvm.args"),
                        PodListProgram.class.getName(),
                        "http://127.0.0.1:" + api.getAddress().getPort())
                .redirectErrorStream(true);
        builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        Process program = builder.start();
        try {
            // When
            assertThat(listedAnew.await(2, TimeUnit.MINUTES)).isTrue();
            program.outputWriter(UTF_8).append('\n').flush();
            program.outputWriter(UTF_8).append("end").close();
            // Then
            List<String> output = program.inputReader(UTF_8).lines().toList();
            assertThat(output).last().isEqualTo(Integer.toString(PODS));
            assertThat(program.waitFor(1, TimeUnit.MINUTES)).isTrue();
            assertThat(program.exitValue()).isZero();
        } finally {
            program.destroyForcibly().waitFor();
        }
    }
}
