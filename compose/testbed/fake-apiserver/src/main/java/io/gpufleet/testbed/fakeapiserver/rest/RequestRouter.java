package io.gpufleet.testbed.fakeapiserver.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Routes a request to the handler of its verb. Watches stay open and are handled apart. */
public final class RequestRouter {
    private final ServerContext context;
    private final Discovery discovery;
    private final OpenApi openApi;
    private final TableConverter tableConverter;
    private final ReviewHandler reviewHandler;
    private final ListHandler listHandler;
    private final DeleteHandler deleteHandler;
    private final WriteHandler writeHandler;
    private final PatchHandler patchHandler;
    private final PodSubresources podSubresources;

    /** A router of one server. */
    public RequestRouter(ServerContext cluster) {
        this.context = cluster;
        discovery = new Discovery(cluster.types());
        openApi = new OpenApi(cluster.types());
        tableConverter = new TableConverter(cluster.clock());
        reviewHandler = new ReviewHandler(cluster.tokens());
        listHandler = new ListHandler(cluster);
        deleteHandler = new DeleteHandler(cluster);
        writeHandler = new WriteHandler(cluster, deleteHandler);
        patchHandler = new PatchHandler(cluster, writeHandler);
        podSubresources = new PodSubresources(cluster, writeHandler, deleteHandler);
    }

    /** The watch of a request; empty when it is none. */
    Optional<WatchRequest> watch(ApiRequest call) {
        if (!call.method().equals("GET") || !call.booleanParameter("watch")) {
            return Optional.empty();
        }
        RequestPath path = RequestPath.of(call.path());
        if (path.segments().isEmpty()) {
            return Optional.empty();
        }
        RequestInfo target = target(path);
        return Optional.of(WatchRequest.of(context, target, call));
    }

    /** Handles a request; errors are ApiErrors. */
    public ApiResponse handle(ApiRequest call) {
        RequestPath path = RequestPath.of(call.path());
        if (OpenApi.handles(call.path())) {
            return openApi.handle(call.path());
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
        if (ReviewHandler.isReview(path.group(), path.segments())) {
            return reviewHandler.handle(path.segments().getLast(), call);
        }
        if (path.root().equals("api") && path.segments().getLast().equals("bindings")) {
            return podSubresources.bindByName(target(path.pods()), call);
        }
        RequestInfo target = target(path);
        if (target.subresource().equals("eviction") || target.subresource().equals("binding")) {
            if (!call.method().equals("POST")) {
                throw ApiError.methodNotAllowed();
            }
            return target.subresource().equals("binding")
                    ? podSubresources.bind(target, call)
                    : podSubresources.evict(target, call);
        }
        ApiResponse answer = target.name().isEmpty() ? collection(target, call) : object(target, call);
        boolean table = call.method().equals("GET") && TableConverter.isRequested(call);
        return table
                ? ApiResponse.ok(tableConverter.toTable(
                        target.type(),
                        answer.body(),
                        call.parameter("includeObject").equals("Object")))
                : answer;
    }

    private ApiResponse root(String path) {
        return switch (path) {
            case "/version" -> discovery.version();
            case "/healthz", "/livez", "/readyz" -> discovery.health();
            default -> throw ApiError.noSuchPath();
        };
    }

    private RequestInfo target(RequestPath path) {
        return RequestInfo.parse(context.types(), path.group(), path.version(), path.segments());
    }

    private ApiResponse collection(RequestInfo target, ApiRequest call) {
        return switch (call.method()) {
            case "GET" -> listHandler.list(target, call);
            case "POST" -> {
                if (target.type().namespaced() && target.namespace().isEmpty()) {
                    throw ApiError.methodNotAllowed();
                }
                call.warnings().addAll(UnsupportedFeatureWarnings.of(target, call.bodyObject()));
                yield ApiResponse.created(writeHandler.create(target, call.bodyObject(), call));
            }
            case "DELETE" -> deleteAll(target, call);
            default -> throw ApiError.methodNotAllowed();
        };
    }

    private ApiResponse deleteAll(RequestInfo target, ApiRequest call) {
        JsonNode options = options(call);
        ObjectNode list = Json.object()
                .put("kind", target.type().kind() + "List")
                .put("apiVersion", target.type().apiVersion());
        list.putObject("metadata")
                .put("resourceVersion", Long.toString(context.store().revision()));
        ArrayNode items = list.putArray("items");
        for (ObjectNode object : listHandler.select(target, call).objects()) {
            RequestInfo one = new RequestInfo(target.type(), Json.namespace(object), Json.name(object), "");
            try {
                deleteHandler.delete(one, call, options);
                items.add(object);
            } catch (ApiError error) {
                if (error.code() != 404) {
                    throw error;
                }
            }
        }
        return ApiResponse.ok(list);
    }

    private ApiResponse object(RequestInfo target, ApiRequest call) {
        return switch (call.method()) {
            case "GET" ->
                ApiResponse.ok(context.store()
                        .get(target.resource(), target.key())
                        .map(object -> ServerContext.inVersion(target.type(), object))
                        .orElseThrow(() -> ApiError.notFound(target.resource(), target.name())));
            case "PUT" -> {
                call.warnings().addAll(UnsupportedFeatureWarnings.of(target, call.bodyObject()));
                yield ApiResponse.ok(writeHandler.update(target, call));
            }
            case "PATCH" -> {
                ApiResponse answer = patchHandler.patch(target, call);
                call.warnings().addAll(UnsupportedFeatureWarnings.of(target, answer.body()));
                yield answer;
            }
            case "DELETE" -> {
                if (!target.subresource().isEmpty()) {
                    throw ApiError.methodNotAllowed();
                }
                yield deleteHandler.delete(target, call, options(call));
            }
            default -> throw ApiError.methodNotAllowed();
        };
    }

    /** Options of a deletion, from the body or from the query. */
    private static JsonNode options(ApiRequest call) {
        ObjectNode options = call.bodyObject().deepCopy();
        String grace = call.parameter("gracePeriodSeconds");
        if (!grace.isEmpty()) {
            options.put("gracePeriodSeconds", Integer.parseInt(grace));
        }
        return options;
    }

    /** A parsed path: {@code /api/v1/…} or {@code /apis/group/version/…}; without root for other paths. */
    private record RequestPath(String root, String group, String version, List<String> segments) {
        /** The pods resource, for {@code bindings}, the older path to bind a pod. */
        RequestPath pods() {
            List<String> beside = new ArrayList<>(segments.subList(0, segments.size() - 1));
            beside.add("pods");
            return new RequestPath(root, group, version, beside);
        }

        static RequestPath of(String path) {
            List<String> parts = Arrays.stream(path.split("/"))
                    .filter(part -> !part.isEmpty())
                    .toList();
            String root = parts.isEmpty() ? "" : parts.getFirst();
            if (!root.equals("api") && !root.equals("apis")) {
                return new RequestPath("", "", "", List.of());
            }
            int skip = root.equals("api") ? 1 : 2;
            String group = skip == 2 && parts.size() > 1 ? parts.get(1) : "";
            String version = parts.size() > skip ? parts.get(skip) : "";
            return new RequestPath(
                    root, group, version, parts.size() > skip ? parts.subList(skip + 1, parts.size()) : List.of());
        }
    }
}
