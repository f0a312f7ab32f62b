package io.gpufleet.inventory.http;

import static io.gpufleet.inventory.model.TestNodes.a100;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static io.gpufleet.inventory.model.TestNodes.h100;
import static io.gpufleet.inventory.model.TestNodes.migGpu;
import static io.gpufleet.inventory.model.TestNodes.node;
import static io.gpufleet.inventory.model.TestNodes.withHealth;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.gpufleet.inventory.app.FleetView;
import io.gpufleet.inventory.model.Announcement;
import io.gpufleet.inventory.model.Gpu;
import io.gpufleet.inventory.model.Holder;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.Verdicts;
import io.gpufleet.kit.web.Authorizer;
import io.gpufleet.kit.web.BoundHttpServer;
import io.gpufleet.kit.web.OpsRoutes;
import io.gpufleet.kit.web.RequestWorkers;
import io.gpufleet.testbed.testkit.OpenApiContract;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** REST over the loopback, compared with its OpenAPI document. */
class InventoryRoutesIT {
    private static final List<NodeState> NODES = List.of(
            node("n1", announcement(a100(0), withHealth(a100(1), Gpu.LocalHealth.UNHEALTHY)))
                    .with(new Verdicts("suspect", Map.of("GPU-A100-0", "suspect")))
                    .withHolders(List.of(new Holder("ns", "pod", "main", List.of("GPU-A100-0::3"))))
                    .withLabelConflicts(List.of("accelerator")),
            node("n2", announcement(Announcement.MigStrategy.MIXED, h100(0), migGpu(5, "1g.5gb", 2))),
            node("n3", announcement(h100(3))));

    /** Questions that are answered at a time, or wait. */
    private static final int WORKERS = 11;

    private static final Set<String> SCRAPERS = ConcurrentHashMap.newKeySet();
    private static final Vertx VERTX = Vertx.vertx();
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final ObjectMapper JSON = new ObjectMapper();
    private static Router router;
    private static RequestWorkers workers;
    private static FleetStream stream;
    private static BoundHttpServer server;
    private static OpenApiContract contract;

    @BeforeAll
    static void open() throws Exception {
        router = Router.router(VERTX);
        OpsRoutes.mount(router, List::of, () -> List.of("the projection is being read"), () -> {
            SCRAPERS.add(Thread.currentThread().getName());
            return "up 1\n";
        });
        var view = new FleetView();
        view.commit(NODES, List.of());
        view.suspect(List.of("n3"));
        workers = RequestWorkers.open(VERTX, "queries", 2, WORKERS - 2);
        new InventoryRoutes(view, workers, Authorizer.everybody(), node -> Map.of("gpu-type", node.name()))
                .mount(router);
        stream = FleetStream.open(view, () -> true, workers, VERTX);
        stream.mount(router);
        server = BoundHttpServer.open(VERTX, router, "127.0.0.1", 0, "GPUFLEET_HTTP_PORT");
        contract = OpenApiContract.of(send("GET", "/openapi.yaml").body());
    }

    @AfterAll
    static void close() throws Exception {
        stream.close();
        server.close();
        workers.close();
        VERTX.close().toCompletionStage().toCompletableFuture().get();
    }

    private static HttpResponse<String> send(String method, String path) throws Exception {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build();
        return CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
    }

    private static JsonNode body(String path) throws Exception {
        return JSON.readTree(send("GET", path).body());
    }

