package io.gpufleet.inventory.http;

import io.gpufleet.kit.web.Authorizer;
import io.gpufleet.kit.web.Authorizer.AccessRequest;
import io.gpufleet.kit.web.BearerAuthorization;
import io.gpufleet.kit.web.RequestWorkers;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.Optional;

/** Access to {@code /v1/…}: who may list or get nodes and devices of the API group gpufleet.io. */
final class ReadAccess {
    private static final String GROUP = "gpufleet.io";

    private ReadAccess() {}

    /** Refuses requests without the right; to be mounted before the routes. */
    static void mount(Router router, Authorizer authorizer, RequestWorkers workers) {
        router.route("/v1/*").handler(new BearerAuthorization(authorizer, workers, ReadAccess::request));
    }

    private static AccessRequest request(RoutingContext context) {
        String[] path = context.normalizedPath().split("/", 5);
        String resource = path.length > 2 && path[2].equals("devices") ? "devices" : "nodes";
        Optional<String> name = path.length > 3 ? Optional.of(path[3]).filter(it -> !it.isEmpty()) : Optional.empty();
        return new AccessRequest(GROUP, resource, name.isPresent() ? "get" : "list", "", name.orElse(""));
    }
}
