package io.gpufleet.allocation.http;

import io.gpufleet.kit.web.Authorizer;
import io.gpufleet.kit.web.Authorizer.AccessRequest;
import io.gpufleet.kit.web.BearerAuthorization;
import io.gpufleet.kit.web.QueryParameters;
import io.gpufleet.kit.web.RequestWorkers;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;

/**
 * Access to {@code /v1/…}: who may list holdings (for quotas, too) or usage of the API group gpufleet.io; holdings of
 * one namespace need the right in that namespace only.
 */
final class ReadAccess {
    private static final String GROUP = "gpufleet.io";

    private ReadAccess() {}

    /** Refuses requests without the right; to be mounted before the routes. */
    static void mount(Router router, Authorizer authorizer, RequestWorkers workers) {
        router.route("/v1/*").handler(new BearerAuthorization(authorizer, workers, ReadAccess::request));
    }

    private static AccessRequest request(RoutingContext context) {
        String[] path = context.normalizedPath().split("/", 4);
        return switch (path[2]) {
            case "holdings" -> list("holdings", QueryParameters.get(context, "namespace"));
            case "usage" -> list("usage", "");
            // Quotas name their holders.
            default -> list("holdings", "");
        };
    }

    private static AccessRequest list(String resource, String namespace) {
        return new AccessRequest(GROUP, resource, "list", namespace, "");
    }
}
