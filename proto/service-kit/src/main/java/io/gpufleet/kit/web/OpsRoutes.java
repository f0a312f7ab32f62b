package io.gpufleet.kit.web;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import java.util.function.Supplier;

/** {@code /livez}, {@code /readyz} with its checks, and {@code /metrics} of a process. */
public final class OpsRoutes {
    private OpsRoutes() {}

    /**
     * Mounts the three routes.
     *
     * @param livenessFailures reasons why the process should be restarted; empty when it is alive
     * @param readinessFailures reasons why it should not receive work yet; empty when it is ready
     * @param metrics metrics in Prometheus text format, called on a worker thread
     */
    public static void mount(
            Router router,
            Supplier<List<String>> livenessFailures,
            Supplier<List<String>> readinessFailures,
            Supplier<String> metrics) {
        router.get("/livez").handler(context -> respond(context, livenessFailures.get()));
        router.get("/readyz").handler(context -> respond(context, readinessFailures.get()));
        router.get("/metrics")
                .handler(context -> context.vertx()
                        .executeBlocking(metrics::get, false)
                        .onSuccess(page -> context.response()
                                .putHeader("content-type", "text/plain; version=0.0.4; charset=utf-8")
                                .end(page))
                        .onFailure(context::fail));
    }

    /**
     * Mounts one check of its own below {@code /readyz}, for a probe that is about a part of the work.
     *
     * @param failures reasons why the process should not receive that work; empty when it is ready for it
     */
    public static void mountCheck(Router router, String name, Supplier<List<String>> failures) {
        router.get("/readyz/" + name).handler(context -> respond(context, failures.get()));
    }

    private static void respond(RoutingContext context, List<String> reasons) {
        var body = new JsonObject().put("ok", reasons.isEmpty()).put("reasons", new JsonArray(reasons));
        context.response()
                .setStatusCode(reasons.isEmpty() ? 200 : 503)
                .putHeader("content-type", "application/json")
                .end(body.encode());
    }
}
