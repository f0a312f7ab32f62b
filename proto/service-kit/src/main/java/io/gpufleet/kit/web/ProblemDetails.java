package io.gpufleet.kit.web;

import io.vertx.core.http.HttpMethod;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Error responses as problem details (RFC 9457). */
public final class ProblemDetails {
    private static final Logger LOG = LoggerFactory.getLogger(ProblemDetails.class);

    private ProblemDetails() {}

    /** Makes a problem of every error for which no handler ends the request. */
    public static void mount(Router router) {
        IntStream.range(400, 600)
                .filter(status -> status != 405)
                .forEach(status ->
                        router.errorHandler(status, context -> respond(context, status, detail(context, status))));
        router.errorHandler(405, context -> methodNotAllowed(context, router));
    }

    /** RFC 9110 asks for the allowed methods. */
    private static void methodNotAllowed(RoutingContext context, Router router) {
        String path = context.normalizedPath();
        String allowed = router.getRoutes().stream()
                .filter(route ->
                        route.methods() != null && path.matches(route.getName().replaceAll(":\\w+", "[^/]+")))
                .flatMap(route -> route.methods().stream())
                .map(HttpMethod::name)
                .distinct()
                .sorted()
                .collect(Collectors.joining(", "));
        context.response().putHeader("allow", allowed);
        respond(context, 405, path + " has no " + context.request().method() + "; allowed: " + allowed);
    }

    private static String detail(RoutingContext context, int status) {
        String path = context.normalizedPath();
        if (status >= 500) {
            LOG.atError()
                    .setCause(context.failure())
                    .addKeyValue("path", path)
                    .addKeyValue("status", status)
                    .log("request failed");
        }
        return switch (status) {
            case 400 -> "the path or the body cannot be read; /openapi.yaml lists the paths";
            case 404 -> "no such path " + path + "; /openapi.yaml lists the paths";
            case 413 -> "the body is too long; /openapi.yaml has its form";
            default ->
                status >= 500
                        ? "internal error; the log of this replica has the cause"
                        : context.response().setStatusCode(status).getStatusMessage();
        };
    }

    /**
     * Ends a request whose work on {@link RequestWorkers} failed: too many waiting requests are the client's to repeat, the
     * cause of anything else is for the log only.
     */
    public static void failed(RoutingContext context, Throwable failure) {
        if (failure instanceof RejectedExecutionException busy) {
            context.response().putHeader("retry-after", "1");
            respond(context, 503, String.valueOf(busy.getMessage()));
        } else {
            context.fail(failure);
        }
    }

    /** Ends the request with a status and a detail that names the remedy. */
    public static void respond(RoutingContext context, int status, String detail) {
        var response = context.response().setStatusCode(status);
        response.putHeader("content-type", "application/problem+json")
                .end(new JsonObject()
                        .put("type", "about:blank")
                        .put("title", response.getStatusMessage())
                        .put("status", status)
                        .put("detail", detail)
                        .encode());
    }
}
