package io.gpufleet.testbed.fakeapiserver.rest;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.type.ResourceType;
import io.gpufleet.testbed.fakeapiserver.type.ResourceTypes;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Discovery documents, in the unaggregated form that every client understands. */
final class Discovery {
    private static final List<String> VERBS =
            List.of("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch");

    private final ResourceTypes types;

    Discovery(ResourceTypes types) {
        this.types = types;
    }

    ApiResponse health() {
        return ApiResponse.ok(TextNode.valueOf("ok"));
    }

    ApiResponse version() {
        return ApiResponse.ok(Json.object()
                .put("major", "1")
                .put("minor", "34")
                .put("gitVersion", "v1.34.0+gpufleet-fake")
                .put("gitCommit", "")
                .put("gitTreeState", "clean")
                .put("buildDate", "2026-01-01T00:00:00Z")
                .put("goVersion", "none")
                .put("compiler", "javac")
                .put("platform", "jvm"));
    }

    ApiResponse coreVersions() {
        ObjectNode versions = Json.object().put("kind", "APIVersions");
        versions.putArray("versions").add("v1");
        versions.putArray("serverAddressByClientCIDRs");
        return ApiResponse.ok(versions);
    }

    ApiResponse groups() {
        ObjectNode list = Json.object().put("kind", "APIGroupList").put("apiVersion", "v1");
        ArrayNode groups = list.putArray("groups");
        versions().forEach((group, versions) -> groups.add(group(group, versions)));
        return ApiResponse.ok(list);
    }

    ApiResponse group(String name) {
        Set<String> versions = versions().get(name);
        if (versions == null) {
            throw ApiError.noSuchPath();
        }
        return ApiResponse.ok(group(name, versions).put("kind", "APIGroup").put("apiVersion", "v1"));
    }

    private Map<String, Set<String>> versions() {
        Map<String, Set<String>> versions = new TreeMap<>();
        types.all().stream()
                .filter(type -> !type.resource().group().isEmpty())
                .forEach(type -> versions.computeIfAbsent(type.resource().group(), group -> new LinkedHashSet<>())
                        .add(type.version()));
        ReviewHandler.KINDS.keySet().forEach(group -> versions.put(group, Set.of("v1")));
        return versions;
    }

    private static ObjectNode group(String name, Set<String> versions) {
        ObjectNode group = Json.object().put("name", name);
        ArrayNode list = group.putArray("versions");
        versions.forEach(version ->
                list.addObject().put("groupVersion", name + "/" + version).put("version", version));
        group.set("preferredVersion", list.get(0));
        return group;
    }

    ApiResponse resources(String group, String version) {
        List<ResourceType> served = types.all().stream()
                .filter(type ->
                        type.resource().group().equals(group) && type.version().equals(version))
                .toList();
        Map<String, String> reviews =
                version.equals("v1") ? ReviewHandler.KINDS.getOrDefault(group, Map.of()) : Map.of();
        if (served.isEmpty() && reviews.isEmpty()) {
            throw ApiError.noSuchPath();
        }
        ObjectNode list = Json.object()
                .put("kind", "APIResourceList")
                .put("apiVersion", "v1")
                .put("groupVersion", group.isEmpty() ? version : group + "/" + version);
        ArrayNode resources = list.putArray("resources");
        served.forEach(type -> describe(type, resources));
        reviews.forEach(
                (plural, kind) -> verbs(entry(resources, plural, kind, plural.startsWith("local")), List.of("create")));
        return ApiResponse.ok(list);
    }

    private static void describe(ResourceType type, ArrayNode resources) {
        String plural = type.resource().plural();
        ObjectNode entry = verbs(entry(resources, plural, type.kind(), type.namespaced()), VERBS);
        entry.put("singularName", type.singular());
        type.shortNames().forEach(Json.withObject(entry).withArray("shortNames")::add);
        if (type.status()) {
            verbs(
                    entry(resources, plural + "/status", type.kind(), type.namespaced()),
                    List.of("get", "patch", "update"));
        }
        if (type.isCore("pods")) {
            verbs(entry(resources, "bindings", "Binding", true), List.of("create"));
            verbs(entry(resources, "pods/binding", "Binding", true), List.of("create"));
            ObjectNode eviction = entry(resources, "pods/eviction", "Eviction", true);
            verbs(eviction.put("group", "policy").put("version", "v1"), List.of("create"));
        }
    }

    private static ObjectNode entry(ArrayNode resources, String name, String kind, boolean namespaced) {
        return resources
                .addObject()
                .put("name", name)
                .put("singularName", "")
                .put("namespaced", namespaced)
                .put("kind", kind);
    }

    private static ObjectNode verbs(ObjectNode entry, List<String> verbs) {
        verbs.forEach(entry.putArray("verbs")::add);
        return entry;
    }
}
