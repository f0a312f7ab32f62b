package io.gpufleet.health.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.app.IncidentStore;
import io.gpufleet.health.app.NodeStateStore;
import io.gpufleet.health.app.PodOwners;
import io.gpufleet.health.app.ShadowPolicy;
import io.gpufleet.health.config.PolicyFile;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.HealthSignal.Command;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.FaultReport;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.health.model.incident.RecordedDecision;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.kit.web.Authorizer;
import io.gpufleet.kit.web.Authorizer.AccessResult;
import io.gpufleet.kit.web.BoundHttpServer;
import io.gpufleet.kit.web.OpsRoutes;
import io.gpufleet.kit.web.RequestWorkers;
import io.gpufleet.testbed.testkit.OpenApiContract;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** REST over the loopback, compared with its OpenAPI document. */
class HealthRoutesIT {
    private static final Vertx VERTX = Vertx.vertx();
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    /** What a token is allowed; other tokens are unknown. */
    private static final Map<String, AccessResult> TOKENS = Map.of(
            "ada", new AccessResult.Allowed("ada"),
            "bob", new AccessResult.Forbidden("bob", "not allowed to do anything"),
            "expired", new AccessResult.Unauthenticated("this token has expired"),
            "down", new AccessResult.Unavailable("connection refused"),
            "without-broker", new AccessResult.Allowed("without-broker"));

    private static final Authorizer RIGHTS = (token, request) -> switch (token) {
        case "broken" -> throw new IllegalStateException("a secret of the server");
        default -> TOKENS.getOrDefault(token, new AccessResult.Unauthenticated());
    };

    private static final String MISSED = "3 events of inventory-service-0 on signals never arrived";

    private static RequestWorkers workers;
    private static Router router;
    private static BoundHttpServer server;
    private static OpenApiContract contract;

    @BeforeAll
    static void open() throws Exception {
        var store = new NodeStateStore();
        var scenario = new NodeScenario(TestPolicies.standard())
                .announced("gpu-0", "gpu-1")
                .xid("gpu-0", 79)
                .xid("", 74)
                .command(Command.QUARANTINE, "gpu-1")
                .command(Command.QUARANTINE, "")
                .taintRemoved();
        var healthy = new NodeScenario(TestPolicies.standard()).announced("gpu-2");
        var silent = new NodeScenario("node-3", TestPolicies.standard()).announced("gpu-3");
        silent.handle(new HealthSignal.DaemonSilence(silent.nextMetadata(), true));
        var maintained = new NodeScenario("node-4", TestPolicies.standard())
                .nodeObserved("uid-4")
                .announced("gpu-4")
                .command(Command.BEGIN_MAINTENANCE, "");
        store.committed(
                Map.of(
                        "node-1",
                        scenario.state(),
                        "node-2",
                        healthy.state(),
                        "node-3",
                        silent.state(),
                        "node-4",
                        maintained.state()),
                Set.of());
        workers = RequestWorkers.open(VERTX, "requests", 2, 9);
        router = Router.router(VERTX);
        OpsRoutes.mount(router, List::of, () -> List.of("the projection is being read"), () -> "up 1\n");
        var sources = new HealthRoutes.Sources(
                store,
                incidents(scenario),
                new PodOwners(),
                _ -> "as desired",
                "node-1"::equals,
                () -> List.of(MISSED),
                shadow());
        new HealthRoutes(
                        sources,
                        issued -> issued.user().equals("ada")
                                ? CompletableFuture.completedFuture(null)
                                : CompletableFuture.failedFuture(new IllegalStateException("no broker")),
                        new HealthRoutes.Access(RIGHTS, RIGHTS, workers),
                        Clock.systemUTC())
                .mount(router);
        server = BoundHttpServer.open(VERTX, router, "127.0.0.1", 0, "GPUFLEET_HTTP_PORT");
        contract = OpenApiContract.of(send("GET", "/openapi.yaml", "", "").body());
    }

    private static IncidentStore incidents(NodeScenario scenario) {
        var incidents = new IncidentStore();
        scenario.results().stream()
                .flatMap(result -> result.decisions().stream())
                .forEach(decision -> incidents.add(new RecordedDecision(
                        "decision-" + decision.hashCode(), "node-1", NodeScenario.START, decision)));
        return incidents;
    }

