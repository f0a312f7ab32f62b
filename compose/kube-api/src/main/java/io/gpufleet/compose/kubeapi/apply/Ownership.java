package io.gpufleet.compose.kubeapi.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.compose.kubeapi.object.Json;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The managedFields of one object while a write is worked out. */
final class Ownership {
    private static final Set<List<String>> NOT_OWNED = Set.of(
            List.of("f:apiVersion"),
            List.of("f:kind"),
            List.of("f:metadata", "f:name"),
            List.of("f:metadata", "f:generateName"),
            List.of("f:metadata", "f:namespace"),
            List.of("f:metadata", "f:creationTimestamp"),
            List.of("f:metadata", "f:deletionTimestamp"),
            List.of("f:metadata", "f:deletionGracePeriodSeconds"),
            List.of("f:metadata", "f:selfLink"),
            List.of("f:metadata", "f:uid"),
            List.of("f:metadata", "f:generation"),
            List.of("f:metadata", "f:resourceVersion"));

    private final Map<Writer, Set<List<String>>> sets = new LinkedHashMap<>();
    private final Map<Writer, String> times = new LinkedHashMap<>();

    static Ownership of(JsonNode object) {
        Ownership ownership = new Ownership();
        for (JsonNode entry : object.path("metadata").path("managedFields")) {
            Writer writer = new Writer(
                    Json.text(entry, "manager"),
                    Json.text(entry, "operation"),
                    Json.text(entry, "subresource"),
                    Json.text(entry, "apiVersion"));
            ownership.sets.put(writer, FieldPaths.read(entry.path("fieldsV1")));
            ownership.times.put(writer, Json.text(entry, "time"));
        }
        return ownership;
    }

    /** Whether a path is anybody's at all: identity and what the server keeps are not. */
    static boolean ownable(List<String> path) {
        return !NOT_OWNED.contains(path) && !(path.size() > 1 && path.get(1).equals("f:managedFields"));
    }

    /** What somebody owned by an earlier apply, whatever version it was written in. */
    Set<List<String>> appliedBefore(Writer writer) {
        Set<List<String>> owned = new HashSet<>();
        sets.forEach((other, paths) -> {
            if (sameApplier(writer, other)) {
                owned.addAll(paths);
            }
        });
        return owned;
    }

    boolean isEmpty() {
        return sets.isEmpty();
    }

    /** The others who own a path. */
    Map<Writer, Set<List<String>>> others(Writer writer) {
        Map<Writer, Set<List<String>>> others = new LinkedHashMap<>(sets);
        others.keySet().removeIf(other -> other.equals(writer) || sameApplier(writer, other));
        return others;
    }

    String time(Writer writer) {
        return times.getOrDefault(writer, "");
    }

    /** Everybody but one loses paths. */
    void takeFromOthers(Writer writer, Set<List<String>> paths) {
        others(writer).keySet().forEach(other -> {
            Set<List<String>> left = new HashSet<>(sets.getOrDefault(other, Set.of()));
            if (left.removeAll(paths)) {
                put(other, left, time(other));
            }
        });
    }

    Optional<Set<List<String>>> set(Writer writer) {
        return Optional.ofNullable(sets.get(writer));
    }

    /** Sets what one owns; owning nothing removes the entry. */
    void put(Writer writer, Set<List<String>> paths, String time) {
        if (writer.applies()) {
            sets.keySet().removeIf(other -> !other.equals(writer) && sameApplier(writer, other));
        }
        if (paths.isEmpty()) {
            sets.remove(writer);
        } else {
            Set<List<String>> old = sets.put(writer, paths);
            if (!paths.equals(old) || !times.containsKey(writer)) {
                times.put(writer, time);
            }
        }
    }

    /** Whether both say the same of everybody, times aside. */
    boolean sameAs(Ownership other) {
        return sets.equals(other.sets);
    }

    void writeTo(ObjectNode object) {
        ObjectNode metadata = Json.dig(object, "metadata");
        metadata.remove("managedFields");
        if (sets.isEmpty()) {
            return;
        }
        ArrayNode entries = metadata.putArray("managedFields");
        sets.forEach((writer, paths) -> {
            ObjectNode entry = entries.addObject()
                    .put("manager", writer.name())
                    .put("operation", writer.operation())
                    .put("apiVersion", writer.apiVersion())
                    .put("time", time(writer))
                    .put("fieldsType", "FieldsV1");
            entry.set("fieldsV1", FieldPaths.write(paths));
            if (!writer.subresource().isEmpty()) {
                entry.put("subresource", writer.subresource());
            }
        });
    }

    private static boolean sameApplier(Writer a, Writer b) {
        return a.applies()
                && b.applies()
                && a.name().equals(b.name())
                && a.subresource().equals(b.subresource());
    }
}
