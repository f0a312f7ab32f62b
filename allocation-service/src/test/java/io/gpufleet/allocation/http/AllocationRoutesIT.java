package io.gpufleet.allocation.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.app.Ledger;
import io.gpufleet.allocation.app.UsageLog;
import io.gpufleet.allocation.app.UsageSumReader;
import io.gpufleet.allocation.app.quota.QuotaView;
import io.gpufleet.allocation.app.quota.ResourceQuotaIndex.ResourceLimit;
import io.gpufleet.allocation.model.holding.DeviceSlot;
import io.gpufleet.allocation.model.holding.HeldDevice;
import io.gpufleet.allocation.model.holding.Holder;
import io.gpufleet.allocation.model.holding.Holding;
import io.gpufleet.allocation.model.ledger.EventSequence;
import io.gpufleet.allocation.model.ledger.LedgerFact;
import io.gpufleet.allocation.model.ledger.LedgerReducer;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.allocation.model.quota.QuotaLimit;
import io.gpufleet.allocation.model.quota.QuotaUsage;
import io.gpufleet.allocation.model.scheduling.GpuAmount;
import io.gpufleet.kit.web.BoundHttpServer;
import io.gpufleet.kit.web.OpsRoutes;
import io.gpufleet.kit.web.RequestWorkers;
import io.gpufleet.testbed.testkit.OpenApiContract;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.AbstractList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** REST over the loopback, compared with its OpenAPI document. */
class AllocationRoutesIT {
    private static final Instant NOW = Instant.parse("2026-11-22T10:00:00Z");
    private static final CompletionStage<List<QuotaView>> QUOTAS =
            CompletableFuture.completedStage(List.of(new QuotaView(
                    "team-a",
                    "Enforce",
                    true,
                    List.of(new QuotaView.LimitView(
                            new QuotaLimit("A100", 8),
                            new QuotaUsage(
                                    GpuAmount.of(17, 7),
                                    GpuAmount.ONE,
                                    List.of(new QuotaUsage.PodUsage("team-a", "team-a/train", GpuAmount.of(3, 7))),
                                    1),
                            4)))));
    private static final UsageSumReader SUMS = query -> switch (query.from().toString()) {
        case "2026-11-01T00:00:00Z" -> throw new IOException("gpu.usage could not be read: no broker");
        case "2026-11-02T00:00:00Z" -> throw new IllegalStateException("a secret of the server");
        case "0001-01-01T00:00:00Z" -> usageLog().sums(query);
        case "2026-11-03T00:00:00Z" ->
            List.of(new UsageSumReader.UsageSum(
                    new TreeMap<>(Map.of("owner", "Job/train", "label:team", "vision")).descendingMap(),
                    BigDecimal.ONE,
                    1));
        default ->
            List.of(
                    new UsageSumReader.UsageSum(Map.of("namespace", "team-a"), new BigDecimal("7.500"), 2),
                    new UsageSumReader.UsageSum(Map.of("namespace", "a \"quoted\" team, =1+1"), BigDecimal.ONE, 1));
    };

    private static UsageSumReader usageLog() {
        var log = new UsageLog(new Ledger(_ -> {}), Clock.fixed(NOW, ZoneOffset.UTC), 10_000);
        log.loaded();
        return log;
    }

    private static final Vertx VERTX = Vertx.vertx();
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static CompletionStage<List<QuotaView>> quotas = QUOTAS;
    private static final CompletionStage<Map<String, List<ResourceLimit>>> RESOURCE_LIMITS =
            CompletableFuture.completedStage(Map.of(
                    "team-a", List.of(new ResourceLimit("train", "compute", "requests.nvidia.com/gpu", "4", "1"))));
    private static Router router;
    private static BoundHttpServer server;
    private static RequestWorkers workers;
    private static OpenApiContract contract;

    @BeforeAll
    static void open() throws Exception {
        var ledger = new Ledger(_ -> {});
        ledger.committed(Map.of("n1", holding("train", "gpu-0"), "n2", holding("serve", "gpu-1")), Set.of());
        router = Router.router(VERTX);
        OpsRoutes.mount(router, List::of, () -> List.of("the projection is being read"), () -> "up 1\n");
        OpsRoutes.mountCheck(router, "admission", List::of);
        workers = RequestWorkers.open(VERTX, "readers", 2, 16);
        new AllocationRoutes(
                        new AllocationRoutes.Quotas(() -> quotas, () -> RESOURCE_LIMITS),
                        ledger,
                        new AllocationRoutes.Usage(SUMS, Set.of("team"), workers),
                        new AllocationRoutes.Access(new FakeAuthorizer(), workers),
                        Clock.fixed(NOW, ZoneOffset.UTC))
                .mount(router);
        server = BoundHttpServer.open(VERTX, router, "127.0.0.1", 0, "GPUFLEET_HTTP_PORT");
        contract = OpenApiContract.of(send("GET", "/openapi.yaml").body());
    }

