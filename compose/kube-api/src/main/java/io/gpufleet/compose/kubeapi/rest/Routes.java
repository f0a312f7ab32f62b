package io.gpufleet.compose.kubeapi.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.compose.kubeapi.object.ApiError;
import io.gpufleet.compose.kubeapi.object.Json;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** From a request to the verb that answers it. Watches are answered beside it, as they stay open. */
public final class Routes {
    private final Cluster cluster;
    private final Discovery discovery;
    private final OpenApi openApi;
    private final Tables tables;
    private final Reviews reviews;
    private final Lists lists;
    private final Removal removal;
    private final Writes writes;
    private final Patches patches;
    private final PodActions pods;

    /** Serves one cluster. */
    public Routes(Cluster cluster) {
        this.cluster = cluster;
        discovery = new Discovery(cluster.types());
        openApi = new OpenApi(cluster.types());
        tables = new Tables(cluster.clock());
        reviews = new Reviews(cluster.tokens());
        lists = new Lists(cluster);
        removal = new Removal(cluster);
        writes = new Writes(cluster, removal);
        patches = new Patches(cluster, writes);
        pods = new PodActions(cluster, writes, removal);
    }

    /** The watch that a request asks for; empty when it asks for something else. */
    Optional<Watching> watch(Call call) {
        if (!call.method().equals("GET") || !call.flag("watch")) {
            return Optional.empty();
        }
        Path path = Path.of(call.path());
        if (path.segments().isEmpty()) {
            return Optional.empty();
        }
        Target target = target(path);
        return Optional.of(Watching.of(cluster, target, call));
    }

    /** Answers, or refuses with an ApiError. */
    public Answer answer(Call call) {
        Path path = Path.of(call.path());
        if (OpenApi.covers(call.path())) {
            return openApi.answer(call.path());
        }
        if (path.root().isEmpty()) {
            return root(call.path());
        }
        if (path.version().isEmpty()) {
            return path.root().equals("api")
                    ? discovery.coreVersions()
                    : path.group().isEmpty() ? discovery.groups() : discovery.group(path.group());
        }
        if (path.segments().isEmpty()) {
            return discovery.resources(path.group(), path.version());
        }
        if (Reviews.isReview(path.group(), path.segments())) {
            return reviews.answer(path.segments().getLast(), call);
        }
        if (path.root().equals("api") && path.segments().getLast().equals("bindings")) {
            return pods.bindByName(target(path.pods()), call);
        }
        Target target = target(path);
        if (target.subresource().equals("eviction") || target.subresource().equals("binding")) {
            if (!call.method().equals("POST")) {
                throw ApiError.methodNotAllowed();
            }
            return target.subresource().equals("binding") ? pods.bind(target, call) : pods.evict(target, call);
        }
        Answer answer = target.name().isEmpty() ? collection(target, call) : object(target, call);
        boolean table = call.method().equals("GET") && Tables.wanted(call);
        return table
                ? Answer.ok(tables.of(
                        target.type(),
                        answer.body(),
                        call.parameter("includeObject").equals("Object")))
                : answer;
    }

    private Answer root(String path) {
        return switch (path) {
            case "/version" -> discovery.version();
            case "/healthz", "/livez", "/readyz" -> discovery.health();
            default -> throw ApiError.noSuchPath();
        };
    }

    private Target target(Path path) {
        return Target.parse(cluster.types(), path.group(), path.version(), path.segments());
    }

    private Answer collection(Target target, Call call) {
        return switch (call.method()) {
            case "GET" -> lists.list(target, call);
            case "POST" -> {
                if (target.type().namespaced() && target.namespace().isEmpty()) {
                    throw ApiError.methodNotAllowed();
                }
                call.warnings().addAll(Warnings.of(target, call.object()));
                yield Answer.created(writes.create(target, call.object(), call));
            }
            case "DELETE" -> deleteAll(target, call);
            default -> throw ApiError.methodNotAllowed();
        };
    }

    private Answer deleteAll(Target target, Call call) {
        JsonNode options = options(call);
        ObjectNode list = Json.object()
                .put("kind", target.type().kind() + "List")
                .put("apiVersion", target.type().apiVersion());
        list.putObject("metadata")
                .put("resourceVersion", Long.toString(cluster.store().revision()));
        ArrayNode items = list.putArray("items");
        for (ObjectNode object : lists.fresh(target, call).objects()) {
            Target one = new Target(target.type(), Json.namespace(object), Json.name(object), "");
            try {
                removal.delete(one, call, options);
                items.add(object);
            } catch (ApiError error) {
                if (error.code() != 404) {
                    throw error;
                }
            }
        }
        return Answer.ok(list);
    }

    private Answer object(Target target, Call call) {
        return switch (call.method()) {
            case "GET" ->
                Answer.ok(cluster.store()
                        .get(target.resource(), target.key())
                        .map(object -> Cluster.shown(target.type(), object))
                        .orElseThrow(() -> ApiError.notFound(target.resource(), target.name())));
            case "PUT" -> {
                call.warnings().addAll(Warnings.of(target, call.object()));
                yield Answer.ok(writes.update(target, call));
            }
            case "PATCH" -> {
                Answer answer = patches.patch(target, call);
                call.warnings().addAll(Warnings.of(target, answer.body()));
                yield answer;
            }
            case "DELETE" -> {
                if (!target.subresource().isEmpty()) {
                    throw ApiError.methodNotAllowed();
                }
                yield removal.delete(target, call, options(call));
            }
            default -> throw ApiError.methodNotAllowed();
        };
    }

    /** Options of a deletion, from the body or from the query. */
    private static JsonNode options(Call call) {
        ObjectNode options = call.object().deepCopy();
        String grace = call.parameter("gracePeriodSeconds");
        if (!grace.isEmpty()) {
            options.put("gracePeriodSeconds", Integer.parseInt(grace));
        }
        return options;
    }

    /** A path cut up: {@code /api/v1/…} or {@code /apis/group/version/…}; no root for every other path. */
    private record Path(String root, String group, String version, List<String> segments) {
        /** The pods beside {@code bindings}, the older path to bind one. */
        Path pods() {
            List<String> beside = new ArrayList<>(segments.subList(0, segments.size() - 1));
            beside.add("pods");
            return new Path(root, group, version, beside);
        }

        static Path of(String path) {
            List<String> parts = Arrays.stream(path.split("/"))
                    .filter(part -> !part.isEmpty())
                    .toList();
            String root = parts.isEmpty() ? "" : parts.getFirst();
            if (!root.equals("api") && !root.equals("apis")) {
                return new Path("", "", "", List.of());
            }
            int skip = root.equals("api") ? 1 : 2;
            String group = skip == 2 && parts.size() > 1 ? parts.get(1) : "";
            String version = parts.size() > skip ? parts.get(skip) : "";
            return new Path(
                    root, group, version, parts.size() > skip ? parts.subList(skip + 1, parts.size()) : List.of());
        }
    }
}
