package io.gpufleet.health.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The end of a term, and the calls that are in flight then. */
class CurrentLeaseTest {
    private final List<String> events = new CopyOnWriteArrayList<>();

    /** A call that waits for an answer, on a thread of its own. */
    private Thread ask(CurrentLease lease, CountDownLatch answer) throws InterruptedException {
        var asked = new CountDownLatch(1);
        Thread thread = Thread.ofVirtual().start(() -> {
            events.add(lease.call(
                    () -> {
                        asked.countDown();
                        return awaited(answer);
                    },
                    () -> "no lease"));
            events.add(Thread.currentThread().isInterrupted() ? "still interrupted" : "goes on");
        });
        asked.await();
        return thread;
    }

    private static String awaited(CountDownLatch answer) {
        try {
            answer.await();
            return "answered";
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", interrupted);
        }
    }

    @Test
    void callThatHangsIsGivenUpWhenTheTermEnds() throws InterruptedException {
        // Given a call that is never answered
        var lease = new CurrentLease((lock, _) -> lock.tryLock());
        lease.begin(() -> true);
        Thread hung = ask(lease, new CountDownLatch(1));
        // When
        lease.end();
        events.add("ended");
        // Then
        await().until(() -> !hung.isAlive());
        assertThat(events).containsExactlyInAnyOrder("ended", "no lease", "goes on");
    }

    @Test
    void callThatIsAnsweredSoonIsAwaited() throws InterruptedException {
        // Given
        var lease = new CurrentLease((lock, _) -> lock.tryLock(1, TimeUnit.MINUTES));
        lease.begin(() -> true);
        var answer = new CountDownLatch(1);
        Thread calling = ask(lease, answer);
        // When
        Thread ending = Thread.ofVirtual().start(() -> {
            lease.end();
            events.add("ended");
        });
        await().until(() -> ending.getState() == Thread.State.TIMED_WAITING);
        answer.countDown();
        calling.join();
        ending.join();
        // Then
        assertThat(events).containsExactlyInAnyOrder("answered", "goes on", "ended");
    }

    @Test
    void nextTermMakesCallsAlthoughOneOfTheFormerTermIgnoresItsEnd() throws InterruptedException {
        // Given
        var lease = new CurrentLease((lock, _) -> lock.tryLock());
        lease.begin(() -> true);
        var answer = new CountDownLatch(1);
        var asked = new CountDownLatch(1);
        Thread deaf = Thread.ofVirtual()
                .start(() -> events.add(lease.call(
                        () -> {
                            asked.countDown();
                            while (answer.getCount() > 0) {
                                Thread.onSpinWait();
                            }
                            return "late answer";
                        },
                        () -> "no lease")));
        asked.await();
        lease.end();
        // When
        lease.begin(() -> true);
        // Then
        assertThat(lease.call(() -> "made", () -> "no lease")).isEqualTo("made");
        answer.countDown();
        deaf.join();
        assertThat(events).containsExactly("no lease");
    }
}
