package io.gpufleet.health.http;

import io.gpufleet.health.app.PodOwners;
import io.gpufleet.health.model.Decision;
import io.gpufleet.health.model.HealthSignal.Holder;
import io.gpufleet.health.model.incident.Incident;
import io.gpufleet.health.model.incident.RecordedDecision;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;

/**
 * Incidents and decisions as JSON.
 *
 * @param now up to when the time of an open incident counts
 * @param sees whether the pods of a namespace may be named
 * @param owners names the controllers of the pods
 */
record IncidentJson(Instant now, Predicate<String> sees, PodOwners owners) {
    /** Incidents with their decisions. */
    JsonArray of(List<Incident> incidents) {
        var json = new JsonArray();
        incidents.forEach(incident -> json.add(of(incident)));
        return json;
    }

    private JsonObject of(Incident incident) {
        Decision first = incident.first().decision();
        return new JsonObject()
                .put("id", incident.id())
                .put("node", incident.node())
                .put("open", incident.open())
                .put("begin", incident.first().at().toString())
                .put("until", incident.until().toString())
                .put(
                        "firstFact",
                        first.evidence().isEmpty() ? "" : first.evidence().getFirst())
                .put("reason", first.outcome().reason())
                .put("rule", first.rule())
                .put("budget", incident.budget())
                .put("effects", new JsonArray(incident.effects()))
                .put("devices", new JsonArray(List.copyOf(incident.devices())))
                .put("pods", pods(incident.node(), incident.holders()))
                .put(
                        "namespaces",
                        new JsonArray(incident.namespaces().filter(sees).toList()))
                .put("gpuSecondsLost", incident.downtime().gpuTimeLost(now).toSeconds())
                .put("nodeTaintedSeconds", incident.downtime().nodeTainted(now).toSeconds())
                .put("decisions", decisions(incident.decisions()))
                .put("decisionsLeftOut", incident.leftOut());
    }

    /** Decisions in their order. */
    JsonArray decisions(List<RecordedDecision> decisions) {
        var json = new JsonArray();
        decisions.forEach(recorded -> json.add(of(recorded)));
        return json;
    }

    private JsonObject of(RecordedDecision recorded) {
        Decision decision = recorded.decision();
        return new JsonObject()
                .put("id", recorded.id())
                .put("at", recorded.at().toString())
                .put("node", recorded.node())
                .put("device", recorded.device())
                .put("from", decision.transition().from())
                .put("to", decision.transition().to())
                .put("action", decision.action())
                .put("outcome", decision.outcome().status().name().toLowerCase(Locale.ROOT))
                .put("reason", decision.outcome().reason())
                .put("rule", decision.rule())
                .put("budget", decision.outcome().budget())
                .put("evidence", new JsonArray(decision.evidence()))
                .put("pods", pods(recorded.node(), decision.holders()));
    }

    private JsonArray pods(String node, Collection<Holder> holders) {
        var json = new JsonArray();
        holders.forEach(holder ->
                json.add(sees.test(holder.namespace()) ? pod(node, holder) : new JsonObject().put("masked", true)));
        return json;
    }

    private JsonObject pod(String node, Holder holder) {
        var json = new JsonObject()
                .put("namespace", holder.namespace())
                .put("pod", holder.pod())
                .put("podUid", holder.podUid())
                .put("container", holder.container());
        owners.of(node, holder).ifPresent(owner -> json.put("owner", owner));
        return json;
    }
}
