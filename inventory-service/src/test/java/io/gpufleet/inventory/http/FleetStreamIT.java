package io.gpufleet.inventory.http;

import static io.gpufleet.inventory.model.TestNodes.a100;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static io.gpufleet.inventory.model.TestNodes.node;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gpufleet.inventory.app.FleetView;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.Verdicts;
import io.gpufleet.kit.web.Authorizer;
import io.gpufleet.kit.web.BoundHttpServer;
import io.gpufleet.kit.web.RequestWorkers;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Server-Sent Events over the loopback. */
class FleetStreamIT {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Vertx vertx = Vertx.vertx();
    private final HttpClient http = HttpClient.newHttpClient();
    private final FleetView view = new FleetView();
    private final RequestWorkers workers = RequestWorkers.open(vertx, "queries", 2, 9);
    private volatile boolean ready = true;
    private FleetStream stream;
    private BoundHttpServer server;

    /** One event: its name and its data. */
    private record Event(String name, JsonNode data) {}

    @BeforeEach
    void open() {
        view.commit(List.of(aNode("n1"), aNode("n2")), List.of());
        Router router = Router.router(vertx);
        Authorizer rights = (token, _) -> token.equals("ann")
                ? new Authorizer.AccessResult.Allowed(token)
                : new Authorizer.AccessResult.Unauthenticated();
        new InventoryRoutes(view, workers, rights, _ -> Map.of()).mount(router);
        stream = FleetStream.open(view, () -> ready, workers, vertx);
        stream.mount(router);
        server = BoundHttpServer.open(vertx, router, "127.0.0.1", 0, "GPUFLEET_HTTP_PORT");
    }

    @AfterEach
    void close() throws Exception {
        stream.close();
        server.close();
        workers.close();
        http.close();
        vertx.close().toCompletionStage().toCompletableFuture().get();
    }

    private static NodeState aNode(String name) {
        return node(name, announcement(a100(0)));
    }

    private HttpResponse<InputStream> connect(String token) throws Exception {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/v1/stream"))
                .header("authorization", "Bearer " + token);
        return http.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
    }

    /** The events of an open stream, read by a thread of its own; the last one, of its end, has no name. */
    private static BlockingQueue<Event> events(InputStream body) {
        var events = new LinkedBlockingQueue<Event>();
        Thread.ofVirtual().start(() -> {
            try (var reader = new java.io.BufferedReader(new java.io.InputStreamReader(body, StandardCharsets.UTF_8))) {
                String name = "";
                for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                    if (line.startsWith("event: ")) {
                        name = line.substring(7);
                    } else if (line.startsWith("data: ")) {
                        events.add(new Event(name, JSON.readTree(line.substring(6))));
                    }
                }
            } catch (IOException closed) {
                // Told as its end, too.
            }
            events.add(new Event("", JSON.missingNode()));
        });
        return events;
    }

    private static Event next(BlockingQueue<Event> events) throws InterruptedException {
        Event event = events.poll(30, TimeUnit.SECONDS);
        assertThat(event).isNotNull();
        return event;
    }

    /** The next event of a name. A summary is sent for each state of the counts, also amid a large commit. */
    private static Event next(BlockingQueue<Event> events, String name) throws InterruptedException {
        Event event = next(events);
        while (!event.name().equals(name)) {
            assertThat(event.name()).as("before '" + name + "'").isNotEmpty();
            event = next(events);
        }
        return event;
    }

    @Test
    void countsComeAtOnceAndChangedNodesAfterTheirCommit() throws Exception {
        // Given
        HttpResponse<InputStream> response = connect("ann");
        assertThat(response.headers().firstValue("content-type")).hasValue("text/event-stream");
        BlockingQueue<Event> events = events(response.body());
        Event first = next(events);
        assertThat(first.name()).isEqualTo("summary");
        assertThat(first.data().at("/nodes").asInt()).isEqualTo(2);

        // When
        view.commit(List.of(aNode("n2").with(new Verdicts("suspect", Map.of("GPU-A100-0", "suspect")))), List.of("n1"));

        // Then
        JsonNode changes = next(events, "nodes").data();
        assertThat(changes.at("/changed/0/name").asText()).isEqualTo("n2");
        assertThat(changes.at("/changed/0/verdict").asText()).isEqualTo("suspect");
        assertThat(changes.at("/changed/0/devices").toString()).isEqualTo("{\"suspect\":1}");
        assertThat(changes.at("/removed/0").asText()).isEqualTo("n1");
    }

    @Test
    void replicaThatReadsItsChangelogAgainShowsNoNodeAsGone() throws Exception {
        // Given
        BlockingQueue<Event> events = events(connect("ann").body());
        next(events);

        // When
        ready = false;
        assertThat(connect("ann").statusCode()).isEqualTo(503);
        view.clear();
        view.commit(List.of(aNode("n1"), aNode("n2"), aNode("n3")), List.of());
        ready = true;

        // Then
        JsonNode changes = next(events, "nodes").data();
        assertThat(changes.at("/changed")).hasSize(3);
        assertThat(changes.at("/removed")).isEmpty();
    }

    @Test
    void moreNodesThanFitAreSaidToBeMany() throws Exception {
        BlockingQueue<Event> events = events(connect("ann").body());
        next(events);

        view.commit(
                IntStream.rangeClosed(0, InventoryJson.MAX_CHANGES)
                        .mapToObj(i -> aNode("m" + i))
                        .toList(),
                List.of());

        assertThat(next(events, "nodes").data().toString()).isEqualTo("{\"many\":true}");
    }

    @Test
    void clientThatDoesNotReadHoldsNobodyUpAndCatchesUp() throws Exception {
        // Given a client that reads nothing
        try (var slow = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            slow.setReceiveBufferSize(4096);
            slow.getOutputStream()
                    .write("GET /v1/stream HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ann\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            BlockingQueue<Event> events = events(connect("ann").body());
            next(events);

            // When
            List<NodeState> nodes = new ArrayList<>();
            for (int i = 0; i < 400; i++) {
                nodes.add(aNode("node-with-a-long-name-" + i));
            }
            for (int round = 0; round < 3; round++) {
                String verdict = "verdict-" + round;
                view.commit(
                        nodes.stream()
                                .map(each -> each.with(new Verdicts(verdict, Map.of())))
                                .toList(),
                        List.of());
                await().until(() -> {
                    Event event = next(events, "nodes");
                    return event.data().at("/changed/0/verdict").asText().equals(verdict);
                });
            }

            // Then the other one has been told each state, and this one is told the newest
            var said = new StringBuilder();
            var bytes = new byte[65_536];
            await().until(() -> {
                int read = slow.getInputStream().read(bytes);
                said.append(new String(bytes, 0, Math.max(0, read), StandardCharsets.UTF_8));
                return said.indexOf("verdict-2") >= 0;
            });
        }
    }

    @Test
    void closedStreamsEnd() throws Exception {
        BlockingQueue<Event> events = events(connect("ann").body());
        next(events);

        stream.close();

        assertThat(next(events).name()).isEmpty();
        assertThat(connect("ann").statusCode()).isEqualTo(503);
    }

    @Test
    void streamNeedsAToken() throws Exception {
        assertThat(connect("bob").statusCode()).isEqualTo(401);
    }
}
