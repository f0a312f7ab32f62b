package io.gpufleet.inventory.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.inventory.app.FleetView;
import io.gpufleet.kit.web.Authorizer;
import io.gpufleet.kit.web.BoundHttpServer;
import io.gpufleet.kit.web.RequestWorkers;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The page at {@code /} where reads need a token. */
class DashboardRoutesIT {
    private static final Vertx VERTX = Vertx.vertx();
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static RequestWorkers workers;
    private static BoundHttpServer server;

    @BeforeAll
    static void open() {
        Router router = Router.router(VERTX);
        workers = RequestWorkers.open(VERTX, "queries", 1, 9);
        Authorizer nobody = (_, _) -> new Authorizer.AccessResult.Unauthenticated();
        new InventoryRoutes(new FleetView(), workers, nobody, _ -> Map.of()).mount(router);
        DashboardRoutes.mount(router);
        server = BoundHttpServer.open(VERTX, router, "127.0.0.1", 0, "GPUFLEET_HTTP_PORT");
    }

    @AfterAll
    static void close() throws Exception {
        server.close();
        workers.close();
        HTTP.close();
        VERTX.close().toCompletionStage().toCompletableFuture().get();
    }

    private static HttpResponse<String> get(String path) throws Exception {
        return HTTP.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    @ParameterizedTest
    @CsvSource({"/, text/html", "/dashboard.js, text/javascript", "/dashboard.css, text/css"})
    void fileIsServedWithoutATokenAndRunsNothingButItsOwn(String path, String type) throws Exception {
        HttpResponse<String> response = get(path);

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.headers().firstValue("content-type")).hasValue(type + "; charset=utf-8");
        assertThat(response.headers().firstValue("content-security-policy").orElse(""))
                .contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'")
                .doesNotContain("unsafe");
        assertThat(get("/v1/summary").statusCode()).isEqualTo(401);
    }

    @Test
    void pageLoadsFilesOfThisServiceOnly() throws Exception {
        String page = get("/").body();

        assertThat(Pattern.compile("(?:src|href)=\"([^\"#]+)\"")
                        .matcher(page)
                        .results()
                        .map(MatchResult::group)
                        .map(reference -> reference.replaceAll(".*=\"|\"", "")))
                .containsExactlyInAnyOrder("data:,", "dashboard.css", "dashboard.js", "v1/summary");
        // A policy without 'unsafe-inline' would refuse these.
        assertThat(page).doesNotContainPattern("<style|<script>|\\son\\w+=|\\sstyle=");
    }

    /** Labels and names come from the nodes: none of them may become markup. */
    @Test
    void scriptWritesNoMarkup() throws Exception {
        assertThat(get("/dashboard.js").body())
                .doesNotContain("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(");
    }

    /** What the page names must be what the API takes. */
    @Test
    void scriptAsksForFieldsOfTheApi() throws Exception {
        String script = get("/dashboard.js").body();

        assertThat(fields(script, 0)).isSubsetOf(InventoryJson.NODE_FIELDS);
        assertThat(fields(script, 1)).isSubsetOf(InventoryJson.DEVICE_FIELDS);
    }

    private static String[] fields(String script, int list) {
        return Pattern.compile("fields: \"([^\"]+)\"")
                .matcher(script)
                .results()
                .skip(list)
                .map(match -> match.group(1).split(",", -1))
                .findFirst()
                .orElseThrow();
    }
}
