package io.gpufleet.inventory.http;

import io.gpufleet.inventory.app.PageToken;
import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.query.FleetQuery;
import io.gpufleet.inventory.model.query.FleetSummary;
import io.gpufleet.kit.web.ProblemDetails;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/** Serves {@code /v1/…} from the committed fleet of this replica. */
public final class InventoryRoutes {
    private final Supplier<Fleet> fleet;
    private final Supplier<List<String>> suspected;
    private final InventoryJson inventoryJson;

    /**
     * Serves the newest fleet.
     *
     * @param suspected silent nodes not declared lost because the bus is suspected
     * @param labels computes the labels of a node
     */
    public InventoryRoutes(
            Supplier<Fleet> fleet, Supplier<List<String>> suspected, Function<NodeState, Map<String, String>> labels) {
        this.fleet = fleet;
        this.suspected = suspected;
        this.inventoryJson = new InventoryJson(labels);
    }

    /** Parameters of a request for a page. */
    private record PageRequest(FleetQuery query, String after, int size) {}

    /** Mounts the routes; any other path is 404 with a problem. */
    public void mount(Router router) {
        Buffer document = openApiDocument();
        router.get("/openapi.yaml")
                .handler(context -> context.response()
                        .putHeader("content-type", "application/yaml")
                        .end(document));
        router.get("/v1/summary").handler(context -> unpaged(context, this::summary));
        router.get("/v1/models").handler(context -> unpaged(context, this::models));
        router.get("/v1/nodes").handler(context -> paged(context, this::nodes));
        router.get("/v1/nodes/:node").handler(context -> unpaged(context, this::node));
        router.get("/v1/devices").handler(context -> paged(context, this::devices));
        router.get("/v1/devices/:uuid").handler(context -> unpaged(context, this::device));
        router.errorHandler(
                404,
                context -> ProblemDetails.respond(
                        context,
                        404,
                        "not found",
                        "no such path " + context.request().path() + "; /openapi.yaml lists the paths"));
        router.errorHandler(
                405,
                context -> ProblemDetails.respond(
                        context, 405, "method not allowed", "the inventory is read only: use GET"));
        router.errorHandler(
                500,
                context -> ProblemDetails.respond(
                        context, 500, "internal error", "internal error; the log of this replica has the cause"));
    }

    private void summary(RoutingContext context) {
        respond(context, inventoryJson.summary(FleetSummary.of(fleet.get()), suspected.get()));
    }

    private void models(RoutingContext context) {
        respond(context, new JsonObject().put("items", inventoryJson.models(FleetSummary.of(fleet.get()))));
    }

    private void nodes(RoutingContext context, PageRequest request) {
        var page = request.query().nodes(fleet.get(), request.after(), request.size());
        respond(context, page(InventoryJson.array(page.items().stream().map(inventoryJson::node)), page.next()));
    }

    private void devices(RoutingContext context, PageRequest request) {
        var page = request.query().devices(fleet.get(), request.after(), request.size());
        respond(context, page(InventoryJson.array(page.items().stream().map(inventoryJson::device)), page.next()));
    }

    private void node(RoutingContext context) {
        String name = Objects.requireNonNull(context.pathParam("node"));
        fleet.get()
                .node(name)
                .filter(node -> node.announcement() != null)
                .ifPresentOrElse(
                        node -> respond(context, inventoryJson.node(node)),
                        () -> ProblemDetails.respond(
                                context, 404, "no such node", "no node '" + name + "' was announced by a daemon"));
    }

    private void device(RoutingContext context) {
        String uuid = Objects.requireNonNull(context.pathParam("uuid"));
        fleet.get()
                .device(uuid)
                .ifPresentOrElse(
                        location -> respond(context, inventoryJson.device(location)),
                        () -> ProblemDetails.respond(
                                context,
                                404,
                                "no such device",
                                "no GPU and no MIG instance '" + uuid + "' was announced by a daemon"));
    }

    private interface PagedHandler {
        void handle(RoutingContext context, PageRequest request);
    }

    private interface UnpagedHandler {
        void handle(RoutingContext context);
    }

    private static void unpaged(RoutingContext context, UnpagedHandler route) {
        if (acceptsParameters(context, Set.of())) {
            route.handle(context);
        }
    }

    private static void paged(RoutingContext context, PagedHandler route) {
        if (!acceptsParameters(context, Set.of("model", "node", "health", "limit", "token"))) {
            return;
        }
        Optional<Integer> size = size(context);
        Optional<String> after = PageToken.position(parameter(context, "token"));
        if (size.isEmpty()) {
            badRequest(
                    context,
                    "limit='" + parameter(context, "limit") + "' is invalid: must be 1 to " + FleetQuery.Page.MAX_SIZE);
        } else if (after.isEmpty()) {
            badRequest(context, "invalid token: use 'next' of the previous page");
        } else {
            var query = new FleetQuery(
                    parameter(context, "model"), parameter(context, "node"), parameter(context, "health"));
            route.handle(context, new PageRequest(query, after.get(), size.get()));
        }
    }

    private static boolean acceptsParameters(RoutingContext context, Set<String> parameters) {
        for (String given : context.queryParams().names()) {
            if (!parameters.contains(given)) {
                badRequest(
                        context,
                        "unknown query parameter '" + given + "'; known: "
                                + (parameters.isEmpty()
                                        ? "none"
                                        : String.join(
                                                ", ",
                                                List.copyOf(parameters).stream()
                                                        .sorted()
                                                        .toList())));
                return false;
            }
        }
        return true;
    }

    private static Optional<Integer> size(RoutingContext context) {
        String text = parameter(context, "limit");
        if (text.isEmpty()) {
            return Optional.of(FleetQuery.Page.DEFAULT_SIZE);
        }
        return text.matches("[0-9]{1,4}")
                ? Optional.of(Integer.parseInt(text)).filter(size -> size >= 1 && size <= FleetQuery.Page.MAX_SIZE)
                : Optional.empty();
    }

    private static String parameter(RoutingContext context, String name) {
        String value = context.queryParams().get(name);
        return value == null ? "" : value;
    }

    private static void badRequest(RoutingContext context, String detail) {
        ProblemDetails.respond(context, 400, "bad request", detail);
    }

    private static JsonObject page(JsonArray items, String next) {
        var json = new JsonObject().put("items", items);
        return next.isEmpty() ? json : json.put("next", PageToken.of(next));
    }

    private static void respond(RoutingContext context, JsonObject json) {
        context.response().putHeader("content-type", "application/json").end(json.encode());
    }

    private static Buffer openApiDocument() {
        try (InputStream in = InventoryRoutes.class.getResourceAsStream("/openapi.yaml")) {
            if (in == null) {
                throw new IllegalStateException("openapi.yaml is missing on the class path");
            }
            return Buffer.buffer(in.readAllBytes());
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
