package io.gpufleet.nodedaemon.nvml.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.HashSet;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class NvmlExecutorsTest {
    private static final Duration SHORT = Duration.ofMillis(1);

    private final CountDownLatch hang = new CountDownLatch(1);

    @AfterEach
    void end() {
        hang.countDown();
    }

    private String untilTheEnd() {
        try {
            hang.await();
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
        return "returned";
    }

    private PendingCall<String> startHanging(NvmlExecutors executors, int gpu) {
        return executors.start(gpu, "hanging", this::untilTheEnd);
    }

    @Test
    void callsAboutDifferentGpusRunAtTheSameTime() throws Exception {
        try (var executors = new NvmlExecutors(Duration.ofMinutes(10))) {
            var first = startHanging(executors, 0);

            assertThat(executors.call(1, "other", () -> "result")).isEqualTo("result");
            assertThat(executors.call(NvmlExecutors.DRIVER, "driver", () -> "result"))
                    .isEqualTo("result");

            hang.countDown();
            assertThat(first.await()).isEqualTo("returned");
        }
    }

    @Test
    void callsThatReturnSoonShareAThread() throws Exception {
        try (var executors = new NvmlExecutors(Duration.ofMinutes(10))) {
            var threads = new HashSet<Thread>();

            for (int gpu = 0; gpu < 8; gpu++) {
                threads.add(executors
                        .startInTurn(gpu, "quick", Thread::currentThread)
                        .await());
            }

            // One, but for a machine so busy that a thread was not idle again when the next call came
            assertThat(threads).hasSizeLessThan(8);
        }
    }

    @Test
    void callsInTurnDoNotWaitForOneThatHangs() throws Exception {
        try (var executors = new NvmlExecutors(Duration.ofMinutes(10))) {
            var first = executors.startInTurn(0, "hanging", this::untilTheEnd);

            assertThat(executors.startInTurn(1, "other", () -> "result").await())
                    .isEqualTo("result");

            hang.countDown();
            assertThat(first.await()).isEqualTo("returned");
        }
    }

    @Test
    void callThatMayStillReturnIsBusyAndNoOtherIsMade() throws Exception {
        try (var executors = new NvmlExecutors(Duration.ofMinutes(10))) {
            var first = startHanging(executors, 0);

            assertThatThrownBy(() -> first.await(SHORT)).hasMessage("hanging: BUSY");
            assertThatThrownBy(() -> executors.call(0, "next", () -> "result")).hasMessage("next: BUSY");
            assertThat(executors.idle()).isFalse();

            hang.countDown();
            await().until(executors::idle);
            assertThat(executors.call(0, "next", () -> "result")).isEqualTo("result");
        }
    }

    @Test
    void callBeyondItsDeadlineHangs() {
        try (var executors = new NvmlExecutors(Duration.ofMillis(100))) {
            var first = startHanging(executors, 0);

            assertThatThrownBy(first::await).hasMessage("hanging: HUNG");
            assertThatThrownBy(() -> executors.call(0, "next", () -> "result")).hasMessage("next: HUNG");
        }
    }
}
