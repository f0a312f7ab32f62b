package io.gpufleet.inventory.http;

import io.gpufleet.inventory.app.PageToken;
import io.gpufleet.inventory.model.Census;
import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.FleetQuery;
import io.gpufleet.inventory.model.NodeImage;
import io.gpufleet.kit.web.Problem;
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

/** {@code /v1/…}: the image of the fleet as this replica has it. */
public final class InventoryRoutes {
    private static final int DEFAULT_PAGE = 100;
    private static final int LARGEST_PAGE = 1000;

    private final Supplier<Fleet> fleet;
    private final Supplier<List<String>> suspected;
    private final Answers answers;

    /**
     * Answers from the newest image.
     *
     * @param suspected silent nodes that are not called lost
     * @param labels what labels follow from an image
     */
    public InventoryRoutes(
            Supplier<Fleet> fleet, Supplier<List<String>> suspected, Function<NodeImage, Map<String, String>> labels) {
        this.fleet = fleet;
        this.suspected = suspected;
        this.answers = new Answers(labels);
    }

    /** A page that was asked for. */
    private record Asked(FleetQuery query, String after, int size) {}

    /** Mounts the routes; anything else below is 404 with a problem. */
    public void mount(Router router) {
        Buffer document = document();
        router.get("/openapi.yaml")
                .handler(context -> context.response()
                        .putHeader("content-type", "application/yaml")
                        .end(document));
        router.get("/v1/summary").handler(context -> plain(context, this::summary));
        router.get("/v1/models").handler(context -> plain(context, this::models));
        router.get("/v1/nodes").handler(context -> paged(context, this::nodes));
        router.get("/v1/nodes/:node").handler(context -> plain(context, this::node));
        router.get("/v1/devices").handler(context -> paged(context, this::devices));
        router.get("/v1/devices/:uuid").handler(context -> plain(context, this::device));
        router.errorHandler(
                404,
                context -> Problem.answer(
                        context,
                        404,
                        "not found",
                        "nothing is served at " + context.request().path() + "; /openapi.yaml lists what is"));
        router.errorHandler(
                405,
                context -> Problem.answer(context, 405, "method not allowed", "the inventory is read only: use GET"));
        router.errorHandler(
                500,
                context -> Problem.answer(
                        context,
                        500,
                        "internal error",
                        "this is a mistake of ours; the log of this replica says more"));
    }

    private void summary(RoutingContext context) {
        answer(context, answers.summary(Census.of(fleet.get()), suspected.get()));
    }

    private void models(RoutingContext context) {
        answer(context, new JsonObject().put("items", answers.models(Census.of(fleet.get()))));
    }

    private void nodes(RoutingContext context, Asked asked) {
        var page = asked.query().nodes(fleet.get(), asked.after(), asked.size());
        answer(context, page(Answers.array(page.items().stream().map(answers::node)), page.next()));
    }

    private void devices(RoutingContext context, Asked asked) {
        var page = asked.query().devices(fleet.get(), asked.after(), asked.size());
        answer(context, page(Answers.array(page.items().stream().map(answers::device)), page.next()));
    }

    private void node(RoutingContext context) {
        String name = Objects.requireNonNull(context.pathParam("node"));
        fleet.get()
                .node(name)
                .filter(node -> node.announcement() != null)
                .ifPresentOrElse(
                        node -> answer(context, answers.node(node)),
                        () -> Problem.answer(
                                context, 404, "no such node", "no node '" + name + "' was announced by a daemon"));
    }

    private void device(RoutingContext context) {
        String uuid = Objects.requireNonNull(context.pathParam("uuid"));
        fleet.get()
                .device(uuid)
                .ifPresentOrElse(
                        place -> answer(context, answers.device(place)),
                        () -> Problem.answer(
                                context,
                                404,
                                "no such device",
                                "no GPU and no MIG instance '" + uuid + "' was announced by a daemon"));
    }

    private interface Paged {
        void answer(RoutingContext context, Asked asked);
    }

    private interface Plain {
        void answer(RoutingContext context);
    }

    private static void plain(RoutingContext context, Plain route) {
        if (knows(context, Set.of())) {
            route.answer(context);
        }
    }

    private static void paged(RoutingContext context, Paged route) {
        if (!knows(context, Set.of("model", "node", "health", "limit", "token"))) {
            return;
        }
        Optional<Integer> size = size(context);
        Optional<String> after = PageToken.place(parameter(context, "token"));
        if (size.isEmpty()) {
            refuse(context, "limit='" + parameter(context, "limit") + "' is not usable: it takes 1 to " + LARGEST_PAGE);
        } else if (after.isEmpty()) {
            refuse(context, "token is not one that this service gave: take 'next' of the page before");
        } else {
            var query = new FleetQuery(
                    parameter(context, "model"), parameter(context, "node"), parameter(context, "health"));
            route.answer(context, new Asked(query, after.get(), size.get()));
        }
    }

    private static boolean knows(RoutingContext context, Set<String> parameters) {
        for (String given : context.queryParams().names()) {
            if (!parameters.contains(given)) {
                refuse(
                        context,
                        "query parameter '" + given + "' is not known here; it takes "
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
            return Optional.of(DEFAULT_PAGE);
        }
        return text.matches("[0-9]{1,4}")
                ? Optional.of(Integer.parseInt(text)).filter(size -> size >= 1 && size <= LARGEST_PAGE)
                : Optional.empty();
    }

    private static String parameter(RoutingContext context, String name) {
        String value = context.queryParams().get(name);
        return value == null ? "" : value;
    }

    private static void refuse(RoutingContext context, String detail) {
        Problem.answer(context, 400, "bad request", detail);
    }

    private static JsonObject page(JsonArray items, String next) {
        var json = new JsonObject().put("items", items);
        return next.isEmpty() ? json : json.put("next", PageToken.of(next));
    }

    private static void answer(RoutingContext context, JsonObject json) {
        context.response().putHeader("content-type", "application/json").end(json.encode());
    }

    private static Buffer document() {
        try (InputStream in = InventoryRoutes.class.getResourceAsStream("/openapi.yaml")) {
            if (in == null) {
                throw new IllegalStateException("openapi.yaml is missing in the program");
            }
            return Buffer.buffer(in.readAllBytes());
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
