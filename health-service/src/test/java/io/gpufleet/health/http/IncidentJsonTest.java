package io.gpufleet.health.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.app.PodOwners;
import io.gpufleet.health.model.Decision;
import io.gpufleet.health.model.HealthSignal.Holder;
import io.gpufleet.health.model.device.HealthState;
import io.gpufleet.health.model.incident.Incident;
import io.gpufleet.health.model.incident.IncidentLog;
import io.gpufleet.health.model.incident.RecordedDecision;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Incidents as the server tells them: pods, budget, and what was lost. */
class IncidentJsonTest {
    private static final Instant NOW = Instant.parse("2026-03-01T10:00:00Z");
    private static final Holder TRAINER = new Holder("ml", "train-0", "uid-1", "main");
    private static final Holder NOTEBOOK = new Holder("home", "notebook", "uid-2", "main");

    private final PodOwners owners = new PodOwners();

    private static List<Incident> incidents() {
        var log = new IncidentLog();
        log.add(new RecordedDecision(
                "decision-1",
                "node-1",
                NOW,
                new Decision(
                        "gpu-0",
                        List.of("fact-1"),
                        "nvidia/xid-79",
                        new Decision.StateTransition(HealthState.HEALTHY, HealthState.UNHEALTHY),
                        Decision.WITHDRAW,
                        new Decision.Outcome(Decision.Status.ACTED, "Xid79", ""),
                        List.of(TRAINER, NOTEBOOK),
                        1)));
        return log.newestFirst().toList();
    }

    private static RecordedDecision decided(int second, String device, String action, Decision.Outcome outcome) {
        HealthState to = action.equals(Decision.TRUST) || action.equals(Decision.REMOVE_TAINT)
                ? HealthState.HEALTHY
                : HealthState.UNHEALTHY;
        return new RecordedDecision(
                "decision-" + second + device,
                "node-1",
                NOW.plusSeconds(second),
                new Decision(
                        device,
                        List.of("fact-1"),
                        "nvidia/xid-79",
                        new Decision.StateTransition(HealthState.HEALTHY, to),
                        action,
                        outcome,
                        List.of(),
                        1));
    }

    private static Decision.Outcome acted(String budget) {
        return new Decision.Outcome(Decision.Status.ACTED, "Xid79", budget);
    }

    /** One GPU is out for 100 s and a second since 40 s after it; the node is tainted from the 10th to the 70th second. */
    private static JsonObject incidentOfTwoGpus(Instant now) {
        var log = new IncidentLog();
        log.add(decided(0, "gpu-0", Decision.WITHDRAW, acted("devices of default: 0 out, limit 8")));
        log.add(decided(10, "", Decision.APPLY_TAINT, acted("nodes of default: 0 out, limit 10")));
        log.add(decided(40, "gpu-1", Decision.WITHDRAW, acted("devices of default: 1 out, limit 8")));
        log.add(decided(70, "", Decision.REMOVE_TAINT, acted("")));
        log.add(decided(100, "gpu-0", Decision.TRUST, acted("")));
        return new IncidentJson(now, _ -> true, new PodOwners())
                .of(log.newestFirst().toList())
                .getJsonObject(0);
    }

    private static JsonArray pods(IncidentJson json) {
        return json.of(incidents()).getJsonObject(0).getJsonArray("pods");
    }

    private static JsonObject pod(Holder holder) {
        return new JsonObject()
                .put("namespace", holder.namespace())
                .put("pod", holder.pod())
                .put("podUid", holder.podUid())
                .put("container", holder.container());
    }

    @Test
    void podsOfAnIncidentAndOfItsDecisionsHaveTheirOwners() {
        owners.observed("node-1", TRAINER, "Job/train");
        var json = new IncidentJson(NOW, _ -> true, owners);

        assertThat(pods(json)).containsExactly(pod(TRAINER).put("owner", "Job/train"), pod(NOTEBOOK));
        assertThat(json.of(incidents())
                        .getJsonObject(0)
                        .getJsonArray("decisions")
                        .getJsonObject(0)
                        .getJsonArray("pods"))
                .isEqualTo(pods(json));
    }

    @Test
    void ownerInANamespaceThatTheUserMayNotSeeIsMaskedWithItsPod() {
        owners.observed("node-1", TRAINER, "Job/train");

        assertThat(pods(new IncidentJson(NOW, "home"::equals, owners)))
                .containsExactly(new JsonObject().put("masked", true), pod(NOTEBOOK));
    }

    @Test
    void incidentHasItsRuleItsNewestBudgetAndTheTimeLost() {
        JsonObject incident = incidentOfTwoGpus(NOW.plusSeconds(150));

        assertThat(incident.getString("rule")).isEqualTo("nvidia/xid-79");
        assertThat(incident.getString("budget")).isEqualTo("devices of default: 1 out, limit 8");
        assertThat(incident.getLong("gpuSecondsLost")).isEqualTo(100 + 110);
        assertThat(incident.getLong("nodeTaintedSeconds")).isEqualTo(60);
        assertThat(incident.getBoolean("open")).isTrue();
    }

    @Test
    void decisionsHaveTheBudgetThatWasCheckedForEach() {
        assertThat(incidentOfTwoGpus(NOW.plusSeconds(150)).getJsonArray("decisions").stream()
                        .map(decision -> ((JsonObject) decision).getString("budget")))
                .containsExactly(
                        "devices of default: 0 out, limit 8",
                        "nodes of default: 0 out, limit 10",
                        "devices of default: 1 out, limit 8",
                        "",
                        "");
    }

    @Test
    void gpuSecondsOfAnOpenIncidentGoOn() {
        assertThat(incidentOfTwoGpus(NOW.plusSeconds(151)).getLong("gpuSecondsLost"))
                .isEqualTo(incidentOfTwoGpus(NOW.plusSeconds(150)).getLong("gpuSecondsLost") + 1);
    }
}
