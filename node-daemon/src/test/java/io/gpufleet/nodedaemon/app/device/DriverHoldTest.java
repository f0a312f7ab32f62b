package io.gpufleet.nodedaemon.app.device;

import static io.gpufleet.nodedaemon.model.device.TestGpus.second;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.app.NodeLoopInput;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import io.gpufleet.nodedaemon.model.hold.GpuReleaseRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Order of a release: kubelet, driver, requester. */
class DriverHoldTest {
    private final List<String> done = new ArrayList<>();
    private final List<Runnable> fences = new ArrayList<>();
    private final FakeHoldRequests requests = new FakeHoldRequests();
    private final DriverHold hold =
            new DriverHold(requests, new FakeDeviceSource(), this::input, () -> done.add("woken"));

    private final class FakeHoldRequests implements GpuReleaseRequestSource {
        private List<GpuReleaseRequest> requests = List.of();
        private boolean stillOpen;

        @Override
        public void onChange(Runnable changed) {}

        @Override
        public Optional<GpuReleaseRequest> request() {
            return requests.stream().findFirst();
        }

        @Override
        public boolean confirmReleased(GpuReleaseRequest request) {
            done.add(stillOpen ? "still open" : "released");
            return !stillOpen;
        }

        @Override
        public void withdrawConfirmation() {
            done.add("withdrawn");
        }
    }

    private final class FakeDeviceSource implements DeviceSource {
        @Override
        public String name() {
            return "fake";
        }

        @Override
        public DeviceScan scan() {
            return TestGpus.scanOf(2);
        }

        @Override
        public List<DeviceEvent> await(Duration atMost) {
            return List.of();
        }

        @Override
        public List<GpuSample> sample() {
            return List.of();
        }

        @Override
        public void release() {
            done.add("closed");
        }

        @Override
        public void close() {}
    }

    private void input(NodeLoopInput input) {
        switch (input) {
            case NodeLoopInput.DevicesScanned(DeviceScan.ScanFailed(DeviceScan.DriverProblem problem, String reason)) ->
                done.add(problem + " " + reason);
            case NodeLoopInput.Barrier(Runnable reached) -> fences.add(reached);
            default -> throw new AssertionError("not expected: " + input);
        }
    }

    private void ask(String reason, double untilSecond) {
        requests.requests = List.of(new GpuReleaseRequest(
                reason, second(untilSecond).wall(), second(0).wall(), ""));
    }

    private List<String> actions() {
        List<String> taken = List.copyOf(done);
        done.clear();
        return taken;
    }

    @Test
    void confirmationOfAnEarlierStartIsWithdrawnFirst() {
        assertThat(done).containsExactly("withdrawn");
        assertThat(hold.step(second(0))).isFalse();
    }

    @Test
    void kubeletIsNotifiedBeforeTheReleaseAndTheRequesterAfterIt() {
        done.clear();
        ask("reset", 600);

        assertThat(hold.step(second(0))).isTrue();
        assertThat(actions()).containsExactly("HELD released until 2026-11-20T10:10:00Z: reset");

        hold.step(second(0.1));
        assertThat(actions()).isEmpty();

        fences.getFirst().run();
        hold.step(second(0.2));
        assertThat(actions()).containsExactly("woken", "closed", "released");

        assertThat(hold.step(second(300))).isTrue();
        assertThat(actions()).isEmpty();
    }

    @Test
    void releaseIsNotConfirmedWhileADescriptorIsOpen() {
        ask("reset", 600);
        requests.stillOpen = true;
        hold.step(second(0));
        fences.getFirst().run();
        done.clear();

        hold.step(second(0.2));
        assertThat(actions()).containsExactly("closed", "still open");
        assertThat(hold.dueNanos(second(10).nanos())).isEqualTo(second(1.2).nanos());

        requests.stillOpen = false;
        hold.step(second(0.5));
        hold.step(second(1.2));
        assertThat(actions()).containsExactly("closed", "released");
    }

    @Test
    void confirmationIsWithdrawnWhenTheRequestIsRemoved() {
        ask("reset", 600);
        hold.step(second(0));
        fences.getFirst().run();
        hold.step(second(0.1));
        done.clear();

        requests.requests = List.of();

        assertThat(hold.step(second(5))).isFalse();
        assertThat(actions()).containsExactly("withdrawn");
    }

    @Test
    void confirmationIsWithdrawnAtTheDeadlineThoughTheFileStays() {
        ask("reset", 600);
        hold.step(second(0));
        fences.getFirst().run();
        hold.step(second(0.1));
        done.clear();

        assertThat(hold.dueNanos(second(10_000).nanos())).isEqualTo(second(600).nanos());
        assertThat(hold.step(second(600))).isFalse();
        assertThat(hold.step(second(601))).isFalse();
        assertThat(actions()).containsExactly("withdrawn");
    }

    @Test
    void holdThatEndsBeforeTheKubeletIsNotifiedReleasesNothing() {
        ask("reset", 600);
        hold.step(second(0));
        requests.requests = List.of();
        hold.step(second(0.1));
        fences.getFirst().run();
        done.clear();

        assertThat(hold.step(second(0.2))).isFalse();
        assertThat(done).isEmpty();
    }
}
