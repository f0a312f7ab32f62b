package io.gpufleet.health.http;

import io.gpufleet.health.app.Authorizer;
import io.gpufleet.health.app.CommandSink;
import io.gpufleet.health.app.NodeStateStore;
import io.gpufleet.health.model.BrakeReset;
import io.gpufleet.health.model.HealthSignal.Command;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.OperatorCommands;
import io.gpufleet.kit.web.OpenApiDocument;
import io.gpufleet.kit.web.ProblemDetails;
import io.gpufleet.kit.web.QueryParameters;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** Routes below {@code /v1}. Any replica answers reads from its own state, and appends commands to the log. */
public final class HealthRoutes {
    private static final int MAX_REASON = 512;
    private static final Set<Command> NODE_COMMANDS = EnumSet.of(Command.QUARANTINE, Command.RELEASE, Command.FORGET);
    private static final Set<Command> DEVICE_COMMANDS =
            EnumSet.of(Command.QUARANTINE, Command.RELEASE, Command.RETIRE, Command.CLEAR);
    private static final BodyHandler BODY = BodyHandler.create(false).setBodyLimit(8 * 1024);

    private final NodeStateStore store;
    private final UnaryOperator<String> outcome;
    private final CommandSink commands;
    private final Predicate<String> refusedAsStale;
    private final Authorizer authorizer;

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
            Authorizer authorizer,
            Predicate<String> refusedAsStale) {
        this.store = store;
        this.outcome = outcome;
        this.commands = commands;
        this.refusedAsStale = refusedAsStale;
        this.authorizer = authorizer;
    }

    /** Adds the routes. */
    public void mount(Router router) {
        OpenApiDocument.mount(router);
        ProblemDetails.mount(router);
        router.get("/v1/nodes/:node/why").handler(this::why);
        router.post("/v1/brake/reset")
                .handler(BODY)
                .handler(context -> issueCommand(
                        context,
                        Command.RESET_BRAKE,
                        new CommandTarget(BrakeReset.FLEET, "", "brakes", "storm-brake")));
        for (Command command : NODE_COMMANDS) {
            router.post("/v1/nodes/:node/" + verb(command))
                    .handler(BODY)
                    .handler(context -> nodeCommand(context, command));
        }
        for (Command command : DEVICE_COMMANDS) {
            router.post("/v1/devices/:device/" + verb(command))
                    .handler(BODY)
                    .handler(context -> deviceCommand(context, command));
        }
    }

    private void why(RoutingContext context) {
        if (!QueryParameters.accept(context, Set.of())) {
            return;
        }
        String node = parameter(context, "node");
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

    private void nodeCommand(RoutingContext context, Command command) {
        String node = parameter(context, "node");
        if (store.node(node).isEmpty()) {
            notFound(context, "node " + node);
            return;
        }
        issueCommand(context, command, new CommandTarget(node, "", "nodes", node));
    }

    private void deviceCommand(RoutingContext context, Command command) {
        String device = parameter(context, "device");
        Optional<NodeState> owner = store.withDevice(device)
                .max(Comparator.comparing(state ->
                        state.device(device).map(known -> known.listed()).orElse(false)));
        if (owner.isEmpty()) {
            notFound(context, "device " + device);
            return;
        }
        issueCommand(context, command, new CommandTarget(owner.get().node().name(), device, "devices", device));
    }

    /** Node and device of a command, and its resource in RBAC. */
    private record CommandTarget(String node, String device, String resource, String name) {}

    private void issueCommand(RoutingContext context, Command command, CommandTarget target) {
        String header = Optional.ofNullable(context.request().getHeader("authorization"))
                .orElse("");
        String reason = reason(context);
        if (!QueryParameters.accept(context, Set.of())) {
            return;
        }
        if (!header.startsWith("Bearer ")) {
            unauthenticated(context, "send a Kubernetes token: Authorization: Bearer <token>");
        } else if (reason.isBlank() || reason.length() > MAX_REASON) {
            ProblemDetails.respond(context, 400, "send a reason as JSON: {\"reason\": \"1 to 512 characters\"}");
        } else {
            var request = new Authorizer.AccessRequest(verb(command), target.resource(), target.name());
            context.vertx()
                    .executeBlocking(() -> authorizer.authorize(header.substring("Bearer ".length()), request))
                    .onSuccess(access -> respond(context, command, target, reason, access))
                    .onFailure(context::fail);
        }
    }

    private void respond(
            RoutingContext context,
            Command command,
            CommandTarget target,
            String reason,
            Authorizer.AccessResult access) {
        switch (access) {
            case Authorizer.AccessResult.Allowed _
            when conflict(command, target).isPresent() ->
                ProblemDetails.respond(context, 409, conflict(command, target).orElseThrow());
            case Authorizer.AccessResult.Allowed(String user) ->
                Future.fromCompletionStage(
                                commands.commandIssued(target.node(), target.device(), command, user, reason))
                        .onSuccess(_ -> context.response()
                                .setStatusCode(202)
                                .putHeader("content-type", "application/json")
                                .end(new JsonObject()
                                        .put("node", target.node())
                                        .put("device", target.device())
                                        .put("command", verb(command))
                                        .put("user", user)
                                        .encode()))
                        .onFailure(failed ->
                                ProblemDetails.respond(context, 503, "not appended to Kafka: " + failed.getMessage()));
            case Authorizer.AccessResult.Unauthenticated() ->
                unauthenticated(context, "the API server does not know this token");
            case Authorizer.AccessResult.Forbidden(String user, String denial) ->
                ProblemDetails.respond(context, 403, user + " is " + denial);
            case Authorizer.AccessResult.Unavailable(String failure) ->
                ProblemDetails.respond(context, 503, "TokenReview not possible: " + failure);
        }
    }

    private Optional<String> conflict(Command command, CommandTarget target) {
        return store.node(target.node())
                .filter(_ -> command != Command.RESET_BRAKE)
                .flatMap(state -> OperatorCommands.conflict(state, command, target.device()));
    }

    /** The text of the field; empty where the body is no object or the field no text. */
    private static String reason(RoutingContext context) {
        Buffer body = context.body().buffer();
        try {
            return body != null
                            && Json.decodeValue(body) instanceof JsonObject object
                            && object.getValue("reason") instanceof String reason
                    ? reason
                    : "";
        } catch (DecodeException notJson) {
            return "";
        }
    }

    private static String parameter(RoutingContext context, String name) {
        return Optional.ofNullable(context.pathParam(name)).orElse("");
    }

    /** RFC 9110 asks for the scheme of authentication with a 401. */
    private static void unauthenticated(RoutingContext context, String detail) {
        context.response().putHeader("www-authenticate", "Bearer");
        ProblemDetails.respond(context, 401, detail);
    }

    private static void notFound(RoutingContext context, String what) {
        ProblemDetails.respond(context, 404, what + " is unknown");
    }

    private static String verb(Command command) {
        return command == Command.RESET_BRAKE ? "reset" : command.name().toLowerCase(Locale.ROOT);
    }
}