    private static ShadowPolicy shadow() {
        var strict = new HealthMachine(PolicyFile.load("aggressive"), Duration.ofMinutes(10));
        var lax = new HealthMachine(PolicyFile.load("conservative"), Duration.ofMinutes(10));
        var shadow = new ShadowPolicy(
                new ShadowPolicy.Sources(() -> lax, () -> strict, () -> DisruptionBudgets.NONE, Map::of));
        shadow.begin(NodeScenario.START);
        shadow.loaded();
        for (int xid : List.of(31, 48, 63, 74, 79, 94, 95)) {
            shadow.signal(
                    "node-1",
                    new HealthSignal.FaultObserved(
                            new HealthSignal.EventMetadata("fault-" + xid, NodeScenario.START, Duration.ZERO),
                            NodeScenario.INCARNATION,
                            new HealthSignal.ReportedFault(
                                    "gpu-0", "H100", FaultCode.xid(xid), FaultReport.of(RecoveryAction.NONE)),
                            "",
                            List.of()));
        }
        return shadow;
    }

    @Test
    void eventsOfServicesThatNeverArrivedAreInTheExplanationOfANode() throws Exception {
        JsonObject why =
                new JsonObject(send("GET", "/v1/nodes/node-2/why", "ada", "").body());

        assertThat(why.getJsonArray("missedFromServices")).containsExactly(MISSED);
    }

    @Test
    void differencesOfTheShadowPolicyAreInTheExplanationOfTheNode() throws Exception {
        JsonObject why =
                new JsonObject(send("GET", "/v1/nodes/node-1/why", "ada", "").body());
        JsonObject all = new JsonObject(send("GET", "/v1/shadow", "ada", "").body());

        assertThat(why.getJsonArray("shadow")).isNotEmpty().hasSizeLessThanOrEqualTo(5);
        assertThat(all.getJsonArray("differences").getJsonObject(0))
                .isEqualTo(why.getJsonArray("shadow").getJsonObject(0));
    }

    @AfterAll
    static void close() throws Exception {
        CLIENT.close();
        server.close();
        workers.close();
        VERTX.close().toCompletionStage().toCompletableFuture().get();
    }

