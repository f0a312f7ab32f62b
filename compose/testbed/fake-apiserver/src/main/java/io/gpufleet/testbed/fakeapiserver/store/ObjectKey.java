package io.gpufleet.testbed.fakeapiserver.store;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import java.util.Comparator;

/**
 * The key of an object within its resource, in the order of lists.
 *
 * @param namespace empty for cluster-wide objects
 * @param name unique within the namespace
 */
public record ObjectKey(String namespace, String name) implements Comparable<ObjectKey> {
    private static final Comparator<ObjectKey> ORDER =
            Comparator.comparing(ObjectKey::namespace).thenComparing(ObjectKey::name);

    /** The key of an object. */
    public static ObjectKey of(JsonNode object) {
        return new ObjectKey(Json.namespace(object), Json.name(object));
    }

    @Override
    public int compareTo(ObjectKey other) {
        return ORDER.compare(this, other);
    }
}
