package io.gpufleet.health.model.incident;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.Decision;
import io.gpufleet.health.model.Decision.Status;
import io.gpufleet.health.model.HealthSignal.Holder;
import io.gpufleet.health.model.device.HealthState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Decisions of a node as incidents. */
class IncidentLogTest {
    private static final Instant START = Instant.parse("2026-03-01T10:00:00Z");
    private static final Holder TRAINER = new Holder("ml", "trainer-0", "uid-1", "main");

    private final IncidentLog log = new IncidentLog();
    private Instant now = START;
    private int ids;

    private IncidentLogTest after(Duration time) {
        now = now.plus(time);
        return this;
    }

    private IncidentLogTest decided(String device, String action, HealthState to, String fact) {
        return decided("node-1", device, action, to, fact, Status.ACTED);
    }

    private IncidentLogTest decided(
            String node, String device, String action, HealthState to, String fact, Status status) {
        ids++;
        List<Holder> holders = action.equals(Decision.WITHDRAW) ? List.of(TRAINER) : List.of();
        log.add(new RecordedDecision(
                "decision-" + ids,
                node,
                now,
                new Decision(
                        device,
                        List.of(fact),
                        "nvidia/xid-79",
                        new Decision.StateTransition(HealthState.HEALTHY, to),
                        action,
                        new Decision.Outcome(status, "Xid79", device.isEmpty() ? "1 of 10 nodes" : ""),
                        holders,
                        1)));
        return this;
    }

    private Incident only() {
        assertThat(log.newestFirst()).hasSize(1);
        return log.newestFirst().findFirst().orElseThrow();
    }

    @Test
    void faultItsTaintAndItsRecoveryAreOneIncidentWithTheTimeLost() {
        decided("gpu-0", Decision.WITHDRAW, HealthState.UNHEALTHY, "fact-1")
                .decided("", Decision.APPLY_TAINT, HealthState.UNHEALTHY, "fact-1")
                .after(Duration.ofMinutes(10))
                .decided("gpu-0", Decision.TRUST, HealthState.HEALTHY, "fact-2");

        assertThat(only().open()).isTrue();

        after(Duration.ofMinutes(1)).decided("", Decision.REMOVE_TAINT, HealthState.HEALTHY, "fact-2");

        assertThat(only().open()).isFalse();
        assertThat(only().first().decision().evidence()).containsExactly("fact-1");
        assertThat(only().effects())
                .containsExactly(Decision.WITHDRAW, Decision.APPLY_TAINT, Decision.TRUST, Decision.REMOVE_TAINT);
        assertThat(only().budget()).isEqualTo("1 of 10 nodes");
        assertThat(only().holders()).containsExactly(TRAINER);
        assertThat(only().downtime().gpuTimeLost(now)).isEqualTo(Duration.ofMinutes(10));
        assertThat(only().downtime().nodeTainted(now)).isEqualTo(Duration.ofMinutes(11));
    }

    @Test
    void timeOfSeveralGpusIsAddedAndCountsUntilNow() {
        decided("gpu-0", Decision.WITHDRAW, HealthState.UNHEALTHY, "fact-1")
                .decided("gpu-1", Decision.WITHDRAW, HealthState.UNHEALTHY, "fact-1")
                .after(Duration.ofMinutes(5))
                .decided("gpu-0", Decision.TRUST, HealthState.HEALTHY, "fact-2");

        assertThat(only().downtime().gpuTimeLost(now.plusSeconds(60))).isEqualTo(Duration.ofMinutes(11));
    }

    @Test
    void laterFaultOfAnotherGpuIsAnIncidentOfItsOwn() {
        decided("gpu-0", Decision.WITHDRAW, HealthState.UNHEALTHY, "fact-1")
                .after(Duration.ofMinutes(2))
                .decided("gpu-1", Decision.WITHDRAW, HealthState.UNHEALTHY, "fact-2")
                .decided("gpu-1", Decision.TRUST, HealthState.HEALTHY, "fact-3");

        assertThat(log.newestFirst().map(Incident::devices).map(Object::toString))
                .containsExactly("[gpu-1]", "[gpu-0]");
        assertThat(log.newestFirst().map(Incident::open)).containsExactly(false, true);
    }

    @Test
    void heldBackTaintKeepsAnIncidentOpenUntilItIsTrueNoMore() {
        decided("node-1", "", "none, would taint node", HealthState.UNHEALTHY, "fact-1", Status.OBSERVED);

        assertThat(only().open()).isTrue();
        assertThat(only().effects()).isEmpty();

        after(Duration.ofMinutes(3)).decided("", "none", HealthState.HEALTHY, "fact-2");

        assertThat(only().open()).isFalse();
        assertThat(only().downtime().nodeTainted(now)).isZero();
    }

    @Test
    void staleFaultIsAnIncidentThatIsOver() {
        decided("node-1", "gpu-0", "none, event is old", HealthState.HEALTHY, "fact-1", Status.STALE);

        assertThat(only().open()).isFalse();
    }

    @Test
    void harmlessDecisionIsNoIncidentButOnTheTimeline() {
        decided("node-1", "gpu-0", "none", HealthState.HEALTHY, "fact-1", Status.RECORDED);

        assertThat(log.newestFirst()).isEmpty();
        assertThat(log.timeline("gpu-0")).hasSize(1);
    }

    @Test
    void timelineFollowsAGpuToAnotherNode() {
        decided("node-1", "gpu-0", Decision.WITHDRAW, HealthState.QUARANTINED, "fact-1", Status.ACTED)
                .after(Duration.ofHours(1))
                .decided("node-2", "gpu-0", Decision.WITHDRAW, HealthState.QUARANTINED, "fact-2", Status.ACTED);

        assertThat(log.timeline("gpu-0").stream().map(RecordedDecision::node)).containsExactly("node-1", "node-2");
    }

    @Test
    void longIncidentKeepsItsFirstAndItsNewestDecisions() {
        decided("gpu-0", Decision.WITHDRAW, HealthState.UNHEALTHY, "first");
        for (int i = 0; i < 100; i++) {
            after(Duration.ofMinutes(5)).decided("gpu-0", "none", HealthState.UNHEALTHY, "fact-" + i);
        }

        assertThat(only().decisions()).hasSize(Incident.MAX_DECISIONS);
        assertThat(only().first().decision().evidence()).containsExactly("first");
        assertThat(only().last().decision().evidence()).containsExactly("fact-99");
        assertThat(only().leftOut()).isEqualTo(101 - Incident.MAX_DECISIONS);
    }

    @Test
    void oldAndExcessIncidentsAreForgotten() {
        for (int i = 0; i <= IncidentLog.MAX_INCIDENTS; i++) {
            decided("node-" + i, "gpu-" + i, Decision.WITHDRAW, HealthState.UNHEALTHY, "f-" + i, Status.ACTED);
        }
        assertThat(log.newestFirst()).hasSize(IncidentLog.MAX_INCIDENTS);
        assertThat(log.ofNode("node-0")).isEmpty();

        after(IncidentLog.RETENTION.plusSeconds(1))
                .decided("node-x", "gpu-x", Decision.WITHDRAW, HealthState.UNHEALTHY, "fact", Status.ACTED);

        assertThat(only().node()).isEqualTo("node-x");
    }
}
