package io.gpufleet.kit.web;

import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;

/** Error responses as problem details (RFC 9457). */
public final class ProblemDetails {
    private ProblemDetails() {}

    /** Ends the request with a status, a short title and a detail that names the remedy. */
    public static void respond(RoutingContext context, int status, String title, String detail) {
        context.response()
                .setStatusCode(status)
                .putHeader("content-type", "application/problem+json")
                .end(new JsonObject()
                        .put("type", "about:blank")
                        .put("title", title)
                        .put("status", status)
                        .put("detail", detail)
                        .encode());
    }
}
