package io.gpufleet.runtime.workqueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.runtime.workqueue.ReconcileResult.Done;
import io.gpufleet.runtime.workqueue.ReconcileResult.RequeueAfter;
import io.gpufleet.runtime.workqueue.ReconcileResult.RetryAfter;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** Steps, waits and the end of a queue. */
@NullMarked
class WorkQueueTest {
    private static final Backoff BACKOFF = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(30));
    private static final WorkQueue.Settings SETTINGS = new WorkQueue.Settings("test", 2, BACKOFF);

    private final ManualScheduler scheduler = ManualScheduler.onRequest();
    private final List<String> steps = new ArrayList<>();
    private final Queue<ReconcileResult> results = new ArrayDeque<>();
    private Runnable during = () -> {};
    private final WorkQueue<String> queue = new WorkQueue<>(SETTINGS, scheduler, this::step);

    private ReconcileResult step(String key) {
        steps.add(key);
        during.run();
        ReconcileResult result = results.poll();
        return result == null ? new Done() : result;
    }

    private void advance(Duration time) {
        scheduler.advance(time);
        scheduler.work();
    }

    @Test
    void keysAreWorkedOnInTheOrderOfTheirAdds() {
        List.of("a", "b", "c", "a", "b").forEach(queue::add);
        scheduler.work();
        assertThat(steps).containsExactly("a", "b", "c", "a", "b");
    }

    @Test
    void keyThatIsAddedTwiceBeforeItsStepHasOneStep() {
        List.of("a", "b", "c", "c", "c").forEach(queue::add);
        scheduler.work();
        assertThat(steps).containsExactly("a", "b", "c");
    }

    @Test
    void keyThatIsAddedDuringItsStepHasOneMore() {
        during = () -> {
            during = () -> {};
            queue.add("a");
            queue.add("a");
            scheduler.work();
            assertThat(steps).as("not beside the step").hasSize(1);
        };
        queue.add("a");
        scheduler.work();
        assertThat(steps).containsExactly("a", "a");
    }

    @Test
    void failedKeyWaitsLongerEachTimeAndAnewAfterASuccess() {
        for (int i = 0; i < 3; i++) {
            results.add(RetryAfter.backoff());
        }
        results.add(new Done());
        results.add(RetryAfter.backoff());
        queue.add("a");
        scheduler.work();
        assertThat(waitOfNextStep()).isEqualTo(Duration.ofSeconds(1));
        assertThat(waitOfNextStep()).isEqualTo(Duration.ofSeconds(2));
        assertThat(waitOfNextStep()).isEqualTo(Duration.ofSeconds(4));

        queue.add("a");
        scheduler.work();
        assertThat(waitOfNextStep()).isEqualTo(Duration.ofSeconds(1));
        assertThat(scheduler.waiting()).isZero();
    }

    private Duration waitOfNextStep() {
        int before = steps.size();
        var waited = Duration.ZERO;
        while (steps.size() == before && waited.compareTo(Duration.ofMinutes(1)) < 0) {
            advance(Duration.ofMillis(500));
            waited = waited.plusMillis(500);
        }
        return waited;
    }

    @Test
    void keyWaitsAsLongAsTheOtherSideAsks() {
        results.add(new RetryAfter(Duration.ofSeconds(7)));
        results.add(new RetryAfter(Duration.ofSeconds(1)));
        queue.add("a");
        scheduler.work();
        assertThat(waitOfNextStep()).isEqualTo(Duration.ofSeconds(7));
        assertThat(waitOfNextStep()).as("longer than it asks").isEqualTo(Duration.ofSeconds(2));
    }

    @Test
    void stepThatThrowsIsRepeatedAfterTheLongestWaitAndHarmsNoOtherKey() {
        during = () -> {
            during = () -> {};
            throw new IllegalStateException("broken");
        };
        queue.add("a");
        queue.add("b");
        scheduler.work();
        assertThat(steps).containsExactly("a", "b");
        assertThat(waitOfNextStep()).isEqualTo(BACKOFF.limit());
        assertThat(steps).containsExactly("a", "b", "a");
    }

    @Test
    void keyIsNotLostWhereAStepEndsWithAnError() {
        during = () -> {
            during = () -> {};
            throw new AssertionError("out of memory, say");
        };
        queue.add("a");
        assertThatThrownBy(scheduler::work).isInstanceOf(AssertionError.class);
        assertThat(waitOfNextStep()).isEqualTo(BACKOFF.limit());
        assertThat(steps).containsExactly("a", "a");
    }

    @Test
    void lastStepSaysWhenTheNextOneIsDue() {
        results.add(new RequeueAfter(Duration.ofSeconds(10)));
        results.add(new RequeueAfter(Duration.ofSeconds(20)));
        queue.add("a");
        scheduler.work();
        advance(Duration.ofSeconds(5));

        queue.add("a");
        scheduler.work();

        assertThat(waitOfNextStep()).isEqualTo(Duration.ofSeconds(20));
    }

    @Test
    void keyThatIsDueEarlierThanAnotherIsNotDelayedByIt() {
        results.add(new RequeueAfter(Duration.ofSeconds(30)));
        results.add(new RequeueAfter(Duration.ofSeconds(2)));
        queue.add("late");
        queue.add("early");
        scheduler.work();
        steps.clear();

        assertThat(waitOfNextStep()).isEqualTo(Duration.ofSeconds(2));
        assertThat(waitOfNextStep()).isEqualTo(Duration.ofSeconds(28));
        assertThat(steps).containsExactly("early", "late");
        assertThat(scheduler.waiting()).isZero();
    }

    @Test
    void wakeUpsDoNotAccumulateWhileWaitsChange() {
        for (int seconds = 30; seconds > 0; seconds--) {
            results.add(new RequeueAfter(Duration.ofSeconds(seconds)));
            queue.add("a");
            scheduler.work();
        }
        during = () -> results.add(new RequeueAfter(Duration.ofSeconds(1)));
        advance(Duration.ofSeconds(60));
        advance(Duration.ofSeconds(1));
        assertThat(scheduler.waiting()).isEqualTo(1);
    }

    @Test
    void nothingIsBegunAfterTheStop() {
        // Given a key whose step is begun, one that waits and one that is due later
        results.add(new RequeueAfter(Duration.ofSeconds(1)));
        queue.add("later");
        scheduler.work();
        steps.clear();
        List.of("a", "b", "c").forEach(queue::add);
        // When
        queue.stop();
        queue.add("d");
        advance(Duration.ofMinutes(1));
        // Then
        assertThat(steps).isEmpty();
        assertThat(scheduler.waiting()).isZero();
    }

    @Test
    void stepThatRunsAtTheStopEndsAndIsNotRepeated() {
        results.add(RetryAfter.backoff());
        during = () -> {
            queue.add("a");
            queue.stop();
        };
        queue.add("a");
        scheduler.work();
        advance(Duration.ofMinutes(1));
        assertThat(steps).containsExactly("a");
    }

    @Test
    void closeInterruptsTheStepThatRuns() throws Exception {
        var entered = new CountDownLatch(1);
        var interrupted = new AtomicBoolean();
        var ended = new CountDownLatch(1);
        var busy = new WorkQueue<String>(SETTINGS, WorkScheduler.virtualThreads("test"), _ -> {
            entered.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException expected) {
                interrupted.set(true);
            }
            ended.countDown();
            return new Done();
        });
        busy.add("a");
        entered.await();

        busy.close();

        ended.await();
        assertThat(interrupted).isTrue();
    }
}
