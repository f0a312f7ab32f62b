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

/** Pods that incidents name. */
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
}