    private static HttpResponse<String> send(String method, String path, String token, String body) throws Exception {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        if (!token.isEmpty()) {
            request.header("authorization", "Bearer " + token);
        }
        return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void routesAndOpenApiHaveTheSameOperations() {
        assertThat(OpenApiContract.routes(router))
                .isEqualTo(contract.operations())
                .hasSize(20);
    }

    @Test
    void everyOperationButTheProbesAndMetricsNeedsAToken() throws Exception {
        assertThat(contract.withoutToken(URI.create("http://127.0.0.1:" + server.port())))
                .containsExactlyInAnyOrder("GET /livez", "GET /readyz", "GET /metrics", "GET /openapi.yaml");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "GET    | /v1/nodes/node-1/why            | ada            |                   | 200",
                "GET    | /v1/nodes/node-2/why            | ada            |                   | 200",
                "GET    | /v1/nodes/none/why              | ada            |                   | 404",
                "GET    | /v1/nodes/node-1/why?verbose=1  | ada            |                   | 400",
                "GET    | /v1/nodes/node-1/why            |                |                   | 401",
                "GET    | /v1/nodes/node-1/why            | unknown        |                   | 401",
                "GET    | /v1/nodes/node-1/why            | bob            |                   | 403",
                "GET    | /v1/nodes/node-1/why            | broken         |                   | 500",
                "GET    | /v1/nodes/node-1/why            | down           |                   | 503",
                "GET    | /v1/incidents                  | ada            |                   | 200",
                "GET    | /v1/incidents?node=node-1&open=true&limit=1 | ada |               | 200",
                "GET    | /v1/incidents?limit=0          | ada            |                   | 400",
                "GET    | /v1/incidents?open=maybe       | ada            |                   | 400",
                "GET    | /v1/incidents?from=7d          | ada            |                   | 400",
                "GET    | /v1/incidents                  |                |                   | 401",
                "GET    | /v1/shadow                     | ada            |                   | 200",
                "GET    | /v1/shadow?limit=1             | ada            |                   | 200",
                "GET    | /v1/shadow?limit=501           | ada            |                   | 400",
                "GET    | /v1/shadow?node=node-1         | ada            |                   | 400",
                "GET    | /v1/shadow                     |                |                   | 401",
                "GET    | /v1/shadow                     | bob            |                   | 403",
                "GET    | /v1/incidents                  | bob            |                   | 403",
                "GET    | /v1/devices/gpu-0/timeline     | ada            |                   | 200",
                "GET    | /v1/devices/gpu-2/timeline     | ada            |                   | 200",
                "GET    | /v1/devices/none/timeline      | ada            |                   | 404",
                "GET    | /v1/devices/gpu-0/timeline?a=b | ada            |                   | 400",
                "GET    | /v1/devices/gpu-0/timeline     | bob            |                   | 403",
                "GET    | /v1/nodes/node-3/why           | ada            |                   | 200",
                "GET    | /v2                             |                |                   | 404",
                "DELETE | /v1/nodes/node-1/why            |                |                   | 405",
                "GET    | /v1/nodes/node-1/quarantine     | ada            |                   | 405",
                "POST   | /v1/nodes/node-2/quarantine     | ada            | {\"reason\":\"a\"} | 202",
                "POST   | /v1/nodes/node-1/release        | ada            | {\"reason\":\"a\"} | 202",
                "POST   | /v1/devices/gpu-2/quarantine    | ada            | {\"reason\":\"a\"} | 202",
                "POST   | /v1/devices/gpu-1/release       | ada            | {\"reason\":\"a\"} | 202",
                "POST   | /v1/devices/gpu-1/retire        | ada            | {\"reason\":\"a\"} | 202",
                "POST   | /v1/devices/gpu-0/clear         | ada            | {\"reason\":\"a\"} | 202",
                "POST   | /v1/nodes/node-1/forget         | ada            | {\"reason\":\"a\"} | 202",
                "POST   | /v1/nodes/node-2/begin-maintenance | ada         | {\"reason\":\"a\"} | 202",
                "POST   | /v1/nodes/node-4/end-maintenance | ada           | {\"reason\":\"a\"} | 202",
                "POST   | /v1/nodes/node-4/forget         | ada            | {\"reason\":\"a\"} | 409",
                "POST   | /v1/nodes/node-4/begin-maintenance | ada         | {\"reason\":\"a\"} | 409",
                "POST   | /v1/nodes/node-2/end-maintenance | ada           | {\"reason\":\"a\"} | 409",
                "POST   | /v1/nodes/node-1/forget         | bob            | {\"reason\":\"a\"} | 403",
                "POST   | /v1/nodes/none/forget           | ada            | {\"reason\":\"a\"} | 404",
                "POST   | /v1/brake/reset                 | ada            | {\"reason\":\"a\"} | 202",
                "POST   | /v1/freeze                      | ada            | {\"reason\":\"a\"} | 202",
                "POST   | /v1/unfreeze                    | ada            | {\"reason\":\"a\"} | 409",
                "POST   | /v1/brake/reset                 | bob            | {\"reason\":\"a\"} | 403",
                "GET    | /v1/nodes/%2Ffleet/why          | ada            |                   | 404",
                "POST   | /v1/nodes/node-1/quarantine     | ada            | {\"reason\":\"a\"} | 409",
                "POST   | /v1/nodes/node-2/release        | ada            | {\"reason\":\"a\"} | 409",
                "POST   | /v1/devices/gpu-1/quarantine    | ada            | {\"reason\":\"a\"} | 409",
                "POST   | /v1/devices/gpu-2/release       | ada            | {\"reason\":\"a\"} | 409",
                "POST   | /v1/devices/gpu-2/retire        | ada            | {\"reason\":\"a\"} | 409",
                "POST   | /v1/devices/gpu-2/clear         | ada            | {\"reason\":\"a\"} | 409",
                "POST   | /v1/nodes/none/quarantine       | ada            | {\"reason\":\"a\"} | 404",
                "POST   | /v1/devices/none/retire         | ada            | {\"reason\":\"a\"} | 404",
                "POST   | /v1/nodes/node-1/retire         | ada            | {\"reason\":\"a\"} | 404",
                "POST   | /v1/nodes/node-1/quarantine?a=b | ada            | {\"reason\":\"a\"} | 400",
                "POST   | /v1/nodes/node-1/quarantine     | ada            |                   | 400",
                "POST   | /v1/nodes/node-1/quarantine     | ada            | [1]               | 400",
                "POST   | /v1/nodes/node-1/quarantine     | ada            | {\"reason\":5}     | 400",
                "POST   | /v1/nodes/node-1/quarantine     | ada            | {\"reason\":\" \"} | 400",
                "POST   | /v1/nodes/node-1/quarantine     | ada            | {                 | 400",
                "POST   | /v1/nodes/node-1/quarantine     |                | {\"reason\":\"a\"} | 401",
                "POST   | /v1/nodes/node-1/quarantine     | unknown        | {\"reason\":\"a\"} | 401",
                "POST   | /v1/nodes/node-1/quarantine     | bob            | {\"reason\":\"a\"} | 403",
                "POST   | /v1/nodes/node-1/quarantine     | broken         | {\"reason\":\"a\"} | 500",
                "POST   | /v1/nodes/node-1/quarantine     | down           | {\"reason\":\"a\"} | 503",
                "POST   | /v1/nodes/node-2/quarantine     | without-broker | {\"reason\":\"a\"} | 503",
                "GET    | /livez                          |                |                   | 200",
                "GET    | /readyz                         |                |                   | 503",
                "GET    | /metrics                        |                |                   | 200",
                "GET    | /openapi.yaml                   |                |                   | 200",
            })
    void responseIsAsTheOpenApiDocumentSays(String method, String path, String token, String body, int status)
            throws Exception {
        HttpResponse<String> response = send(method, path, token == null ? "" : token, body == null ? "" : body);

        assertThat(response.statusCode()).isEqualTo(status);
        assertThat(contract.violations(response)).isEmpty();
        assertThat(response.body()).doesNotContain("a secret of the server");
    }

