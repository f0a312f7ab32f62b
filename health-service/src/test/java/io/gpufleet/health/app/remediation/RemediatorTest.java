package io.gpufleet.health.app.remediation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.health.app.CatchUpStatus;
import io.gpufleet.health.app.CurrentLease;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.drain.Holdings;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.maintenance.MaintenanceWindows;
import io.gpufleet.health.model.policy.HealthPolicy;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.health.model.remediation.Remediation;
import io.gpufleet.health.model.remediation.RemediationAdmission;
import io.gpufleet.health.model.remediation.RemediationProgress.Phase;
import io.gpufleet.health.model.remediation.RemediationSettings;
import java.time.Clock;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Remediations while a backlog is read: each node waits for its own partition. */
class RemediatorTest {
    private static final HealthPolicy POLICY = TestPolicies.acting(
            TestPolicies.standard(),
            TestPolicies.standard().drain(),
            new RemediationSettings(
                    Set.of(RecommendedAction.REBOOT), Duration.ofMinutes(30), 4, MaintenanceWindows.ANY_TIME));

    private final List<String> called = new CopyOnWriteArrayList<>();
    private final List<String> reported = new CopyOnWriteArrayList<>();
    private final CatchUpStatus backlog = new CatchUpStatus();
    private final CurrentLease lease = new CurrentLease();
    private final RemediationAdmission admission = new RemediationAdmission();
    private final Remediator remediator = new Remediator(
            new RemediationReconciler(
                    new RecordedCalls(),
                    (node, _, phase, _) -> record(node + " " + phase),
                    admission,
                    () -> POLICY,
                    lease,
                    Clock.fixed(NodeScenario.START, ZoneOffset.UTC)),
            admission,
            backlog);

    /** Every object waits for an executor; the UID of a Node is its name. */
    private final class RecordedCalls implements RemediationClient {
        private RemediationResponse call(Remediation remediation) {
            called.add(remediation.target().nodeUid());
            return new Found(ObjectPhase.PENDING, "", "", "1");
        }

        @Override
        public RemediationResponse create(String node, Remediation remediation) {
            return call(remediation);
        }

        @Override
        public RemediationResponse find(Remediation remediation) {
            return call(remediation);
        }

        @Override
        public RemediationResponse end(Remediation remediation, Found found, ObjectPhase phase, String message) {
            return call(remediation);
        }
    }

    private CompletionStage<Void> record(String report) {
        reported.add(report);
        return CompletableFuture.completedFuture(null);
    }

    @AfterEach
    void close() {
        remediator.close();
    }

    private static NodeScenario due(String node) {
        var scenario = new NodeScenario(node, POLICY).nodeObserved(node).announced("gpu-0");
        return scenario.handle(new HealthSignal.DevicesHeld(
                        scenario.nextMetadata(), NodeScenario.INCARNATION, new Holdings(true, List.of())))
                .xid("gpu-0", 79);
    }

    private static NodeState requested(String node) {
        NodeScenario scenario = due(node);
        Remediation wanted =
                new DueRemediation(scenario.state(), POLICY).at(scenario.now()).orElseThrow();
        return scenario.handle(new HealthSignal.RemediationReported(
                        scenario.nextMetadata(), wanted, Phase.REQUESTED, "asked for"))
                .state();
    }

    @Test
    void noExecutorIsAskedBeforeThePartitionOfItsNodeIsRead() {
        // Given
        lease.begin(() -> true);
        backlog.begin();
        List<String> read = List.of("read-due", "read-requested");
        assertThat(read).noneMatch(backlog::isRead);
        backlog.read(read::contains);

        // When
        remediator.begin(List.of(
                due("unread-due").state(), requested("unread-requested"),
                due("read-due").state(), requested("read-requested")));

        // Then
        await().until(() -> reported.containsAll(List.of("read-due REQUESTED", "read-requested CREATED")));
        assertThat(called).containsOnly("read-requested");
        assertThat(reported).containsOnly("read-due REQUESTED", "read-requested CREATED");
        backlog.allRead();
        await().until(() -> reported.containsAll(List.of("unread-due REQUESTED", "unread-requested CREATED")));
    }
}
