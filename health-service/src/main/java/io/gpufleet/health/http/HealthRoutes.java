package io.gpufleet.health.http;

import io.gpufleet.health.app.Authority;
import io.gpufleet.health.app.HealthCore;
import io.gpufleet.health.app.Reconciler;
import io.gpufleet.health.app.SignalSink;
import io.gpufleet.health.model.HealthSignal.Word;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.kit.web.Problem;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** {@code /v1}: reads are answered by any replica from its own state; words go to the log, so any replica takes them. */
public final class HealthRoutes {
    private static final int MOST_BYTES = 8 * 1024;
    private static final int MOST_REASON = 512;

    private final Vertx vertx;
    private final HealthCore core;
    private final Reconciler reconciler;
    private final SignalSink signals;
    private final Authority authority;

    /** Routes over the core. */
    public HealthRoutes(Vertx vertx, HealthCore core, Reconciler reconciler, SignalSink signals, Authority authority) {
        this.vertx = vertx;
        this.core = core;
        this.reconciler = reconciler;
        this.signals = signals;
        this.authority = authority;
    }

    /** Mounts them. */
    public void mount(Router router) {
        router.get("/v1/nodes/:node/why").handler(this::why);
        for (Word word : Word.values()) {
            String verb = verb(word);
            if (word != Word.RETIRE) {
                router.post("/v1/nodes/:node/" + verb)
                        .handler(BodyHandler.create(false).setBodyLimit(MOST_BYTES))
                        .handler(context -> ofNode(context, word));
            }
            router.post("/v1/devices/:device/" + verb)
                    .handler(BodyHandler.create(false).setBodyLimit(MOST_BYTES))
                    .handler(context -> ofDevice(context, word));
        }
    }

    private void why(RoutingContext context) {
        String node = parameter(context, "node");
        core.node(node)
                .ifPresentOrElse(
                        state -> context.response()
                                .putHeader("content-type", "application/json")
                                .end(WhyJson.of(state, reconciler.outcome(node)).encode()),
                        () -> unknown(context, "node " + node));
    }

    private void ofNode(RoutingContext context, Word word) {
        String node = parameter(context, "node");
        if (core.node(node).isEmpty()) {
            unknown(context, "node " + node);
            return;
        }
        speak(context, word, new Subject(node, "", "nodes", node));
    }

    private void ofDevice(RoutingContext context, Word word) {
        String device = parameter(context, "device");
        Optional<NodeState> home = core.withDevice(device)
                .max(Comparator.comparing(state ->
                        state.device(device).map(known -> known.listed()).orElse(false)));
        if (home.isEmpty()) {
            unknown(context, "device " + device);
            return;
        }
        speak(context, word, new Subject(home.get().node(), device, "devices", device));
    }

    /** What a word is about, and how RBAC calls it. */
    private record Subject(String node, String device, String resource, String name) {}

    private void speak(RoutingContext context, Word word, Subject subject) {
        String header = Optional.ofNullable(context.request().getHeader("authorization"))
                .orElse("");
        String reason = reason(context);
        if (!header.startsWith("Bearer ")) {
            Problem.answer(context, 401, "Unauthorized", "send a Kubernetes token: Authorization: Bearer <token>");
        } else if (reason.isBlank() || reason.length() > MOST_REASON) {
            Problem.answer(context, 400, "Bad Request", "send why, as JSON: {\"reason\": \"1 to 512 characters\"}");
        } else {
            var deed = new Authority.Deed(verb(word), subject.resource(), subject.name());
            vertx.executeBlocking(() -> authority.ask(header.substring("Bearer ".length()), deed))
                    .onSuccess(verdict -> answer(context, word, subject, reason, verdict))
                    .onFailure(failed -> Problem.answer(context, 500, "Internal Server Error", failed.toString()));
        }
    }

    private void answer(RoutingContext context, Word word, Subject subject, String reason, Authority.Verdict verdict) {
        switch (verdict) {
            case Authority.Verdict.Allowed(String user) ->
                Future.fromCompletionStage(signals.spoke(subject.node(), subject.device(), word, user, reason))
                        .onSuccess(_ -> context.response()
                                .setStatusCode(202)
                                .putHeader("content-type", "application/json")
                                .end(new JsonObject()
                                        .put("node", subject.node())
                                        .put("device", subject.device())
                                        .put("word", verb(word))
                                        .put("user", user)
                                        .encode()))
                        .onFailure(failed -> Problem.answer(
                                context, 503, "Service Unavailable", "Kafka did not take it: " + failed.getMessage()));
            case Authority.Verdict.Unknown() ->
                Problem.answer(context, 401, "Unauthorized", "the API server does not know this token");
            case Authority.Verdict.Forbidden(String user, String why) ->
                Problem.answer(context, 403, "Forbidden", user + " is " + why);
            case Authority.Verdict.Unanswered(String why) ->
                Problem.answer(
                        context,
                        503,
                        "Service Unavailable",
                        "the Kubernetes API could not be asked who you are: " + why);
        }
    }

    private static String reason(RoutingContext context) {
        try {
            JsonObject body = context.body().asJsonObject();
            return body == null ? "" : String.valueOf(body.getValue("reason", ""));
        } catch (DecodeException notJson) {
            return "";
        }
    }

    private static String parameter(RoutingContext context, String name) {
        return Optional.ofNullable(context.pathParam(name)).orElse("");
    }

    private static void unknown(RoutingContext context, String what) {
        Problem.answer(context, 404, "Not Found", what + " was never heard of");
    }

    private static String verb(Word word) {
        return word.name().toLowerCase(Locale.ROOT);
    }
}
