package io.gpufleet.health.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpufleet.health.app.CurrentLease;
import io.gpufleet.health.app.NodeClient.NodeResponse;
import io.gpufleet.health.app.NodeListener;
import io.gpufleet.health.model.nodepatch.AppliedAnnotation;
import io.gpufleet.health.model.nodepatch.NodePatchPlan;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import io.gpufleet.health.model.nodepatch.ObservedNode.NodeFacts;
import io.gpufleet.health.model.nodepatch.PatchBase;
import io.gpufleet.runtime.kubernetes.RetryAfter;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What an API server that refuses or fails means: one request, one line, no exception. */
class ApiFailuresIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final ObservedNode NODE = new ObservedNode(
            "n",
            new NodeFacts("uid-1", "", true, false, true),
            PatchBase.of("7"),
            List.of(),
            "",
            "",
            AppliedAnnotation.NONE,
            null);
    private static final Map<String, Class<? extends NodeResponse>> MEANING = Map.of(
            "rejected", NodeResponse.Rejected.class,
            "conflict", NodeResponse.Conflict.class,
            "mismatch", NodeResponse.Mismatch.class,
            "unavailable", NodeResponse.Unavailable.class);

    private final AtomicInteger requests = new AtomicInteger();
    private final RetryAfter retryAfter = new RetryAfter(() -> 1);
    private HttpServer server;
    private KubernetesClient client;
    private KubernetesNodeClient nodes;

    @BeforeEach
    void open() throws IOException {
        open(500);
    }

    private void open(int requestTimeoutMillis) throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
        client = new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(Config.empty())
                        .withMasterUrl("http://127.0.0.1:" + server.getAddress().getPort())
                        .withRequestRetryBackoffLimit(0)
                        .withRequestTimeout(requestTimeoutMillis)
                        .build())
                .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("retry-after", retryAfter))
                .build();
        nodes = new KubernetesNodeClient(
                client,
                new NodeEventRecorder(client, TestedNode.heldLease(), Clock.systemUTC()),
                Clock.systemUTC(),
                retryAfter::remaining);
    }

    @AfterEach
    void close() {
        nodes.close();
        client.close();
        server.stop(0);
    }

    private static void send(HttpExchange exchange, int status, String body) throws IOException {
        send(exchange, status, body, "1");
    }

    private static void send(HttpExchange exchange, int status, String body, String retryAfter) throws IOException {
        byte[] bytes = body.getBytes(UTF_8);
        exchange.getResponseHeaders().add("content-type", "application/json");
        exchange.getResponseHeaders().add("retry-after", retryAfter);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    private static NodePatchPlan.Patch patch() {
        return TestedNode.patchWithTaint(NODE);
    }

    @ParameterizedTest
    @CsvSource({
        "400, rejected",
        "401, rejected",
        "403, rejected",
        "409, conflict",
        "422, mismatch",
        "429, unavailable",
        "500, unavailable",
        "503, unavailable"
    })
    void refusalIsOneRequestAndOneLine(int status, String meaning) {
        server.createContext("/", exchange -> {
            requests.incrementAndGet();
            send(exchange, status, """
                    {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": %d,
                     "message": "refused\\nfor a reason"}""".formatted(status));
        });

        NodeResponse response = nodes.patchNode(NODE, patch());

        assertThat(response).isInstanceOf(MEANING.get(meaning));
        assertThat(response.toString()).doesNotContain("\n");
        assertThat(requests).hasValue(1);
        assertThat(nodes.patchCondition(NODE, TestedNode.PROBLEM)).isInstanceOf(MEANING.get(meaning));
    }

    @ParameterizedTest(name = "{0} with Retry-After: {1} is repeated after {2} s")
    @CsvSource({"429, 7, 7", "503, 7, 7", "429, 86400, 60", "429, soon, 0", "500, 7, 0"})
    void timeThatTheServerAsksForIsKept(int status, String header, int seconds) {
        server.createContext("/", exchange -> send(exchange, status, "{}", header));

        NodeResponse response = nodes.patchNode(NODE, patch());

        assertThat(response)
                .isInstanceOfSatisfying(
                        NodeResponse.Unavailable.class,
                        unavailable -> assertThat(unavailable.retryAfter()).isEqualTo(Duration.ofSeconds(seconds)));
    }

    @Test
    void answerThatIsNoJsonIsOneLine() {
        server.createContext("/", exchange -> send(exchange, 200, "<html>\nproxy\n</html>"));

        NodeResponse response = nodes.patchNode(NODE, patch());

        assertThat(response).isInstanceOf(NodeResponse.Unavailable.class);
        assertThat(response.toString()).doesNotContain("\n");
    }

    @Test
    void serverThatDoesNotAnswerIsUnavailable() {
        var ended = new CountDownLatch(1);
        server.createContext("/", _ -> {
            try {
                ended.await();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        });

        assertThat(nodes.patchNode(NODE, patch())).isInstanceOf(NodeResponse.Unavailable.class);
        ended.countDown();
    }

    @Test
    void callThatHangsIsGivenUpWhenTheTermEnds() throws Exception {
        // Given a server that does not answer, and a client that would wait for it
        close();
        open((int) Duration.ofHours(1).toMillis());
        var never = new CountDownLatch(1);
        var asked = new CountDownLatch(1);
        server.createContext("/", _ -> {
            requests.incrementAndGet();
            asked.countDown();
            try {
                never.await();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        });
        CurrentLease lease = TestedNode.heldLease();
        var responses = new CopyOnWriteArrayList<NodeResponse>();
        Thread calling = Thread.ofVirtual()
                .start(() ->
                        responses.add(lease.call(() -> nodes.patchNode(NODE, patch()), NodeResponse.LeaseEnded::new)));
        asked.await();
        // When
        lease.end();
        // Then
        await().atMost(TIMEOUT).until(() -> !calling.isAlive());
        assertThat(responses).containsExactly(new NodeResponse.LeaseEnded());
        assertThat(requests).hasValue(1);
        never.countDown();
    }

    @Test
    void watchThatIsGoneListsAnew() {
        var lists = new AtomicInteger();
        server.createContext("/", exchange -> {
            if (String.valueOf(exchange.getRequestURI().getQuery()).contains("watch=true")) {
                send(exchange, 410, """
                        {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 410,
                         "reason": "Expired", "message": "too old resource version"}""");
            } else {
                // every later list is the same: the next watch is gone as well, and the client lists on and on
                int list = lists.incrementAndGet() == 1 ? 1 : 2;
                send(exchange, 200, """
                        {"kind": "NodeList", "apiVersion": "v1", "metadata": {"resourceVersion": "%d"},
                         "items": [{"metadata": {"name": "n-%d", "uid": "u", "resourceVersion": "1"}}]}""".formatted(list, list));
            }
        });

        nodes.watch(new NodeListener() {
            @Override
            public void nodeChanged(String node) {}

            @Override
            public void nodeDeleted(String node, String uid) {}
        });

        await().atMost(TIMEOUT).until(() -> nodes.cached("n-2").isPresent());
        assertThat(nodes.cached("n-1")).isEmpty();
        assertThat(nodes.readinessFailures())
                .allSatisfy(line -> assertThat(line).doesNotContain("\n"));
    }
}
