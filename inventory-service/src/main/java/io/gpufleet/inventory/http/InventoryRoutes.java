package io.gpufleet.inventory.http;

import io.gpufleet.inventory.app.PageToken;
import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.query.FleetQuery;
import io.gpufleet.inventory.model.query.FleetSummary;
import io.gpufleet.kit.web.OpenApiDocument;
import io.gpufleet.kit.web.ProblemDetails;
import io.gpufleet.kit.web.QueryParameters;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
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

    /** Mounts the routes. */
    public void mount(Router router) {
        OpenApiDocument.mount(router);
        ProblemDetails.mount(router);
        router.get("/v1/summary").handler(context -> unpaged(context, this::summary));
        router.get("/v1/models").handler(context -> unpaged(context, this::models));
        router.get("/v1/nodes").handler(context -> paged(context, this::nodes));
        router.get("/v1/nodes/:node").handler(context -> unpaged(context, this::node));
        router.get("/v1/devices").handler(context -> paged(context, this::devices));
        router.get("/v1/devices/:uuid").handler(context -> unpaged(context, this::device));
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
                        () -> ProblemDetails.respond(context, 404, "no node '" + name + "' was announced by a daemon"));
    }

    private void device(RoutingContext context) {
        String uuid = Objects.requireNonNull(context.pathParam("uuid"));
        fleet.get()
                .device(uuid)
                .ifPresentOrElse(
                        location -> respond(context, inventoryJson.device(location)),
                        () -> ProblemDetails.respond(
                                context, 404, "no GPU and no MIG instance '" + uuid + "' was announced by a daemon"));
    }

    private interface PagedHandler {
        void handle(RoutingContext context, PageRequest request);
    }

    private interface UnpagedHandler {
        void handle(RoutingContext context);
    }

    private static void unpaged(RoutingContext context, UnpagedHandler route) {
        if (QueryParameters.accept(context, Set.of())) {
            route.handle(context);
        }
    }

    private static void paged(RoutingContext context, PagedHandler route) {
        if (!QueryParameters.accept(context, Set.of("model", "node", "health", "limit", "token"))) {
            return;
        }
        Optional<Integer> size = size(context);
        Optional<String> after = PageToken.position(QueryParameters.get(context, "token"));
        if (size.isEmpty()) {
            badRequest(
                    context,
                    "limit='" + QueryParameters.get(context, "limit") + "' is invalid: must be 1 to "
                            + FleetQuery.Page.MAX_SIZE);
        } else if (after.isEmpty()) {
            badRequest(context, "invalid token: use 'next' of the previous page");
        } else {
            var query = new FleetQuery(
                    QueryParameters.get(context, "model"),
                    QueryParameters.get(context, "node"),
                    QueryParameters.get(context, "health"));
            route.handle(context, new PageRequest(query, after.get(), size.get()));
        }
    }

    private static Optional<Integer> size(RoutingContext context) {
        String text = QueryParameters.get(context, "limit");
        if (text.isEmpty()) {
            return Optional.of(FleetQuery.Page.DEFAULT_SIZE);
        }
        return text.matches("[0-9]{1,4}")
                ? Optional.of(Integer.parseInt(text)).filter(size -> size >= 1 && size <= FleetQuery.Page.MAX_SIZE)
                : Optional.empty();
    }

    private static void badRequest(RoutingContext context, String detail) {
        ProblemDetails.respond(context, 400, detail);
    }

    private static JsonObject page(JsonArray items, String next) {
        var json = new JsonObject().put("items", items);
        return next.isEmpty() ? json : json.put("next", PageToken.of(next));
    }

    private static void respond(RoutingContext context, JsonObject json) {
        context.response().putHeader("content-type", "application/json").end(json.encode());
    }
}
