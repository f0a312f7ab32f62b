package io.gpufleet.health.http;

import io.gpufleet.health.app.CommandSink;
import io.gpufleet.health.app.IncidentStore;
import io.gpufleet.health.app.NodeStateStore;
import io.gpufleet.health.app.PodOwners;
import io.gpufleet.health.app.ShadowView;
import io.gpufleet.health.model.FleetCommandDecider;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.incident.Incident;
import io.gpufleet.health.model.replay.Difference;
import io.gpufleet.kit.web.Authorizer;
import io.gpufleet.kit.web.BearerAuthorization;
import io.gpufleet.kit.web.OpenApiDocument;
import io.gpufleet.kit.web.ProblemDetails;
import io.gpufleet.kit.web.QueryParameters;
import io.gpufleet.kit.web.ReadAccess;
import io.gpufleet.kit.web.RequestWorkers;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** Routes below {@code /v1}. Any replica answers reads from its own state, and appends commands to the log. */
public final class HealthRoutes {
    /** API group of the resources that RBAC names. */
    static final String API_GROUP = "gpufleet.io";

    /**
     * Authorizer of requests, and the threads on which it blocks.
     *
     * @param reads may remember an answer for some seconds
     * @param commands remembers nothing: a right that was withdrawn withdraws no GPU
     */
    public record Access(Authorizer reads, Authorizer commands, RequestWorkers workers) {}

    /**
     * Sources of the responses.
     *
     * @param states committed states of the nodes
     * @param owners controllers of the pods that incidents name
     * @param outcome outcome of the last reconcile of a node, one line
     * @param refusedAsStale true for a node whose newest events were all refused as older than one already applied
     * @param missedFromServices events of services that never arrived, a line for each of the newest gaps
     * @param shadow what a shadow policy decides otherwise
     */
    public record Sources(
            NodeStateStore states,
            IncidentStore incidents,
            PodOwners owners,
            UnaryOperator<String> outcome,
            Predicate<String> refusedAsStale,
            Supplier<List<String>> missedFromServices,
            ShadowView shadow) {}

    /** Incidents in the explanation of a node. */
    private static final int EXPLAINED_INCIDENTS = 5;

    private static final int EXPLAINED_DIFFERENCES = 5;

    private final Sources sources;
    private final Access access;
    private final ReadResponses responses;
    private final CommandRoutes commands;

    /** Routes over the sources; commands go to the sink. */
    public HealthRoutes(Sources sources, CommandSink commands, Access access, Clock clock) {
        this.sources = sources;
        this.access = access;
        this.responses = new ReadResponses(access, sources.owners(), clock);
        this.commands = new CommandRoutes(sources.states(), commands, access);
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
        new IncidentRoutes(sources.states(), sources.incidents(), responses).mount(router);
        new ShadowRoutes(sources.shadow(), responses).mount(router);
        commands.mount(router);
    }

    private void why(RoutingContext context) {
        if (QueryParameters.accept(context, Set.of())) {
            String node = Optional.ofNullable(context.pathParam("node")).orElse("");
            responses.respond(
                    context,
                    "node " + node,
                    json -> sources.states()
                            .node(node)
                            .filter(_ -> !node.equals(FleetCommandDecider.FLEET))
                            .map(state -> explain(state, json)));
        }
    }

    private JsonObject explain(NodeState state, IncidentJson json) {
        String node = state.node().name();
        List<Incident> newest = sources.incidents().ofNode(node);
        JsonObject explanation = ExplanationJson.of(
                        state,
                        sources.outcome().apply(node),
                        sources.refusedAsStale().test(node),
                        sources.states().node(FleetCommandDecider.FLEET))
                .put("incidents", json.of(newest.subList(0, Math.min(EXPLAINED_INCIDENTS, newest.size()))));
        List<String> missed = sources.missedFromServices().get();
        if (!missed.isEmpty()) {
            explanation.put("missedFromServices", new JsonArray(missed));
        }
        List<Difference> differences = sources.shadow().ofNode(node, EXPLAINED_DIFFERENCES);
        return differences.isEmpty() ? explanation : explanation.put("shadow", ShadowRoutes.json(differences));
    }

    static void notFound(RoutingContext context, String what) {
        ProblemDetails.respond(context, 404, what + " is unknown");
    }
}
