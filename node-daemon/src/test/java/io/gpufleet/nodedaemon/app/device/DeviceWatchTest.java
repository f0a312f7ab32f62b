package io.gpufleet.nodedaemon.app.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.app.NodeLoopInput;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import io.gpufleet.nodedaemon.model.hold.GpuReleaseRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** A source that throws against its contract. */
class DeviceWatchTest {
    private final CountDownLatch released = new CountDownLatch(1);
    private final Queue<Thread> requesters = new ConcurrentLinkedQueue<>();

    private class ThrowingSource implements DeviceSource {
        @Override
        public String name() {
            return "broken";
        }

        @Override
        public DeviceScan scan() {
            requesters.add(Thread.currentThread());
            throw new IllegalStateException("scan");
        }

        @Override
        public List<DeviceEvent> await(Duration atMost) {
            requesters.add(Thread.currentThread());
            throw new IllegalStateException("await");
        }

        @Override
        public List<GpuSample> sample() {
            return List.of();
        }

        @Override
        public void release() {
            released.countDown();
        }

        @Override
        public void close() {}
    }

    /** A source with a defect that is no exception. */
    private final class BrokenSource extends ThrowingSource {
        @Override
        public DeviceScan scan() {
            requesters.add(Thread.currentThread());
            throw new NoClassDefFoundError("scan");
        }

        @Override
        public boolean deliverTo(Consumer<DeviceEvent> listener) {
            return true;
        }
    }

    /** A request to release the GPUs that is made during the test. */
    private static final class LaterHoldRequest implements GpuReleaseRequestSource {
        private volatile Optional<GpuReleaseRequest> request = Optional.empty();
        private volatile Runnable changed = () -> {};

        private void make() {
            request = Optional.of(GpuReleaseRequest.parse("reason: driver\ndeadline: 20m\n", Instant.EPOCH));
            changed.run();
        }

        @Override
        public void onChange(Runnable action) {
            changed = action;
        }

        @Override
        public Optional<GpuReleaseRequest> request() {
            return request;
        }

        @Override
        public boolean confirmReleased(GpuReleaseRequest released) {
            return true;
        }

        @Override
        public void withdrawConfirmation() {}
    }

    private static final class NoHoldRequests implements GpuReleaseRequestSource {
        @Override
        public void onChange(Runnable changed) {}

        @Override
        public Optional<GpuReleaseRequest> request() {
            return Optional.empty();
        }

        @Override
        public boolean confirmReleased(GpuReleaseRequest request) {
            return true;
        }

        @Override
        public void withdrawConfirmation() {}
    }

    /** A GPU that came or went without an event is in the list within 10 s. */
    @Test
    void scanAndItsPublicationTakeLessThanTenSeconds() {
        assertThat(DeviceWatch.SCAN_PERIOD).isLessThanOrEqualTo(Duration.ofSeconds(9));
    }

    @Test
    void throwingSourceIsRetriedAfterABackoffUntilTheWatchCloses() {
        // When
        var watch = new DeviceWatch(
                new ThrowingSource(),
                new NoHoldRequests(),
                Duration.ofSeconds(10),
                _ -> {},
                () -> new Moment(Instant.EPOCH, System.nanoTime()));

        // Then
        await().until(() -> requesters.stream().distinct().count() == 2
                && requesters.stream().allMatch(requester -> requester.getState() == Thread.State.TIMED_WAITING));

        // When
        watch.close();

        // Then
        await().until(() -> requesters.stream().noneMatch(Thread::isAlive));
        assertThat(requesters).hasSizeLessThan(100);
    }

    @Test
    void sourceThatThrowsAnErrorIsScannedAgain() {
        try (var _ = new DeviceWatch(
                new BrokenSource(),
                new NoHoldRequests(),
                Duration.ofSeconds(10),
                _ -> {},
                () -> new Moment(Instant.EPOCH, System.nanoTime()),
                Duration.ofMillis(1))) {
            await().until(() -> requesters.size() > 2);
        }
    }

    @Test
    void gpusAreReleasedInThePauseAfterAFailure() throws Exception {
        // Given a source that failed, with an hour until the next attempt
        var hold = new LaterHoldRequest();
        try (var _ = new DeviceWatch(
                new ThrowingSource(),
                hold,
                Duration.ofSeconds(10),
                input -> {
                    if (input instanceof NodeLoopInput.Barrier(Runnable reached)) {
                        reached.run();
                    }
                },
                () -> new Moment(Instant.EPOCH, System.nanoTime()),
                Duration.ofHours(1))) {
            await().until(() -> requesters.stream()
                    .anyMatch(thread ->
                            thread.getName().equals("device-scan") && thread.getState() == Thread.State.TIMED_WAITING));

            // When
            hold.make();

            // Then
            assertThat(released.await(20, TimeUnit.SECONDS)).isTrue();
        }
    }
}
