package io.gpufleet.kit.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class ExitDeadlineTest {
    @Test
    void partThatDoesNotCloseDoesNotKeepTheProcess() throws Exception {
        // Given
        var shutdown = new Shutdown();
        var begun = new CountDownLatch(1);
        var released = new CountDownLatch(1);
        var halted = new CompletableFuture<String>();
        shutdown.add("stuck", () -> {
            begun.countDown();
            released.await();
        });
        var closes = Thread.ofPlatform().start(shutdown::close);
        begun.await();

        // When
        new ExitDeadline(Duration.ZERO, shutdown::closing, status -> halted.complete(status + " " + shutdown.closing()))
                .begin(143);

        // Then
        assertThat(halted.get()).isEqualTo("143 stuck");
        assertThat(closes.isAlive()).isTrue();
        released.countDown();
        closes.join();
    }

    @Test
    void firstExitStatusStays() {
        var deadline = new ExitDeadline(Duration.ofHours(1), () -> "", _ -> {});

        assertThat(deadline.begin(3)).isTrue();
        assertThat(deadline.begin(143)).isFalse();
    }
}
