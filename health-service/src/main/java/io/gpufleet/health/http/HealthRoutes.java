package io.gpufleet.health.http;

import io.gpufleet.health.app.CommandSink;
import io.gpufleet.health.app.NodeStateStore;
import io.gpufleet.health.model.BrakeReset;
import io.gpufleet.kit.web.Authorizer;
import io.gpufleet.kit.web.BearerAuthorization;
import io.gpufleet.kit.web.OpenApiDocument;
import io.gpufleet.kit.web.ProblemDetails;
import io.gpufleet.kit.web.QueryParameters;
import io.gpufleet.kit.web.ReadAccess;
import io.gpufleet.kit.web.RequestWorkers;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** Routes below {@code /v1}. Any replica answers reads from its own state, and appends commands to the log. */
public final class HealthRoutes {
    /** API group of the resources that RBAC names. */
    static final String API_GROUP = "gpufleet.io";

    /**
     * Who decides about requests, and where that blocks.
     *
     * @param reads may remember an answer for some seconds
     * @param commands remembers nothing: a right that was withdrawn withdraws no GPU
     */
    public record Access(Authorizer reads, Authorizer commands, RequestWorkers workers) {}

    private final NodeStateStore store;
    private final UnaryOperator<String> outcome;
    private final CommandRoutes commands;
    private final Predicate<String> refusedAsStale;
    private final Access access;

    /**
     * Routes over the store.
     *
     * @param outcome outcome of the last reconcile of a node, one line
     * @param refusedAsStale true for a node whose newest events were all refused as older than one already applied
     */
    public HealthRoutes(
            NodeStateStore store,
            UnaryOperator<String> outcome,
            CommandSink commands,
            Access access,
            Predicate<String> refusedAsStale) {
        this.store = store;
        this.outcome = outcome;
        this.commands = new CommandRoutes(store, commands, access);
        this.refusedAsStale = refusedAsStale;
        this.access = access;
    }

    /** Adds the routes. */
    public void mount(Router router) {
        OpenApiDocument.mount(router);
        ProblemDetails.mount(router);
        BearerAuthorization reads = ReadAccess.of(API_GROUP, access.reads(), access.workers());
        // A route of all methods: the 405 of a path without GET lists its own methods only.
        router.route("/v1/*").handler(context -> {
            if (context.request().method() == HttpMethod.GET) {
                reads.handle(context);
            } else {
                context.next();
            }
        });
        router.get("/v1/nodes/:node/why").handler(this::why);
        commands.mount(router);
    }

    private void why(RoutingContext context) {
        if (!QueryParameters.accept(context, Set.of())) {
            return;
        }
        String node = Optional.ofNullable(context.pathParam("node")).orElse("");
        store.node(node)
                .filter(_ -> !node.equals(BrakeReset.FLEET))
                .ifPresentOrElse(
                        state -> context.response()
                                .putHeader("content-type", "application/json")
                                .end(ExplanationJson.of(
                                                state,
                                                outcome.apply(node),
                                                refusedAsStale.test(node),
                                                BrakeReset.newest(store.node(BrakeReset.FLEET)))
                                        .encode()),
                        () -> notFound(context, "node " + node));
    }

    static void notFound(RoutingContext context, String what) {
        ProblemDetails.respond(context, 404, what + " is unknown");
    }
}
