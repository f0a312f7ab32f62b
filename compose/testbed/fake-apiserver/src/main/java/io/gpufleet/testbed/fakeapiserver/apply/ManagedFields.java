package io.gpufleet.testbed.fakeapiserver.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The managedFields of one object during a write. */
final class ManagedFields {
    private static final Set<List<String>> NEVER_OWNED = Set.of(
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

    private final Map<FieldOwner, Set<List<String>>> fieldSets = new LinkedHashMap<>();
    private final Map<FieldOwner, String> times = new LinkedHashMap<>();

    static ManagedFields of(JsonNode object) {
        ManagedFields ownership = new ManagedFields();
        for (JsonNode entry : object.path("metadata").path("managedFields")) {
            FieldOwner writer = new FieldOwner(
                    Json.text(entry, "manager"),
                    Json.text(entry, "operation"),
                    Json.text(entry, "subresource"),
                    Json.text(entry, "apiVersion"));
            ownership.fieldSets.put(writer, FieldPaths.read(entry.path("fieldsV1")));
            ownership.times.put(writer, Json.text(entry, "time"));
        }
        return ownership;
    }

    /** True when a path can be owned: not the identity of the object and not what the server sets. */
    static boolean isOwnable(List<String> path) {
        return !NEVER_OWNED.contains(path) && !(path.size() > 1 && path.get(1).equals("f:managedFields"));
    }

    /** The paths of a manager from earlier applies, in any version. */
    Set<List<String>> appliedBefore(FieldOwner writer) {
        Set<List<String>> owned = new HashSet<>();
        fieldSets.forEach((other, paths) -> {
            if (sameApplier(writer, other)) {
                owned.addAll(paths);
            }
        });
        return owned;
    }

    boolean isEmpty() {
        return fieldSets.isEmpty();
    }

    /** The other owners of a path. */
    Map<FieldOwner, Set<List<String>>> others(FieldOwner writer) {
        Map<FieldOwner, Set<List<String>>> others = new LinkedHashMap<>(fieldSets);
        others.keySet().removeIf(other -> other.equals(writer) || sameApplier(writer, other));
        return others;
    }

    String time(FieldOwner writer) {
        return times.getOrDefault(writer, "");
    }

    /** Removes paths from all owners but one. */
    void removeFromOthers(FieldOwner writer, Set<List<String>> paths) {
        others(writer).keySet().forEach(other -> {
            Set<List<String>> left = new HashSet<>(fieldSets.getOrDefault(other, Set.of()));
            if (left.removeAll(paths)) {
                put(other, left, time(other));
            }
        });
    }

    Optional<Set<List<String>>> set(FieldOwner writer) {
        return Optional.ofNullable(fieldSets.get(writer));
    }

    /** Sets the paths of an owner; an empty set removes the entry. */
    void put(FieldOwner writer, Set<List<String>> paths, String time) {
        if (writer.isApply()) {
            fieldSets.keySet().removeIf(other -> !other.equals(writer) && sameApplier(writer, other));
        }
        if (paths.isEmpty()) {
            fieldSets.remove(writer);
        } else {
            Set<List<String>> old = fieldSets.put(writer, paths);
            if (!paths.equals(old) || !times.containsKey(writer)) {
                times.put(writer, time);
            }
        }
    }

    /** True when both have the same owners and paths, times aside. */
    boolean sameAs(ManagedFields other) {
        return fieldSets.equals(other.fieldSets);
    }

    void writeTo(ObjectNode object) {
        ObjectNode metadata = Json.withObject(object, "metadata");
        metadata.remove("managedFields");
        if (fieldSets.isEmpty()) {
            return;
        }
        ArrayNode entries = metadata.putArray("managedFields");
        fieldSets.forEach((writer, paths) -> {
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

    private static boolean sameApplier(FieldOwner a, FieldOwner b) {
        return a.isApply()
                && b.isApply()
                && a.name().equals(b.name())
                && a.subresource().equals(b.subresource());
    }
}
