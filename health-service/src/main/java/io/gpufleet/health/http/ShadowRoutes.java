package io.gpufleet.health.http;

import io.gpufleet.health.app.ShadowView;
import io.gpufleet.health.model.replay.Difference;
import io.gpufleet.health.model.replay.ReplaySummary;
import io.gpufleet.kit.web.ProblemDetails;
import io.gpufleet.kit.web.QueryParameters;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Differences of a shadow policy: {@code GET /v1/shadow}.
 *
 * <pre>
 * since, complete
 * policies      [policy, taints, withdrawals, heldBack, mostTainted, mostTaintedAt?], the one in force first
 * differences   [node, device, at, only: policy or shadow, rule, action, from, to, outcome, reason], newest first
 * </pre>
 */
final class ShadowRoutes {
    private static final Set<String> PARAMETERS = Set.of("limit");

    private final ShadowView shadow;
    private final ReadResponses responses;

    ShadowRoutes(ShadowView shadow, ReadResponses responses) {
        this.shadow = shadow;
        this.responses = responses;
    }

    /** Adds the route. */
    void mount(Router router) {
        router.get("/v1/shadow").handler(this::shadow);
    }

    private void shadow(RoutingContext context) {
        if (!QueryParameters.accept(context, PARAMETERS)) {
            return;
        }
        OptionalInt limit = ResponseLimit.of(context);
        if (limit.isEmpty()) {
            ProblemDetails.respond(context, 400, ResponseLimit.EXPECTED);
        } else if (!shadow.isOn()) {
            ProblemDetails.respond(context, 404, "there is no shadow policy: GPUFLEET_SHADOW_POLICY is not set");
        } else {
            responses.respond(context, "", _ -> Optional.of(json(shadow.snapshot(limit.getAsInt()))));
        }
    }

    private static JsonObject json(ShadowView.Snapshot snapshot) {
        return new JsonObject()
                .put("since", snapshot.since().toString())
                .put("complete", snapshot.loaded())
                .put(
                        "policies",
                        new JsonArray(snapshot.summaries().stream()
                                .map(ShadowRoutes::json)
                                .toList()))
                .put("differences", json(snapshot.differences()));
    }

    private static JsonObject json(ReplaySummary summary) {
        var json = new JsonObject()
                .put("policy", summary.policy())
                .put("taints", summary.taints())
                .put("withdrawals", summary.withdrawals())
                .put("heldBack", summary.heldBack())
                .put("mostTainted", summary.mostTainted());
        return summary.mostAt().equals(Instant.MIN)
                ? json
                : json.put("mostTaintedAt", summary.mostAt().toString());
    }

    static JsonArray json(List<Difference> differences) {
        return new JsonArray(differences.stream().map(ShadowRoutes::json).toList());
    }

    private static JsonObject json(Difference difference) {
        var decision = difference.decision();
        return new JsonObject()
                .put("node", difference.node())
                .put("device", decision.device())
                .put("at", difference.at().toString())
                .put("only", difference.first() ? "policy" : "shadow")
                .put("rule", decision.rule())
                .put("action", decision.action())
                .put("from", decision.transition().from())
                .put("to", decision.transition().to())
                .put(
                        "outcome",
                        decision.outcome()
                                .status()
                                .name()
                                .toLowerCase(Locale.ROOT)
                                .replace('_', '-'))
                .put("reason", decision.outcome().reason());
    }
}