    @ParameterizedTest
    @CsvSource({
        "GET, /v1/summary, 200",
        "GET, /v1/models, 200",
        "GET, /v1/nodes, 200",
        "GET, /v1/nodes?limit=1, 200",
        "GET, /v1/nodes/n1, 200",
        "GET, /v1/nodes/n2, 200",
        "GET, /v1/devices, 200",
        "GET, /v1/devices/GPU-A100-0, 200",
        "GET, /v1/devices/MIG-5-1, 200",
        "GET, /v1/nodes/none, 404",
        "GET, /v1/devices/none, 404",
        "GET, /v1/nodes?limit=0, 400",
        "GET, /v1/nodes?limit=1001, 400",
        "GET, /v1/nodes?limit=x, 400",
        "GET, /v1/nodes?token=%21, 400",
        "GET, /v1/devices?token=bjEvYi9j, 400",
        "GET, /v1/nodes?health=sick, 400",
        "GET, /v1/nodes?presence=here, 400",
        "GET, /v1/nodes?fields=name&health=Lost&presence=PRESENT&namespace=ns, 200",
        "GET, /v1/devices?fields=name, 400",
        "GET, /v1/devices?sort=name, 400",
        "GET, /v1/devices?sort=health&token=bjE, 400",
        "GET, /v1/nodes?sort=size, 400",
        "GET, /v1/nodes?sort=-name&token=bjE, 400",
        "GET, /v1/nodes?modle=A100, 400",
        "GET, /v1/summary?x=1, 400",
        "GET, /v1/stream?since=1, 400",
        "GET, /v2, 404",
        "POST, /v1/nodes, 405",
        "DELETE, /v1/nodes/n1, 405",
        "GET, /livez, 200",
        "GET, /readyz, 503",
        "GET, /metrics, 200",
        "GET, /openapi.yaml, 200",
    })
    void responseIsAsTheOpenApiDocumentSays(String method, String path, int status) throws Exception {
        HttpResponse<String> response = send(method, path);

        assertThat(response.statusCode()).isEqualTo(status);
        assertThat(contract.violations(response)).isEmpty();
    }

    @Test
    void questionsAreAnsweredByWorkersOnlyAndProbesWhileEveryWorkerIsBusy() throws Exception {
        // Given
        var free = new CountDownLatch(1);
        var busy = new ArrayList<Future<Boolean>>();
        for (int i = 0; i < WORKERS; i++) {
            busy.add(workers.run(() -> free.await(1, TimeUnit.MINUTES)));
        }
        // When
        var statuses = new TreeMap<String, Integer>();
        try {
            for (String path : List.of(
                    "/livez",
                    "/v1/summary",
                    "/v1/models",
                    "/v1/nodes",
                    "/v1/nodes/n1",
                    "/v1/devices",
                    "/v1/devices/GPU-A100-0")) {
                statuses.put(path, send("GET", path).statusCode());
            }
        } finally {
            free.countDown();
            Future.all(busy).toCompletionStage().toCompletableFuture().join();
        }
        // Then
        assertThat(statuses.remove("/livez")).isEqualTo(200);
        assertThat(statuses)
                .hasSize(6)
                .allSatisfy((_, status) -> assertThat(status).isEqualTo(503));
    }

    @Test
    void metricsAreMadeByAWorker() throws Exception {
        assertThat(send("GET", "/metrics").statusCode()).isEqualTo(200);

        assertThat(SCRAPERS).isNotEmpty().allMatch(name -> name.startsWith("vert.x-worker"));
    }

    @Test
    void routesAndOpenApiHaveTheSameOperations() {
        assertThat(OpenApiContract.routes(router))
                .isEqualTo(contract.operations())
                .hasSize(11);
    }

    @ParameterizedTest
    @CsvSource({
        "/v1/nodes, n1 n2 n3",
        "/v1/nodes?model=h100, n2 n3",
        "/v1/nodes?model=H100&node=n3, n3",
        "/v1/nodes?health=unhealthy, n1",
        "/v1/nodes?model=V100, ''",
        "/v1/nodes?namespace=ns, n1",
        "/v1/nodes?presence=present&model=H100, n2 n3",
        "/v1/nodes?presence=lost, ''",
        "/v1/nodes?sort=-name, n3 n2 n1",
        "/v1/nodes?sort=presenceSince&model=H100, n2 n3",
    })
    void nodesAreFiltered(String path, String names) throws Exception {
        assertThat(field(path, "name")).isEqualTo(names);
    }

    @ParameterizedTest
    @CsvSource({
        "/v1/devices?model=h100, GPU-H100-0 GPU-H100-3",
        "/v1/devices?health=suspect, GPU-A100-0",
        "/v1/devices?node=n3, GPU-H100-3",
        "/v1/devices?namespace=ns, GPU-A100-0",
        "/v1/devices?node=n2, GPU-A100-5 GPU-H100-0",
        "/v1/devices?sort=-model, GPU-H100-3 GPU-H100-0 GPU-A100-5 GPU-A100-1 GPU-A100-0",
        "/v1/devices?sort=health&model=A100, GPU-A100-5 GPU-A100-0 GPU-A100-1",
    })
    void devicesAreFiltered(String path, String uuids) throws Exception {
        assertThat(field(path, "uuid")).isEqualTo(uuids);
    }

