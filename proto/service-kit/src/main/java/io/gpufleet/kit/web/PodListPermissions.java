package io.gpufleet.kit.web;

import io.gpufleet.kit.web.Authorizer.AccessRequest;
import io.gpufleet.kit.web.Authorizer.AccessResult;
import io.vertx.ext.web.RoutingContext;
import java.util.HashMap;
import java.util.Map;

/** Namespaces whose pods the user of one request may list. Asks for each namespace once, and blocks while it asks. */
public final class PodListPermissions {
    private final Authorizer authorizer;
    private final String token;
    private final Map<String, Boolean> visible = new HashMap<>();

    private PodListPermissions(Authorizer authorizer, String token) {
        this.authorizer = authorizer;
        this.token = token;
    }

    /** The access of the bearer of a request. */
    public static PodListPermissions of(RoutingContext context, Authorizer authorizer) {
        return new PodListPermissions(
                authorizer, BearerAuthorization.token(context.request().getHeader("authorization")));
    }

    /** Whether the pods of a namespace may be named; one right for all namespaces is enough. */
    public boolean sees(String namespace) {
        return mayListPods("") || mayListPods(namespace);
    }

    private boolean mayListPods(String namespace) {
        return visible.computeIfAbsent(
                namespace,
                name -> authorizer.authorize(token, new AccessRequest("", "pods", "list", name, ""))
                        instanceof AccessResult.Allowed);
    }
}
