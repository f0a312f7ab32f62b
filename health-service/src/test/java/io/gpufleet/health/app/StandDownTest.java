package io.gpufleet.health.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.nodepatch.NodePatchPlan;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import io.gpufleet.health.model.policy.TestPolicies;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;

/** The end of a term while the API server does not answer; time passes only as the test says. */
class StandDownTest {
    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch interrupted = new CountDownLatch(1);
    private final FakeTime time = new FakeTime();
    private final CurrentLease lease = new CurrentLease(time);
    private final RecordingSignalSink signals = new RecordingSignalSink();

    /** Waits for a lock until as much time has passed. */
    private static final class FakeTime implements CurrentLease.LockWait {
        private Duration passed = Duration.ZERO;
        private Duration waitsUntil = Duration.ZERO;
        private boolean over;

        @Override
        public synchronized boolean acquired(Lock lock, Duration atMost) throws InterruptedException {
            waitsUntil = passed.plus(atMost);
            while (!over && passed.compareTo(waitsUntil) < 0) {
                wait();
            }
            return lock.tryLock();
        }

        /** Nobody waits any more. */
        synchronized void end() {
            over = true;
        }

        synchronized boolean isAwaited() {
            return waitsUntil.compareTo(passed) > 0;
        }

        synchronized void advance(Duration by) {
            passed = passed.plus(by);
            notifyAll();
        }
    }

    private final NodeClient hanging = new FakeNodeClient() {
        @Override
        public NodeResponse patchNode(ObservedNode observed, NodePatchPlan.Patch patch) {
            asked.countDown();
            try {
                new CountDownLatch(1).await();
                throw new AssertionError("nobody answers");
            } catch (InterruptedException givenUp) {
                interrupted.countDown();
                throw new IllegalStateException("interrupted", givenUp);
            }
        }
    };

    @Test
    void termEndsWithinASecondAndGivesUpACallThatHangs() throws InterruptedException {
        assertThat(CurrentLease.END_WAIT).isLessThanOrEqualTo(Duration.ofSeconds(1));
        try (var reconciler = reconciler()) {
            // Given
            reconciler.begin(
                    () -> true,
                    List.of(new NodeScenario(TestPolicies.standard())
                            .announced("gpu-0", "gpu-1")
                            .nodeObserved("uid-1")
                            .xid("gpu-0", 79)
                            .verdict()));
            asked.await();
            // When
            Thread ending = Thread.ofVirtual().start(reconciler::end);
            await().until(time::isAwaited);
            time.advance(CurrentLease.END_WAIT.minusMillis(1));
            assertThat(interrupted.getCount()).as("not given up yet").isEqualTo(1);
            time.advance(Duration.ofMillis(1));
            // Then
            ending.join();
            interrupted.await();
            assertThat(lease.<Boolean>call(() -> true, () -> false)).isFalse();
            time.end();
        }
    }

    private Reconciler reconciler() {
        return new Reconciler(
                new NodeReconciler(
                        hanging, signals, lease, new ReconcileCounters(), Clock.systemUTC(), Duration.ofSeconds(10)),
                signals,
                lease,
                new VerdictToNodeLatency(System::nanoTime, (_, _) -> {}),
                new CatchUpStatus(),
                Duration.ofHours(1));
    }
}
