package io.gpufleet.kit.web;

import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;

/** RFC 9457 answers. */
public final class Problem {
    private Problem() {}

    /** Ends the request with a status, a short title and a detail that says what to do. */
    public static void answer(RoutingContext context, int status, String title, String detail) {
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
