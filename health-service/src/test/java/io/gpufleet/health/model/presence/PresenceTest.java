package io.gpufleet.health.model.presence;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.NodeReference.Placement;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.nodepatch.DesiredNode;
import io.gpufleet.health.model.nodepatch.ObservedNode.Condition;
import io.gpufleet.health.model.policy.TestPolicies;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PresenceTest {
    private final NodeScenario node =
            new NodeScenario(TestPolicies.standard()).nodeObserved("uid-1").announced("gpu-0", "gpu-1");

    private Condition condition() {
        return DesiredNode.of(node.verdict()).condition();
    }

    private PresenceTest silence(boolean silent) {
        node.handle(new HealthSignal.DaemonSilence(node.nextMetadata(), silent));
        return this;
    }

    private void ready(boolean ready) {
        node.handle(new HealthSignal.NodeObjectObserved(
                node.nextMetadata(), "uid-1", new Placement(Map.of(), ready, true, ready)));
    }

    private void departed() {
        node.handle(new HealthSignal.DaemonDeparted(node.nextMetadata(), NodeScenario.INCARNATION));
    }

    @Test
    void aSilentDaemonIsAConditionUnknownAndNothingElse() {
        long revision = node.state().revision();

        silence(true);

        assertThat(condition().status()).isEqualTo("Unknown");
        assertThat(condition().reason()).isEqualTo(Presence.DAEMON_SILENT);
        assertThat(DesiredNode.of(node.verdict()).isEmpty()).isTrue();
        assertThat(node.state().revision()).isEqualTo(revision);
        assertThat(node.lastDecisions())
                .singleElement()
                .satisfies(decision -> assertThat(decision.action()).isEqualTo("health is unknown: DaemonSilent"));
    }

    @Test
    void theNextHeartbeatEndsTheSilence() {
        silence(true).silence(false);

        assertThat(condition().status()).isEqualTo("False");
    }

    @Test
    void anEventThatWasReadLateDoesNotEndTheSilence() {
        silence(true);

        node.withAge(Duration.ofMinutes(5)).offered("gpu-0", true);

        assertThat(condition().reason()).isEqualTo(Presence.DAEMON_SILENT);
    }

    @Test
    void aKnownProblemStaysTheConditionOfASilentNode() {
        node.xid("gpu-0", 79);

        silence(true);

        assertThat(condition().status()).isEqualTo("True");
    }

    @Test
    void aNodeThatIsNotReadyIsUnknownAndNotTainted() {
        ready(false);

        assertThat(condition().reason()).isEqualTo(Presence.NODE_NOT_READY);
        assertThat(node.verdict().trusted()).isTrue();

        ready(true);

        assertThat(condition().status()).isEqualTo("False");
    }

    @Test
    void aDaemonThatIsReplacedShowsNothing() {
        departed();
        assertThat(condition().status()).isEqualTo("False");

        node.advance(Duration.ofMinutes(1))
                .announced("gpu-0", "gpu-1")
                .advance(Duration.ofHours(1))
                .tick();

        assertThat(condition().status()).isEqualTo("False");
    }

    @Test
    void aDepartedDaemonIsUnknownAfterItsGraceUntilItAnnounces() {
        departed();
        node.advance(Presence.DEPARTURE_GRACE).tick();
        assertThat(condition().reason()).isEqualTo(Presence.DAEMON_DEPARTED);

        node.offered("gpu-0", true);
        assertThat(condition().reason()).isEqualTo(Presence.DAEMON_DEPARTED);

        node.announced("gpu-0", "gpu-1");
        assertThat(condition().status()).isEqualTo("False");
    }

    @Test
    void aNodeThatComesAndGoesIsFlappingForAnHour() {
        for (int i = 0; i < 3; i++) {
            silence(true).silence(false);
            node.advance(Duration.ofMinutes(5));
        }
        assertThat(condition().reason()).isEqualTo(Presence.FLAPPING);

        node.advance(Duration.ofHours(1)).tick();
        assertThat(condition().status()).isEqualTo("False");
    }

    @Test
    void timeWakesAnUnsettledPresenceOnly() {
        Instant at = NodeScenario.START;

        assertThat(Presence.HEARD.changesAt()).isEqualTo(Instant.MAX);
        assertThat(Presence.HEARD.departed(at).changesAt()).isEqualTo(at.plus(Presence.DEPARTURE_GRACE));
        assertThat(Presence.HEARD
                        .departed(at)
                        .settled(true, at.plus(Presence.DEPARTURE_GRACE))
                        .changesAt())
                .isEqualTo(Instant.MAX);
    }
}
