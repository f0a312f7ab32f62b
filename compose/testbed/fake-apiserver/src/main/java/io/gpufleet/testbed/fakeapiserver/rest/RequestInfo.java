package io.gpufleet.testbed.fakeapiserver.rest;

import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.GroupResource;
import io.gpufleet.testbed.fakeapiserver.store.ObjectKey;
import io.gpufleet.testbed.fakeapiserver.type.ResourceType;
import io.gpufleet.testbed.fakeapiserver.type.ResourceTypes;
import java.util.List;
import java.util.Set;

/**
 * The resource of a request path.
 *
 * @param type resource
 * @param namespace empty for cluster-wide objects, and for a collection over all namespaces
 * @param name empty for a collection
 * @param subresource empty for the object itself
 */
record RequestInfo(ResourceType type, String namespace, String name, String subresource) {
    private static final Set<String> OF_NAMESPACES = Set.of("status", "finalize");

    GroupResource resource() {
        return type.resource();
    }

    ObjectKey key() {
        return new ObjectKey(namespace, name);
    }

    boolean isStatus() {
        return subresource.equals("status");
    }

    /** From the segments after the version; 404 for resources that are not served. */
    static RequestInfo parse(ResourceTypes types, String group, String version, List<String> segments) {
        boolean inNamespace = segments.size() >= 3
                && segments.getFirst().equals("namespaces")
                && !(segments.size() == 3 && OF_NAMESPACES.contains(segments.get(2)));
        String namespace = inNamespace ? segments.get(1) : "";
        List<String> rest = inNamespace ? segments.subList(2, segments.size()) : segments;
        ResourceType type = types.find(group, version, rest.getFirst()).orElseThrow(ApiError::noSuchPath);
        if (rest.size() > 3 || type.namespaced() != inNamespace && (rest.size() > 1 || inNamespace)) {
            throw ApiError.noSuchPath();
        }
        RequestInfo target = new RequestInfo(
                type, namespace, rest.size() > 1 ? rest.get(1) : "", rest.size() > 2 ? rest.get(2) : "");
        if (!target.subresource().isEmpty() && !target.hasSubresource()) {
            throw ApiError.noSuchPath();
        }
        return target;
    }

    private boolean hasSubresource() {
        boolean ofPods = subresource.equals("eviction") || subresource.equals("binding");
        return isStatus() && type.status() || ofPods && type.isCore("pods");
    }
}
