package io.gpufleet.testbed.fakeapiserver.select;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.GroupResource;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.type.ResourceType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Requirements on the fields that the real server can select by.
 *
 * @param terms all must match
 */
public record FieldSelector(List<Term> terms) implements Predicate<JsonNode> {
    private static final Set<String> EVERYWHERE = Set.of("metadata.name", "metadata.namespace");
    private static final Map<GroupResource, Set<String>> SELECTABLE = Map.of(
            new GroupResource("", "pods"),
            Set.of(
                    "spec.nodeName",
                    "spec.restartPolicy",
                    "spec.schedulerName",
                    "spec.serviceAccountName",
                    "spec.hostNetwork",
                    "status.phase",
                    "status.podIP",
                    "status.nominatedNodeName"),
            new GroupResource("", "nodes"),
            Set.of("spec.unschedulable"),
            new GroupResource("", "namespaces"),
            Set.of("status.phase"),
            new GroupResource("", "secrets"),
            Set.of("type"),
            new GroupResource("batch", "jobs"),
            Set.of("status.successful"),
            new GroupResource("", "events"),
            Set.of(
                    "involvedObject.kind",
                    "involvedObject.namespace",
                    "involvedObject.name",
                    "involvedObject.uid",
                    "involvedObject.apiVersion",
                    "involvedObject.resourceVersion",
                    "involvedObject.fieldPath",
                    "reason",
                    "reportingComponent",
                    "source",
                    "type"));

    /**
     * One comparison.
     *
     * @param path dotted
     * @param value text to compare with
     * @param equal false for {@code !=}
     */
    public record Term(String path, String value, boolean equal) {}

    @Override
    public boolean test(JsonNode object) {
        return terms.stream().allMatch(term -> valueOf(object, term.path()).equals(term.value()) == term.equal());
    }

    /** From a query parameter: {@code spec.nodeName=a,status.phase!=Failed}. */
    public static FieldSelector parse(ResourceType type, String text) {
        List<Term> terms = new ArrayList<>();
        for (String part : text.split(",")) {
            if (part.isBlank()) {
                continue;
            }
            String[] sides = part.split("==|!=|=", 2);
            if (sides.length != 2) {
                throw ApiError.badRequest("invalid field selector: \"" + part + "\"; can't understand '" + part + "'");
            }
            String path = sides[0].strip();
            if (!EVERYWHERE.contains(path)
                    && !SELECTABLE.getOrDefault(type.resource(), Set.of()).contains(path)) {
                throw unknown(type, path);
            }
            terms.add(new Term(path, sides[1].strip(), !part.contains("!=")));
        }
        return new FieldSelector(List.copyOf(terms));
    }

    /** The message for types with selectable fields of their own. */
    private static ApiError unknown(ResourceType type, String path) {
        boolean ownMessage = type.custom() || SELECTABLE.containsKey(type.resource());
        return ApiError.badRequest(
                ownMessage
                        ? "field label not supported: " + path
                        : "\"" + path
                                + "\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");
    }

    private static String valueOf(JsonNode object, String path) {
        String found = Json.text(object, path.split("\\."));
        if (path.equals("source")) {
            return Json.text(object, "source", "component");
        }
        boolean flag = path.equals("spec.unschedulable") || path.equals("spec.hostNetwork");
        return flag && found.isEmpty() ? "false" : found;
    }
}
