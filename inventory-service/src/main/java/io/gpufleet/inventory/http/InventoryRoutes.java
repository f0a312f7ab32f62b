package io.gpufleet.inventory.http;

import io.gpufleet.inventory.app.FleetView;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.kit.web.Authorizer;
import io.gpufleet.kit.web.OpenApiDocument;
import io.gpufleet.kit.web.PodListPermissions;
import io.gpufleet.kit.web.ProblemDetails;
import io.gpufleet.kit.web.QueryParameters;
import io.gpufleet.kit.web.ReadAccess;
import io.gpufleet.kit.web.RequestWorkers;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/** Serves {@code /v1/…} from the committed fleet of this replica, on worker threads. */
public final class InventoryRoutes {
    /** Status and detail of a response without a body. */
    private record Refusal(int status, String detail) {}

    /** For what always has a body. */
    private static final Refusal ALWAYS = new Refusal(404, "");

    private final FleetView view;
    private final RequestWorkers workers;
    private final Authorizer authorizer;
    private final InventoryJson inventoryJson;

    /**
     * Serves the newest fleet of the view.
     *
     * @param authorizer decides who may read what
     * @param labels computes the labels of a node
     */
    public InventoryRoutes(
            FleetView view,
            RequestWorkers workers,
            Authorizer authorizer,
            Function<NodeState, Map<String, String>> labels) {
        this.view = view;
        this.workers = workers;
        this.authorizer = authorizer;
        this.inventoryJson = new InventoryJson(labels);
    }

    /** Mounts the routes. */
    public void mount(Router router) {
        OpenApiDocument.mount(router);
        ProblemDetails.mount(router);
        router.route("/v1/*").handler(ReadAccess.of("gpufleet.io", authorizer, workers));
        router.get("/v1/summary").handler(context -> unpaged(context, ALWAYS, this::summary));
        router.get("/v1/models").handler(context -> unpaged(context, ALWAYS, this::models));
        router.get("/v1/nodes").handler(this::nodes);
        router.get("/v1/nodes/:node")
                .handler(context -> unpaged(
                        context,
                        new Refusal(404, "no node '" + parameter(context, "node") + "' was announced by a daemon"),
                        () -> node(parameter(context, "node"), reader(context))));
        router.get("/v1/devices").handler(this::devices);
        router.get("/v1/devices/:uuid")
                .handler(context -> unpaged(
                        context,
                        new Refusal(
                                404,
                                "no GPU and no MIG instance '" + parameter(context, "uuid")
                                        + "' was announced by a daemon"),
                        () -> device(parameter(context, "uuid"), reader(context))));
    }

    private Optional<JsonObject> summary() {
        return Optional.of(InventoryJson.summary(view.summary(), view.suspected()));
    }

    private Optional<JsonObject> models() {
        return Optional.of(new JsonObject().put("items", InventoryJson.models(view.summary())));
    }

    private Optional<JsonObject> node(String name, PodListPermissions reader) {
        return view.fleet()
                .node(name)
                .filter(node -> node.announcement() != null)
                .map(node -> inventoryJson.node(node, holder -> reader.sees(holder.namespace())));
    }

    private Optional<JsonObject> device(String uuid, PodListPermissions reader) {
        return view.fleet()
                .device(uuid)
                .map(location -> inventoryJson.device(location, holder -> reader.sees(holder.namespace())));
    }

    private void nodes(RoutingContext context) {
        PodListPermissions reader = reader(context);
        PageParameters.ofNodes(context)
                .ifPresent(parameters -> page(context, reader, parameters, () -> {
                    var page = parameters
                            .query()
                            .nodes(view.indexed(), parameters.order(), parameters.after(), parameters.size());
                    return JsonPage.encode(
                            page,
                            node -> inventoryJson.node(node, holder -> reader.sees(holder.namespace())),
                            parameters.fields(),
                            parameters.order()::position);
                }));
    }

    private void devices(RoutingContext context) {
        PodListPermissions reader = reader(context);
        PageParameters.ofDevices(context)
                .ifPresent(parameters -> page(context, reader, parameters, () -> {
                    var page = parameters
                            .query()
                            .devices(view.indexed(), parameters.deviceOrder(), parameters.after(), parameters.size());
                    return JsonPage.encode(
                            page,
                            location -> inventoryJson.device(location, holder -> reader.sees(holder.namespace())),
                            parameters.fields(),
                            parameters.deviceOrder()::position);
                }));
    }

    /** A filter by a namespace that the user may not see would tell where its pods run. */
    private void page(
            RoutingContext context, PodListPermissions reader, PageParameters parameters, Supplier<String> json) {
        String namespace = parameters.query().namespace();
        respond(
                context,
                new Refusal(403, "not allowed to list pods in " + namespace),
                () -> namespace.isEmpty() || reader.sees(namespace) ? Optional.of(json.get()) : Optional.empty());
    }

    private PodListPermissions reader(RoutingContext context) {
        return PodListPermissions.of(context, authorizer);
    }

    private static String parameter(RoutingContext context, String name) {
        return Objects.requireNonNull(context.pathParam(name));
    }

    private void unpaged(RoutingContext context, Refusal absent, Supplier<Optional<JsonObject>> json) {
        if (QueryParameters.accept(context, Set.of())) {
            respond(context, absent, () -> json.get().map(JsonObject::encode));
        }
    }

    /** Responds with what a worker makes, or with the refusal where that is nothing. */
    private void respond(RoutingContext context, Refusal absent, Supplier<Optional<String>> json) {
        var preferences = JsonResponse.Preferences.of(context);
        workers.run(() -> json.get().map(body -> JsonResponse.of(body, preferences)))
                .onSuccess(response -> response.ifPresentOrElse(
                        it -> it.send(context),
                        () -> ProblemDetails.respond(context, absent.status(), absent.detail())))
                .onFailure(failure -> ProblemDetails.failed(context, failure));
    }
}
