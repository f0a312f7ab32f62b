package io.gpufleet.inventory.http;

import static io.gpufleet.inventory.model.TestNodes.a100;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static io.gpufleet.inventory.model.TestNodes.node;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gpufleet.inventory.app.FleetView;
import io.gpufleet.inventory.model.Holder;
import io.gpufleet.kit.web.Authorizer;
import io.gpufleet.kit.web.BoundHttpServer;
import io.gpufleet.kit.web.OpsRoutes;
import io.gpufleet.kit.web.RequestWorkers;
import io.gpufleet.testbed.testkit.OpenApiContract;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who may read what over HTTP. */
class ReadAccessIT {
    /** The user {@code ann} may read, and list the pods of {@code ml}; {@code root} may do everything. */
    private static final Authorizer RIGHTS = (token, request) -> switch (token) {
        case "root" -> new Authorizer.AccessResult.Allowed("root");
        case "away" -> new Authorizer.AccessResult.Unavailable("connection refused");
        case "ann", "bob" -> {
            boolean pods = request.resource().equals("pods");
            boolean allowed = pods ? request.namespace().equals("ml") : token.equals("ann");
            yield allowed
                    ? new Authorizer.AccessResult.Allowed(token)
                    : new Authorizer.AccessResult.Forbidden(token, "not allowed to " + request.verb());
        }
        default -> new Authorizer.AccessResult.Unauthenticated();
    };

    private final Vertx vertx = Vertx.vertx();
    private final HttpClient client = HttpClient.newHttpClient();
    private final RequestWorkers workers = RequestWorkers.open(vertx, "queries", 2, 9);
    private FleetStream stream;
    private BoundHttpServer server;

    @BeforeEach
    void open() {
        var view = new FleetView();
        view.commit(
                List.of(node("n1", announcement(a100(0), a100(1)))
                        .withHolders(List.of(
                                new Holder("ml", "pod-1", "main", List.of("GPU-A100-0")),
                                new Holder("secret", "pod-2", "main", List.of("GPU-A100-1"))))),
                List.of());
        Router router = Router.router(vertx);
        OpsRoutes.mount(router, List::of, List::of, () -> "up 1\n");
        new InventoryRoutes(view, workers, RIGHTS, _ -> Map.of()).mount(router);
        stream = FleetStream.open(view, () -> true, workers, vertx);
        stream.mount(router);
        server = BoundHttpServer.open(vertx, router, "127.0.0.1", 0, "GPUFLEET_HTTP_PORT");
    }

    @AfterEach
    void close() throws Exception {
        stream.close();
        server.close();
        workers.close();
        vertx.close().toCompletionStage().toCompletableFuture().get();
    }

    private HttpResponse<String> get(String path, String token) throws Exception {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path));
        if (!token.isEmpty()) {
            request.header("authorization", "Bearer " + token);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private JsonNode body(String path, String token) throws Exception {
        return new ObjectMapper().readTree(get(path, token).body());
    }

    @ParameterizedTest
    @CsvSource({
        "/v1/nodes, '', 401",
        "/v1/nodes, unknown, 401",
        "/v1/nodes, bob, 403",
        "/v1/nodes, away, 503",
        "/v1/nodes, ann, 200",
        "/v1/summary, '', 401",
        "/v1/models, bob, 403",
        "/v1/devices/GPU-A100-0, bob, 403",
        "/v1/devices/GPU-A100-0, ann, 200",
        "/v1/nodes?namespace=ml, ann, 200",
        "/v1/nodes?namespace=secret, ann, 403",
        "/livez, '', 200",
        "/metrics, '', 200",
        "/openapi.yaml, '', 200",
    })
    void requestNeedsATokenAndTheRight(String path, String token, int status) throws Exception {
        HttpResponse<String> response = get(path, token);

        assertThat(response.statusCode()).isEqualTo(status);
        assertThat(OpenApiContract.of(get("/openapi.yaml", "").body()).violations(response))
                .isEmpty();
    }

    @Test
    void everyOperationButTheProbesAndMetricsNeedsAToken() throws Exception {
        assertThat(OpenApiContract.of(get("/openapi.yaml", "").body())
                        .withoutToken(URI.create("http://127.0.0.1:" + server.port())))
                .containsExactlyInAnyOrder("GET /livez", "GET /readyz", "GET /metrics", "GET /openapi.yaml");
    }

    @Test
    void holderInANamespaceThatTheUserMayNotSeeIsMasked() throws Exception {
        JsonNode holders = body("/v1/nodes/n1", "ann").get("holders");
        assertThat(holders.get(0).get("pod").asText()).isEqualTo("pod-1");
        assertThat(holders.get(1).toString()).isEqualTo("{\"deviceIds\":[\"GPU-A100-1\"],\"masked\":true}");
        assertThat(body("/v1/devices", "ann").toString()).contains("pod-1").doesNotContain("pod-2", "secret");

        assertThat(body("/v1/nodes", "root").toString()).contains("pod-1", "pod-2");
    }
}
