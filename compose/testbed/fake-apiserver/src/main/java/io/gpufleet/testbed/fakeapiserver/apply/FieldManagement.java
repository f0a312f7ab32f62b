package io.gpufleet.testbed.fakeapiserver.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.object.StatusCause;
import io.gpufleet.testbed.fakeapiserver.type.ResourceType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Server-side apply and the field ownership of every other write, after structured-merge-diff. */
public final class FieldManagement {
    private FieldManagement() {}

    /** The object after a create, update or patch, with its managedFields updated. */
    public static ObjectNode updated(ResourceType type, JsonNode live, ObjectNode next, FieldOwner writer, String now) {
        FieldChanges difference = FieldChanges.between(OwnableFields.of(type, live), OwnableFields.of(type, next));
        // A client without managedFields keeps those of the stored object; an empty list resets them.
        JsonNode source = Json.at(next, "metadata", "managedFields").isMissingNode() ? live : next;
        ManagedFields ownership = ManagedFields.of(source);
        if (ownership.isEmpty() && !live.isEmpty()) {
            // An object created without managedFields stays without them until the first apply.
            return next;
        }
        Set<List<String>> own = new HashSet<>(ownership.set(writer).orElse(Set.of()));
        own.addAll(difference.written());
        own.removeAll(difference.removed());
        Set<List<String>> lost = new HashSet<>(difference.written());
        lost.addAll(difference.removed());
        ownership.removeFromOthers(writer, lost);
        ownership.put(writer, own, now);
        ObjectNode result = next.deepCopy();
        ownership.writeTo(result);
        return result;
    }

    /**
     * The object after a server-side apply.
     *
     * @param live the stored object, or an empty one when the apply creates it
     * @param applied the applied fields, without those that this path does not allow (status or everything but status)
     * @param force takes fields from other managers instead of a conflict
     */
    public static ObjectNode applied(
            ResourceType type, JsonNode live, JsonNode applied, FieldOwner writer, boolean force, String now) {
        ManagedFields ownership = ManagedFields.of(live);
        if (ownership.isEmpty()
                && !Json.text(live, "metadata", "resourceVersion").isEmpty()) {
            ownership.put(
                    FieldOwner.forUpdate("before-first-apply", "", type),
                    OwnableFields.of(type, live).keySet().stream()
                            .filter(ManagedFields::isOwnable)
                            .collect(Collectors.toSet()),
                    now);
        }
        Map<List<String>, JsonNode> pieces = OwnableFields.of(type, applied);
        Set<List<String>> claimed =
                pieces.keySet().stream().filter(ManagedFields::isOwnable).collect(Collectors.toSet());
        ObjectNode merged = (ObjectNode) OwnableFields.merge(type, live, applied);
        prune(merged, ownership, writer, claimed);
        FieldChanges difference = FieldChanges.between(OwnableFields.of(type, live), OwnableFields.of(type, merged));
        Set<List<String>> wanted = new HashSet<>(difference.written());
        wanted.retainAll(claimed);
        Map<FieldOwner, Set<List<String>>> conflicts = conflicts(ownership, writer, wanted);
        if (!conflicts.isEmpty() && !force) {
            throw conflictError(conflicts, ownership);
        }
        Set<List<String>> lost = new HashSet<>(wanted);
        lost.addAll(difference.removed());
        ownership.removeFromOthers(writer, lost);
        ownership.put(writer, claimed, now);
        ownership.writeTo(merged);
        return merged;
    }

    /** True when a write changed nothing: same content and same owners. */
    public static boolean unchanged(JsonNode live, JsonNode next) {
        return withoutServerFields(live).equals(withoutServerFields(next))
                && ManagedFields.of(live).sameAs(ManagedFields.of(next));
    }

    private static JsonNode withoutServerFields(JsonNode object) {
        ObjectNode copy = object.deepCopy();
        Json.withObject(copy, "metadata").remove(List.of("managedFields", "resourceVersion"));
        return copy;
    }

    /** Removes the fields that the manager applied before, applies no longer, and no other manager owns. */
    private static void prune(
            ObjectNode merged, ManagedFields ownership, FieldOwner writer, Set<List<String>> claimed) {
        Set<List<String>> gone = new HashSet<>(ownership.appliedBefore(writer));
        gone.removeAll(claimed);
        List<List<String>> kept = new ArrayList<>(claimed);
        ownership.others(writer).values().forEach(kept::addAll);
        gone.removeIf(path -> kept.stream().anyMatch(other -> startsWith(other, path)));
        gone.forEach(path -> FieldPaths.remove(merged, path));
    }

    private static boolean startsWith(List<String> path, List<String> prefix) {
        return path.size() >= prefix.size() && path.subList(0, prefix.size()).equals(prefix);
    }

    private static Map<FieldOwner, Set<List<String>>> conflicts(
            ManagedFields ownership, FieldOwner writer, Set<List<String>> wanted) {
        Map<FieldOwner, Set<List<String>>> conflicts = new LinkedHashMap<>();
        ownership.others(writer).forEach((other, owned) -> {
            Set<List<String>> both = new HashSet<>(owned);
            both.retainAll(wanted);
            if (!both.isEmpty()) {
                conflicts.put(other, both);
            }
        });
        return conflicts;
    }

    private static ApiError conflictError(Map<FieldOwner, Set<List<String>>> conflicts, ManagedFields ownership) {
        List<StatusCause> causes = new ArrayList<>();
        Map<String, List<String>> byWriter = new TreeMap<>();
        conflicts.forEach((writer, paths) -> {
            String who = writer.describe(ownership.time(writer));
            List<String> texts = paths.stream().map(FieldPaths::text).sorted().toList();
            byWriter.put(who, texts);
            texts.forEach(path -> causes.add(new StatusCause(path, "FieldManagerConflict", "conflict with " + who)));
        });
        if (causes.size() == 1) {
            StatusCause only = causes.getFirst();
            return ApiError.applyConflict(
                    "Apply failed with 1 conflict: " + only.message() + ": " + only.field(), causes);
        }
        String lines = byWriter.entrySet().stream()
                .map(entry -> "conflicts with " + entry.getKey() + ":\n- " + String.join("\n- ", entry.getValue()))
                .collect(Collectors.joining("\n"));
        return ApiError.applyConflict("Apply failed with " + causes.size() + " conflicts: " + lines, causes);
    }

    /** The ownable paths that a write added or changed, and those that it removed. */
    private record FieldChanges(Set<List<String>> written, Set<List<String>> removed) {
        static FieldChanges between(Map<List<String>, JsonNode> old, Map<List<String>, JsonNode> next) {
            Set<List<String>> written = new HashSet<>();
            next.forEach((path, value) -> {
                if (ManagedFields.isOwnable(path) && !value.equals(old.get(path))) {
                    written.add(path);
                }
            });
            Set<List<String>> removed = new HashSet<>(old.keySet());
            removed.removeAll(next.keySet());
            return new FieldChanges(written, removed);
        }
    }
}
