package io.gpufleet.inventory.http;

import io.gpufleet.inventory.app.FleetView;
import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.query.FleetQuery;
import io.gpufleet.kit.web.OpenApiDocument;
import io.gpufleet.kit.web.ProblemDetails;
import io.gpufleet.kit.web.QueryParameters;
import io.gpufleet.kit.web.RequestWorkers;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import java.util.function.Supplier;

/** Serves {@code /v1/…} from the committed fleet of this replica, on worker threads. */
public final class InventoryRoutes {
    private final FleetView view;
    private final RequestWorkers workers;
    private final InventoryJson inventoryJson;

    /** Serves the newest fleet of the view; {@code labels} computes the labels of a node. */
    public InventoryRoutes(FleetView view, RequestWorkers workers, Function<NodeState, Map<String, String>> labels) {
        this.view = view;
        this.workers = workers;
        this.inventoryJson = new InventoryJson(labels);
    }

    /** Mounts the routes. */
    public void mount(Router router) {
        OpenApiDocument.mount(router);
        ProblemDetails.mount(router);
        router.get("/v1/summary").handler(context -> unpaged(context, "", this::summary));
        router.get("/v1/models").handler(context -> unpaged(context, "", this::models));
        router.get("/v1/nodes").handler(this::nodes);
        router.get("/v1/nodes/:node")
                .handler(context -> unpaged(
                        context,
                        "no node '" + parameter(context, "node") + "' was announced by a daemon",
                        () -> node(parameter(context, "node"))));
        router.get("/v1/devices").handler(this::devices);
        router.get("/v1/devices/:uuid")
                .handler(context -> unpaged(
                        context,
                        "no GPU and no MIG instance '" + parameter(context, "uuid") + "' was announced by a daemon",
                        () -> device(parameter(context, "uuid"))));
    }

    private Optional<JsonObject> summary() {
        return Optional.of(inventoryJson.summary(view.summary(), view.suspected()));
    }

    private Optional<JsonObject> models() {
        return Optional.of(new JsonObject().put("items", inventoryJson.models(view.summary())));
    }

    private Optional<JsonObject> node(String name) {
        return view.fleet()
                .node(name)
                .filter(node -> node.announcement() != null)
                .map(inventoryJson::node);
    }

    private Optional<JsonObject> device(String uuid) {
        return view.fleet().device(uuid).map(inventoryJson::device);
    }

    private void nodes(RoutingContext context) {
        PageParameters.of(context, InventoryJson.NODE_FIELDS)
                .ifPresent(page -> respond(context, "", () -> {
                    var found = page.query().nodes(view.indexed(), page.after(), page.size());
                    return Optional.of(
                            JsonPage.encode(found, inventoryJson::node, page.fields(), (Function<NodeState, String>)
                                    FleetQuery::position));
                }));
    }

    private void devices(RoutingContext context) {
        PageParameters.of(context, InventoryJson.DEVICE_FIELDS)
                .ifPresent(page -> respond(context, "", () -> {
                    var found = page.query().devices(view.indexed(), page.after(), page.size());
                    return Optional.of(JsonPage.encode(
                            found, inventoryJson::device, page.fields(), (Function<Fleet.GpuLocation, String>)
                                    FleetQuery::position));
                }));
    }

    private static String parameter(RoutingContext context, String name) {
        return Objects.requireNonNull(context.pathParam(name));
    }

    private void unpaged(RoutingContext context, String absent, Supplier<Optional<JsonObject>> json) {
        if (QueryParameters.accept(context, Set.of())) {
            respond(context, absent, () -> json.get().map(JsonObject::encode));
        }
    }

    /** Responds with what a worker makes; with status 404 and {@code absent} where that is nothing. */
    private void respond(RoutingContext context, String absent, Supplier<Optional<String>> json) {
        var preferences = JsonResponse.Preferences.of(context);
        workers.run(() -> json.get().map(body -> JsonResponse.of(body, preferences)))
                .onSuccess(response -> response.ifPresentOrElse(
                        it -> it.send(context), () -> ProblemDetails.respond(context, 404, absent)))
                .onFailure(failed -> failed(context, failed));
    }

    private static void failed(RoutingContext context, Throwable failed) {
        if (failed instanceof RejectedExecutionException busy) {
            context.response().putHeader("retry-after", "1");
            ProblemDetails.respond(context, 503, String.valueOf(busy.getMessage()));
        } else {
            context.fail(failed);
        }
    }
}
