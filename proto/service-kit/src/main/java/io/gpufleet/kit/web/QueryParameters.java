package io.gpufleet.kit.web;

import io.vertx.ext.web.RoutingContext;
import java.util.Set;
import java.util.TreeSet;

/** Query parameters of a request: a misspelt one is refused, since its filter would be ignored silently. */
public final class QueryParameters {
    private QueryParameters() {}

    /** True when the request has these parameters only, each at most once; else it has been answered with status 400. */
    public static boolean accept(RoutingContext context, Set<String> known) {
        for (String given : context.queryParams().names()) {
            if (!known.contains(given)) {
                ProblemDetails.respond(
                        context,
                        400,
                        "unknown query parameter '" + given + "'; known: "
                                + (known.isEmpty() ? "none" : String.join(", ", new TreeSet<>(known))));
                return false;
            }
            if (context.queryParams().getAll(given).size() > 1) {
                ProblemDetails.respond(context, 400, "query parameter '" + given + "' is given more than once");
                return false;
            }
        }
        return true;
    }

    /** The value of a parameter; empty when it is not given. */
    public static String get(RoutingContext context, String name) {
        String value = context.queryParams().get(name);
        return value == null ? "" : value;
    }
}
