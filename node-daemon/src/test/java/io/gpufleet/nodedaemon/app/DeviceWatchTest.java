package io.gpufleet.nodedaemon.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.model.HoldRequest;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Moment;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.model.Vitals;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/** A source that breaks its promise and throws. */
class DeviceWatchTest {
    private final Queue<Thread> askers = new ConcurrentLinkedQueue<>();

    private final class Broken implements DeviceSource {
        @Override
        public String name() {
            return "broken";
        }

        @Override
        public Look look() {
            askers.add(Thread.currentThread());
            throw new IllegalStateException("look");
        }

        @Override
        public List<Sign> await(Duration atMost) {
            askers.add(Thread.currentThread());
            throw new IllegalStateException("await");
        }

        @Override
        public List<Vitals> vitals() {
            return List.of();
        }

        @Override
        public void release() {}

        @Override
        public void close() {}
    }

    private static final class NobodyAtTheDoor implements HoldDoor {
        @Override
        public void onChange(Runnable changed) {}

        @Override
        public Optional<HoldRequest> asked() {
            return Optional.empty();
        }

        @Override
        public boolean released(HoldRequest request) {
            return true;
        }

        @Override
        public void takenBack() {}
    }

    @Test
    void sourceThatThrowsIsLeftAloneForAWhileAndNoLongerThanTheWatchIsOpen() {
        // When
        var watch = new DeviceWatch(
                new Broken(),
                new NobodyAtTheDoor(),
                Duration.ofSeconds(10),
                _ -> {},
                () -> new Moment(Instant.EPOCH, System.nanoTime()));

        // Then
        await().until(() -> askers.stream().distinct().count() == 2
                && askers.stream().allMatch(asker -> asker.getState() == Thread.State.TIMED_WAITING));

        // When
        watch.close();

        // Then
        await().until(() -> askers.stream().noneMatch(Thread::isAlive));
        assertThat(askers).hasSizeLessThan(100);
    }
}
