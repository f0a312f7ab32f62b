package io.gpufleet.compose.kubeapi.store;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpufleet.compose.kubeapi.object.Json;
import java.util.Comparator;

/**
 * Where an object lies within its resource; ordered as lists are.
 *
 * @param namespace empty for cluster-wide objects
 * @param name unique within the namespace
 */
public record Key(String namespace, String name) implements Comparable<Key> {
    private static final Comparator<Key> ORDER =
            Comparator.comparing(Key::namespace).thenComparing(Key::name);

    /** Of an object that carries both. */
    public static Key of(JsonNode object) {
        return new Key(Json.namespace(object), Json.name(object));
    }

    @Override
    public int compareTo(Key other) {
        return ORDER.compare(this, other);
    }
}
