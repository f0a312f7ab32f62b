package io.gpufleet.kit.web;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import java.util.function.Supplier;

/** {@code /livez}, {@code /readyz} and {@code /metrics} of a process. */
public final class OpsRoutes {
    private OpsRoutes() {}

    /**
     * Mounts the three.
     *
     * @param notAlive reasons why the process should be started anew; empty when it lives
     * @param notReady reasons why it should not get work yet; empty when it is ready
     * @param metrics the metrics in Prometheus' text format
     */
    public static void mount(
            Router router, Supplier<List<String>> notAlive, Supplier<List<String>> notReady, Supplier<String> metrics) {
        router.get("/livez").handler(context -> answer(context, notAlive.get()));
        router.get("/readyz").handler(context -> answer(context, notReady.get()));
        router.get("/metrics")
                .handler(context -> context.response()
                        .putHeader("content-type", "text/plain; version=0.0.4; charset=utf-8")
                        .end(metrics.get()));
    }

    private static void answer(RoutingContext context, List<String> reasons) {
        var body = new JsonObject().put("ok", reasons.isEmpty()).put("reasons", new JsonArray(reasons));
        context.response()
                .setStatusCode(reasons.isEmpty() ? 200 : 503)
                .putHeader("content-type", "application/json")
                .end(body.encode());
    }
}