    @AfterAll
    static void close() throws Exception {
        CLIENT.close();
        server.close();
        workers.close();
        VERTX.close().toCompletionStage().toCompletableFuture().get();
    }

    @BeforeEach
    void quotasCanBeRead() {
        quotas = QUOTAS;
    }

    private static NodeLedger holding(String pod, String device) {
        var holding = new Holding(
                new Holder("team-a", pod, "uid-" + pod, "main", "nvidia.com/gpu"),
                new HeldDevice(device, new DeviceSlot(device, 0), "A100", 1, ""));
        var held =
                new LedgerFact.HoldingsSnapshot("boot-1", List.of(holding), true, NOW, NOW, 0, new EventSequence(1, 1));
        return LedgerReducer.fold("c1", "n1", NodeLedger.EMPTY, held).next();
    }

    private static HttpResponse<String> send(String method, String path) throws Exception {
        return send(method, path, "Bearer admin");
    }

    private static HttpResponse<String> send(String method, String path, String authorization) throws Exception {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                .method(method, BodyPublishers.noBody())
                .header("authorization", authorization)
                .build();
        return CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void routesAndOpenApiHaveTheSameOperations() {
        assertThat(OpenApiContract.routes(router))
                .isEqualTo(contract.operations())
                .hasSize(8);
    }

    @Test
    void everyOperationButTheProbesAndMetricsNeedsAToken() throws Exception {
        assertThat(contract.withoutToken(URI.create("http://127.0.0.1:" + server.port())))
                .containsExactlyInAnyOrder(
                        "GET /livez", "GET /readyz", "GET /readyz/admission", "GET /metrics", "GET /openapi.yaml");
    }

    @ParameterizedTest
    @CsvSource({
        "GET, /v1/quotas, 200",
        "GET, /v1/quotas?namespace=team-a, 400",
        "GET, /v1/holdings, 200",
        "GET, /v1/holdings?namespace=team-a&node=n1, 200",
        "GET, /v1/holdings?namspace=team-a, 400",
        "GET, /v1/holdings?node=n1&node=n2, 400",
        "GET, /v1/holdings?limit=1, 200",
        "GET, /v1/holdings?limit=0, 400",
        "GET, /v1/holdings?limit=1001, 400",
        "GET, /v1/holdings?limit=99999999999999999999, 400",
        "GET, /v1/holdings?token=anything, 400",
        "GET, /v1/holdings?token=W10, 400",
        "GET, '/v1/holdings?token=!', 400",
        "GET, /v1/usage, 200",
        "GET, /v1/usage?from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z, 200",
        "GET, /v1/usage?from=yesterday, 400",
        "GET, /v1/usage?from=2026-11-21T00:00:00Z&to=2026-11-20T00:00:00Z, 400",
        "GET, /v1/usage?to=-1000000000-01-01T00:00:00Z, 400",
        "GET, /v1/usage?from=2026-11-01T00:00:00Z, 503",
        "GET, /v1/usage?from=2026-11-02T00:00:00Z, 500",
        "GET, '/v1/usage?group-by=namespace,node', 200",
        "GET, '/v1/usage?group-by=owner,product,label:team', 200",
        "GET, /v1/usage?group-by=label:colour, 400",
        "GET, /v1/usage?group-by=colour, 400",
        "GET, /v1/usage?format=xml, 400",
        "POST, /v1/usage, 405",
        "DELETE, /v1/quotas, 405",
        "GET, /v1/quotas/team-a, 404",
        "GET, /livez, 200",
        "GET, /readyz, 503",
        "GET, /metrics, 200",
        "GET, /openapi.yaml, 200",
    })
    void responseIsAsTheOpenApiDocumentSays(String method, String path, int status) throws Exception {
        HttpResponse<String> response = send(method, path);

        assertThat(response.statusCode()).isEqualTo(status);
        assertThat(contract.violations(response)).isEmpty();
        assertThat(response.body()).doesNotContain("a secret of the server");
    }

    @Test
    void usageSinceTheYearOneIsRefusedWithTheTimeSinceWhenItIsKept() throws Exception {
        HttpResponse<String> response = send("GET", "/v1/usage?from=0001-01-01T00:00:00Z");

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(contract.violations(response)).isEmpty();
        assertThat(response.body())
                .contains("from=0001-01-01T00:00:00Z is before 2026-10-18T10:00:00Z, since when intervals are kept");
    }

    @Test
    void resourceQuotasThatLimitGpusTooAreShownBesideTheQuota() throws Exception {
        HttpResponse<String> response = send("GET", "/v1/quotas");

        assertThat(response.body())
                .contains("\"resourceQuotas\":[{\"namespace\":\"train\",\"name\":\"compute\","
                        + "\"resource\":\"requests.nvidia.com/gpu\",\"hard\":\"4\",\"used\":\"1\"}]");
    }

    @Test
    void quotasThatCannotBeReadAreAProblem() throws Exception {
        quotas = CompletableFuture.failedStage(new IllegalStateException("a secret of the server"));

        HttpResponse<String> response = send("GET", "/v1/quotas");

        assertThat(response.statusCode()).isEqualTo(500);
        assertThat(contract.violations(response)).isEmpty();
        assertThat(response.body()).doesNotContain("a secret of the server");
    }

    @Test
    void answerIsBuiltByAWorkerAndNeitherByAnEventLoopNorByTheDecider() throws Exception {
        Set<String> threads = ConcurrentHashMap.newKeySet();
        quotas = CompletableFuture.completedStage(new AbstractList<>() {
            @Override
            public QuotaView get(int index) {
                threads.add(Thread.currentThread().getName());
                return new QuotaView("team-a", "Enforce", true, List.of());
            }

            @Override
            public int size() {
                return 1;
            }
        });

        assertThat(send("GET", "/v1/quotas").statusCode()).isEqualTo(200);

        assertThat(threads).isNotEmpty().allMatch(name -> name.startsWith("readers"));
    }

    @ParameterizedTest
    @CsvSource({
        "/v1/usage, Bearer nobody, 401",
        "/v1/usage, Basic YTpi, 401",
        "/v1/usage, Bearer team-a, 403",
        "/v1/usage, Bearer down, 503",
        "/v1/quotas, Bearer team-a, 403",
        "/v1/holdings, Bearer team-a, 403",
        "/v1/holdings?namespace=team-b, Bearer team-a, 403",
        "/v1/holdings?namespace=team-a, Bearer team-a, 200",
        "/metrics, Bearer nobody, 200",
    })
    void readersAreAuthorizedByTheirToken(String path, String authorization, int status) throws Exception {
        HttpResponse<String> response = send("GET", path, authorization);

        assertThat(response.statusCode()).isEqualTo(status);
        assertThat(contract.violations(response)).isEmpty();
    }

    @Test
    void usageAsCsvHasOneColumnForEachDimension() throws Exception {
        HttpResponse<String> response = send("GET", "/v1/usage?group-by=namespace&format=csv");

        assertThat(response.headers().firstValue("content-type")).contains("text/csv; charset=utf-8");
        assertThat(response.body()).isEqualTo("""
            namespace,gpuSeconds,intervals\r
            team-a,7.500,2\r
            "a ""quoted"" team, =1+1",1,1\r
            """);
    }

    @Test
    void usageAsJsonHasOneFieldForEachDimension() throws Exception {
        var usage = new JsonObject(send("GET", "/v1/usage?group-by=namespace").body()).getJsonArray("usage");

        assertThat(usage.getJsonObject(0))
                .isEqualTo(new JsonObject()
                        .put("namespace", "team-a")
                        .put("gpuSeconds", 7.5)
                        .put("intervals", 2));
    }

    @Test
    void usageByLabelsHasThemInOneFieldAndAsColumns() throws Exception {
        String path = "/v1/usage?from=2026-11-03T00:00:00Z&group-by=owner,label:team";
        var row = new JsonObject(send("GET", path).body()).getJsonArray("usage").getJsonObject(0);

        assertThat(row.getString("owner")).isEqualTo("Job/train");
        assertThat(row.getJsonObject("labels")).isEqualTo(new JsonObject().put("team", "vision"));
        assertThat(send("GET", path + "&format=csv").body()).isEqualTo("""
            owner,label:team,gpuSeconds,intervals\r
            Job/train,vision,1,1\r
            """);
    }

    @Test
    void pagesOfHoldingsTogetherAreTheWholeList() throws Exception {
        var first = send("GET", "/v1/holdings?limit=1");
        String next = new JsonObject(first.body()).getString("next");
        var last = send("GET", "/v1/holdings?limit=1&token=" + next);

        assertThat(pods(first)).isEqualTo("train");
        assertThat(contract.violations(first)).isEmpty();
        assertThat(pods(last)).isEqualTo("serve");
        assertThat(new JsonObject(last.body()).containsKey("next")).isFalse();
    }

    @Test
    void tokenOfAnotherFilterShowsNoMoreThanTheFilterAllows() throws Exception {
        String next = new JsonObject(send("GET", "/v1/holdings?limit=1").body()).getString("next");

        assertThat(pods(send("GET", "/v1/holdings?namespace=team-b&token=" + next)))
                .isEmpty();
        assertThat(pods(send("GET", "/v1/holdings?node=n1&token=" + next))).isEmpty();
    }

    private static String pods(HttpResponse<String> response) {
        return new JsonObject(response.body())
                .getJsonArray("holdings").stream()
                        .map(row -> ((JsonObject) row).getString("pod"))
                        .collect(Collectors.joining(" "));
    }

    @ParameterizedTest
    @CsvSource({
        "/v1/holdings, train serve",
        "/v1/holdings?node=n2, serve",
        "/v1/holdings?namespace=team-b, ''",
    })
    void holdingsAreFiltered(String path, String pods) throws Exception {
        assertThat(pods(send("GET", path))).isEqualTo(pods);
    }
}
