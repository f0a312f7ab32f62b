package io.gpufleet.health.http;

import io.gpufleet.health.app.CommandSink;
import io.gpufleet.health.app.CommandSink.IssuedCommand;
import io.gpufleet.health.app.NodeStateStore;
import io.gpufleet.health.model.FleetCommandDecider;
import io.gpufleet.health.model.HealthSignal.Command;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.OperatorCommandHandler;
import io.gpufleet.health.model.maintenance.OperatorText;
import io.gpufleet.kit.web.Authorizer.AccessRequest;
import io.gpufleet.kit.web.BearerAuthorization;
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
import java.util.function.Function;

/** Commands of operators: {@code POST /v1/…}, authorized by the verb of the command and appended to the log. */
final class CommandRoutes {
    /** Parts of words in some scripts. */
    private static final Set<Command> NODE_COMMANDS = EnumSet.of(
            Command.QUARANTINE, Command.RELEASE, Command.FORGET, Command.BEGIN_MAINTENANCE, Command.END_MAINTENANCE);

    private static final Set<Command> DEVICE_COMMANDS =
            EnumSet.of(Command.QUARANTINE, Command.RELEASE, Command.RETIRE, Command.CLEAR);

    private final NodeStateStore store;
    private final CommandSink commands;
    private final HealthRoutes.Access access;

    CommandRoutes(NodeStateStore store, CommandSink commands, HealthRoutes.Access access) {
        this.store = store;
        this.commands = commands;
        this.access = access;
    }

    /** Adds the routes. */
    void mount(Router router) {
        mount(router, "/v1/brake/reset", Command.RESET_BRAKE, _ -> new AccessTarget("brakes", "storm-brake"));
        EnumSet.of(Command.FREEZE, Command.UNFREEZE)
                .forEach(command ->
                        mount(router, "/v1/" + verb(command), command, _ -> new AccessTarget("fleets", "fleet")));
        NODE_COMMANDS.forEach(command -> mount(
                router,
                "/v1/nodes/:node/" + verb(command),
                command,
                context -> new AccessTarget("nodes", parameter(context, "node"))));
        DEVICE_COMMANDS.forEach(command -> mount(
                router,
                "/v1/devices/:device/" + verb(command),
                command,
                context -> new AccessTarget("devices", parameter(context, "device"))));
    }

    /** Resource of a command in RBAC, and its name. */
    private record AccessTarget(String resource, String name) {}

    /** The token first: nobody learns which nodes there are without one. */
    private void mount(Router router, String path, Command command, Function<RoutingContext, AccessTarget> target) {
        Function<RoutingContext, AccessRequest> request = context -> new AccessRequest(
                HealthRoutes.API_GROUP,
                target.apply(context).resource(),
                verb(command),
                "",
                target.apply(context).name());
        // A route of its own, since Vert.x wants the body read before a route's other handlers.
        router.post(path).handler(new BearerAuthorization(access.commands(), access.workers(), request));
        router.post(path)
                .handler(BodyHandler.create(false).setBodyLimit(8 * 1024))
                .handler(context -> command(context, command));
    }

    /** Node and device of a command; the device is empty for a command about the node. */
    private record CommandTarget(String node, String device) {}

    private void command(RoutingContext context, Command command) {
        if (!QueryParameters.accept(context, Set.of())) {
            return;
        }
        String node = parameter(context, "node");
        String device = parameter(context, "device");
        if (FleetCommandDecider.concernsFleet(command)) {
            issue(context, command, new CommandTarget(FleetCommandDecider.FLEET, ""));
        } else if (device.isEmpty()) {
            store.node(node)
                    .ifPresentOrElse(
                            _ -> issue(context, command, new CommandTarget(node, "")),
                            () -> HealthRoutes.notFound(context, "node " + node));
        } else {
            owner(device)
                    .ifPresentOrElse(
                            owner -> issue(context, command, new CommandTarget(owner, device)),
                            () -> HealthRoutes.notFound(context, "device " + device));
        }
    }

    /** The node that lists the device, else one that remembers it. */
    private Optional<String> owner(String device) {
        return store.withDevice(device)
                .max(Comparator.comparing(state ->
                        state.device(device).map(known -> known.listed()).orElse(false)))
                .map(state -> state.node().name());
    }

    private void issue(RoutingContext context, Command command, CommandTarget target) {
        String reason = reason(context);
        Optional<String> conflict = conflict(command, target);
        if (!OperatorText.isPrintable(reason)) {
            ProblemDetails.respond(
                    context, 400, "send a reason as JSON: {\"reason\": \"one line of 1 to 512 characters\"}");
        } else if (conflict.isPresent()) {
            ProblemDetails.respond(context, 409, conflict.get());
        } else {
            String user = BearerAuthorization.user(context);
            String trace = Optional.ofNullable(context.request().getHeader("traceparent"))
                    .orElse("");
            var issued = new IssuedCommand(target.node(), target.device(), command, user, reason, trace);
            Future.fromCompletionStage(commands.commandIssued(issued))
                    .onSuccess(_ -> accepted(context, command, target, user))
                    .onFailure(failed ->
                            ProblemDetails.respond(context, 503, "not appended to Kafka: " + failed.getMessage()));
        }
    }

    private static void accepted(RoutingContext context, Command command, CommandTarget target, String user) {
        context.response()
                .setStatusCode(202)
                .putHeader("content-type", "application/json")
                .end(new JsonObject()
                        .put("node", target.node())
                        .put("device", target.device())
                        .put("command", verb(command))
                        .put("user", user)
                        .encode());
    }

    private Optional<String> conflict(Command command, CommandTarget target) {
        if (FleetCommandDecider.concernsFleet(command)) {
            return FleetCommandDecider.conflict(store.node(FleetCommandDecider.FLEET), command);
        }
        return store.node(target.node())
                .flatMap((NodeState state) -> OperatorCommandHandler.conflict(state, command, target.device()));
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

    private static String verb(Command command) {
        return command == Command.RESET_BRAKE
                ? "reset"
                : command.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
