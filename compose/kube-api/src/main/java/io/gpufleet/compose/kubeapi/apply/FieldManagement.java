package io.gpufleet.compose.kubeapi.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.compose.kubeapi.object.ApiError;
import io.gpufleet.compose.kubeapi.object.Cause;
import io.gpufleet.compose.kubeapi.object.Json;
import io.gpufleet.compose.kubeapi.type.ResourceType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Server-side apply and the ownership that follows from every other write; after structured-merge-diff. */
public final class FieldManagement {
    private FieldManagement() {}

    /** The object after a create, update or patch, with its managedFields brought up to date. */
    public static ObjectNode updated(ResourceType type, JsonNode live, ObjectNode next, Writer writer, String now) {
        Difference difference = Difference.between(Fields.of(type, live), Fields.of(type, next));
        // A client that knows nothing of managedFields keeps those of the stored object; an empty list resets them.
        JsonNode source = Json.at(next, "metadata", "managedFields").isMissingNode() ? live : next;
        Ownership ownership = Ownership.of(source);
        if (ownership.isEmpty() && !live.isEmpty()) {
            // What nobody was tracked for at its creation stays untracked until somebody applies.
            return next;
        }
        Set<List<String>> own = new HashSet<>(ownership.set(writer).orElse(Set.of()));
        own.addAll(difference.written());
        own.removeAll(difference.removed());
        Set<List<String>> lost = new HashSet<>(difference.written());
        lost.addAll(difference.removed());
        ownership.takeFromOthers(writer, lost);
        ownership.put(writer, own, now);
        ObjectNode result = next.deepCopy();
        ownership.writeTo(result);
        return result;
    }

    /**
     * The object after a server-side apply.
     *
     * @param live the stored object, or an empty one when the apply creates it
     * @param applied what the client claims, without what it may not claim here (status or everything but status)
     * @param force takes fields from others instead of refusing with 409
     */
    public static ObjectNode applied(
            ResourceType type, JsonNode live, JsonNode applied, Writer writer, boolean force, String now) {
        Ownership ownership = Ownership.of(live);
        if (ownership.isEmpty()
                && !Json.text(live, "metadata", "resourceVersion").isEmpty()) {
            ownership.put(
                    Writer.updating("before-first-apply", "", type),
                    Fields.of(type, live).keySet().stream()
                            .filter(Ownership::ownable)
                            .collect(Collectors.toSet()),
                    now);
        }
        Map<List<String>, JsonNode> pieces = Fields.of(type, applied);
        Set<List<String>> claimed =
                pieces.keySet().stream().filter(Ownership::ownable).collect(Collectors.toSet());
        ObjectNode merged = (ObjectNode) Fields.merge(type, live, applied);
        prune(merged, ownership, writer, claimed);
        Difference difference = Difference.between(Fields.of(type, live), Fields.of(type, merged));
        Set<List<String>> wanted = new HashSet<>(difference.written());
        wanted.retainAll(claimed);
        Map<Writer, Set<List<String>>> conflicts = conflicts(ownership, writer, wanted);
        if (!conflicts.isEmpty() && !force) {
            throw refused(conflicts, ownership);
        }
        Set<List<String>> lost = new HashSet<>(wanted);
        lost.addAll(difference.removed());
        ownership.takeFromOthers(writer, lost);
        ownership.put(writer, claimed, now);
        ownership.writeTo(merged);
        return merged;
    }

    /** Whether a write changed nothing: same content and same owners. */
    public static boolean unchanged(JsonNode live, JsonNode next) {
        return withoutBookkeeping(live).equals(withoutBookkeeping(next))
                && Ownership.of(live).sameAs(Ownership.of(next));
    }

    private static JsonNode withoutBookkeeping(JsonNode object) {
        ObjectNode copy = object.deepCopy();
        Json.dig(copy, "metadata").remove(List.of("managedFields", "resourceVersion"));
        return copy;
    }

    /** Takes out what the writer applied before, claims no longer, and nobody else owns. */
    private static void prune(ObjectNode merged, Ownership ownership, Writer writer, Set<List<String>> claimed) {
        Set<List<String>> gone = new HashSet<>(ownership.appliedBefore(writer));
        gone.removeAll(claimed);
        List<List<String>> kept = new ArrayList<>(claimed);
        ownership.others(writer).values().forEach(kept::addAll);
        gone.removeIf(path -> kept.stream().anyMatch(other -> startsWith(other, path)));
        gone.forEach(path -> FieldPaths.cut(merged, path));
    }

    private static boolean startsWith(List<String> path, List<String> prefix) {
        return path.size() >= prefix.size() && path.subList(0, prefix.size()).equals(prefix);
    }

    private static Map<Writer, Set<List<String>>> conflicts(
            Ownership ownership, Writer writer, Set<List<String>> wanted) {
        Map<Writer, Set<List<String>>> conflicts = new LinkedHashMap<>();
        ownership.others(writer).forEach((other, owned) -> {
            Set<List<String>> both = new HashSet<>(owned);
            both.retainAll(wanted);
            if (!both.isEmpty()) {
                conflicts.put(other, both);
            }
        });
        return conflicts;
    }

    private static ApiError refused(Map<Writer, Set<List<String>>> conflicts, Ownership ownership) {
        List<Cause> causes = new ArrayList<>();
        Map<String, List<String>> byWriter = new TreeMap<>();
        conflicts.forEach((writer, paths) -> {
            String who = writer.text(ownership.time(writer));
            List<String> texts = paths.stream().map(FieldPaths::text).sorted().toList();
            byWriter.put(who, texts);
            texts.forEach(path -> causes.add(new Cause(path, "FieldManagerConflict", "conflict with " + who)));
        });
        if (causes.size() == 1) {
            Cause only = causes.getFirst();
            return ApiError.applyConflict(
                    "Apply failed with 1 conflict: " + only.message() + ": " + only.field(), causes);
        }
        String lines = byWriter.entrySet().stream()
                .map(entry -> "conflicts with " + entry.getKey() + ":\n- " + String.join("\n- ", entry.getValue()))
                .collect(Collectors.joining("\n"));
        return ApiError.applyConflict("Apply failed with " + causes.size() + " conflicts: " + lines, causes);
    }

    /** Which ownable paths a write added or changed, and which it removed. */
    private record Difference(Set<List<String>> written, Set<List<String>> removed) {
        static Difference between(Map<List<String>, JsonNode> old, Map<List<String>, JsonNode> next) {
            Set<List<String>> written = new HashSet<>();
            next.forEach((path, value) -> {
                if (Ownership.ownable(path) && !value.equals(old.get(path))) {
                    written.add(path);
                }
            });
            Set<List<String>> removed = new HashSet<>(old.keySet());
            removed.removeAll(next.keySet());
            return new Difference(written, removed);
        }
    }
}
