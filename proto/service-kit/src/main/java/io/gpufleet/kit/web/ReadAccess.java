package io.gpufleet.kit.web;

import io.gpufleet.kit.web.Authorizer.AccessRequest;
import io.vertx.ext.web.RoutingContext;
import java.util.Optional;

/** Access to {@code GET /v1/…}: whoever may list or get nodes and devices of an API group. */
public final class ReadAccess {
    private final String group;

    private ReadAccess(String group) {
        this.group = group;
    }

    /** Refuses requests without the right; to be mounted before the routes. */
    public static BearerAuthorization of(String group, Authorizer authorizer, RequestWorkers workers) {
        return new BearerAuthorization(authorizer, workers, new ReadAccess(group)::request);
    }

    private AccessRequest request(RoutingContext context) {
        String[] path = context.normalizedPath().split("/", 5);
        String resource = path.length > 2 && path[2].equals("devices") ? "devices" : "nodes";
        Optional<String> name = path.length > 3 ? Optional.of(path[3]).filter(it -> !it.isEmpty()) : Optional.empty();
        return new AccessRequest(group, resource, name.isPresent() ? "get" : "list", "", name.orElse(""));
    }
}