    private static String field(String path, String name) throws Exception {
        var values = new ArrayList<String>();
        body(path).get("items").forEach(item -> values.add(item.get(name).asText()));
        return String.join(" ", values);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v1/nodes?", "/v1/nodes?sort=-announcedAt&", "/v1/devices?", "/v1/devices?sort=-model&"})
    void pagesTogetherAreTheWholeList(String path) throws Exception {
        var paged = new ArrayList<JsonNode>();
        String token = "";
        do {
            JsonNode page = body(path + "limit=1&token=" + token);
            page.get("items").forEach(paged::add);
            token = page.path("next").asText("");
        } while (!token.isEmpty());

        var all = new ArrayList<JsonNode>();
        body(path).get("items").forEach(all::add);
        assertThat(paged).isEqualTo(all);
    }

    @Test
    void holderOfAReplicaIsListedAtItsDevice() throws Exception {
        assertThat(body("/v1/devices/GPU-A100-0").at("/holders/0/pod").asText()).isEqualTo("pod");
        assertThat(body("/v1/devices/GPU-H100-0").get("holders")).isEmpty();
    }

    @Test
    void summaryShowsABusFault() throws Exception {
        JsonNode summary = body("/v1/summary");
        assertThat(summary.get("busFault").asBoolean()).isTrue();
        assertThat(summary.at("/silentNodes/0").asText()).isEqualTo("n3");
        assertThat(summary.get("presence").toString()).isEqualTo("{\"present\":2,\"suspected\":1}");
        assertThat(summary.get("nodes").asInt()).isEqualTo(3);
    }

    @Test
    void badRequestNamesTheParameterAndTheKnownOnes() throws Exception {
        assertThat(body("/v1/nodes?modle=A100").get("detail").asText())
                .isEqualTo(
                        "unknown query parameter 'modle'; known: fields, health, limit, model, namespace, node, presence, sort, token");
    }

    @Test
    void fieldsAreThoseOfTheSchemaAndOnlyTheAskedOnesAreSent() throws Exception {
        JsonNode schemas =
                new YAMLMapper().readTree(send("GET", "/openapi.yaml").body()).at("/components/schemas");
        assertThat(schemas.at("/Node/properties").fieldNames())
                .toIterable()
                .containsExactlyInAnyOrderElementsOf(InventoryJson.NODE_FIELDS);
        assertThat(schemas.at("/Device/properties").fieldNames())
                .toIterable()
                .containsExactlyInAnyOrderElementsOf(InventoryJson.DEVICE_FIELDS);

        assertThat(body("/v1/nodes?node=n1&fields=presence,name").at("/items/0").toString())
                .isEqualTo("{\"name\":\"n1\",\"presence\":\"present\"}");
    }

    @Test
    void unchangedBodyIsNotSentAgain() throws Exception {
        String etag = send("GET", "/v1/nodes").headers().firstValue("etag").orElseThrow();

        assertThat(send("/v1/nodes", "if-none-match", etag).statusCode()).isEqualTo(304);
        assertThat(send("/v1/nodes", "if-none-match", "\"other\"").statusCode()).isEqualTo(200);
        assertThat(send("/v1/devices", "if-none-match", etag).statusCode()).isEqualTo(200);
    }

    @Test
    void longBodyIsCompressedForWhoAcceptsIt() throws Exception {
        HttpResponse<byte[]> compressed = send("/v1/nodes", "accept-encoding", "br, gzip");

        assertThat(compressed.headers().firstValue("content-encoding")).contains("gzip");
        try (var plain = new GZIPInputStream(new ByteArrayInputStream(compressed.body()))) {
            assertThat(new String(plain.readAllBytes(), UTF_8))
                    .isEqualTo(send("GET", "/v1/nodes").body());
        }
        assertThat(send("/v1/nodes", "accept-encoding", "gzip;q=0").headers().firstValue("content-encoding"))
                .isEmpty();
    }

    private static HttpResponse<byte[]> send(String path, String header, String value) throws Exception {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                .header(header, value)
                .build();
        return CLIENT.send(request, HttpResponse.BodyHandlers.ofByteArray());
    }
}
