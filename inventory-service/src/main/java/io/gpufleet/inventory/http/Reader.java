package io.gpufleet.inventory.http;

import io.gpufleet.inventory.model.Holder;
import io.gpufleet.kit.web.Authorizer;
import io.gpufleet.kit.web.Authorizer.AccessRequest;
import io.gpufleet.kit.web.Authorizer.AccessResult;
import java.util.HashMap;
import java.util.Map;

/**
 * What one request may see: the holders in the namespaces whose pods its user may list. Asks for each namespace once, and
 * blocks while it asks.
 */
final class Reader {
    private final Authorizer authorizer;
    private final String token;
    private final Map<String, Boolean> visible = new HashMap<>();

    Reader(Authorizer authorizer, String token) {
        this.authorizer = authorizer;
        this.token = token;
    }

    /** Whether the pods of a namespace may be named; one right for all namespaces is enough. */
    boolean sees(String namespace) {
        return mayListPods("") || mayListPods(namespace);
    }

    boolean sees(Holder holder) {
        return sees(holder.namespace());
    }

    private boolean mayListPods(String namespace) {
        return visible.computeIfAbsent(
                namespace,
                name -> authorizer.authorize(token, new AccessRequest("", "pods", "list", name, ""))
                        instanceof AccessResult.Allowed);
    }
}