    @Test
    void bodyThatIsTooLongIsAProblem() throws Exception {
        HttpResponse<String> response =
                send("POST", "/v1/nodes/node-1/quarantine", "ada", "{\"reason\":\"" + "a".repeat(9_000) + "\"}");

        assertThat(response.statusCode()).isEqualTo(413);
        assertThat(contract.violations(response)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\\nb", "a\\r", "\\u001b[31mred", "\\u0000", "\\u202egnp", "\\u2028"})
    void reasonThatIsNotOneLineOfTextIsRefused(String reason) throws Exception {
        HttpResponse<String> response =
                send("POST", "/v1/nodes/node-2/quarantine", "ada", "{\"reason\":\"" + reason + "\"}");

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).contains("one line");
        assertThat(contract.violations(response)).isEmpty();
    }

    @Test
    void unauthenticatedRequestIsToldTheScheme() throws Exception {
        assertThat(send("POST", "/v1/nodes/node-1/quarantine", "", "{}")
                        .headers()
                        .firstValue("www-authenticate"))
                .contains("Bearer");
    }

    @Test
    void expiredTokenIsToldFromAnUnknownOne() throws Exception {
        for (String path : List.of("/v1/nodes/node-1/why", "/v1/incidents")) {
            assertThat(detail(send("GET", path, "expired", ""))).isEqualTo("this token has expired");
            assertThat(detail(send("GET", path, "unknown", ""))).isEqualTo("the API server does not know this token");
        }
        assertThat(detail(send("POST", "/v1/nodes/node-1/quarantine", "expired", "{\"reason\":\"a\"}")))
                .isEqualTo("this token has expired");
    }

    private static String detail(HttpResponse<String> response) {
        assertThat(response.statusCode()).isEqualTo(401);
        assertThat(contract.violations(response)).isEmpty();
        return new JsonObject(response.body()).getString("detail");
    }

    @Test
    void methodThatIsNotAllowedIsToldTheAllowedOnes() throws Exception {
        assertThat(send("DELETE", "/v1/nodes/node-1/why", "", "").headers().firstValue("allow"))
                .contains("GET");
    }
}
