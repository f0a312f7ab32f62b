package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.device.TestGpus.second;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.model.allocation.AllocationTableFactory;
import io.gpufleet.nodedaemon.model.allocation.HostDeviceNodes;
import io.gpufleet.nodedaemon.model.device.HostInfo;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.nodedaemon.model.fault.Overlay;
import io.gpufleet.nodedaemon.model.holders.Holdings;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class NodeLoopTest {
    private final List<NodeFact> facts = new CopyOnWriteArrayList<>();
    private final BlockingQueue<NodeLoopInput> inbox = NodeLoop.inbox();
    private volatile double now = 1;

    private static final class NoStateStore implements StateStore {
        @Override
        public StoredState load() {
            return StoredState.empty(0);
        }

        @Override
        public void save(StoredState state) {}
    }

    private static CompletionStage<Holdings> noHolders() {
        return CompletableFuture.failedFuture(new IllegalStateException("no kubelet here"));
    }

    private NodeLoop loop() {
        var handler = new AllocationHandler(
                new AllocationTableFactory(PluginSettings.DEFAULT, HostDeviceNodes.of(List.of())),
                () -> second(now),
                new DaemonCounters(),
                inbox::add);
        return new NodeLoop(
                new NodeLoop.Dependencies(
                        new HostInfo("0.1.0", "simulated", "6.1", "", "boot-1", Duration.ofDays(1)),
                        TestGpus.POLICY,
                        new CentralVerdictSettings(Overlay.TRUST, true),
                        new NodeOutputs(
                                (fact, _) -> facts.add(fact),
                                new NoStateStore(),
                                handler,
                                _ -> {},
                                new DaemonCounters()),
                        NodeLoopTest::noHolders,
                        _ -> {}),
                inbox,
                () -> second(now));
    }

    @Test
    void inputAfterOneThatThrowsAnErrorIsHandled() {
        inbox.add(new NodeLoopInput.Barrier(() -> {
            throw new NoClassDefFoundError("defect");
        }));
        inbox.add(new NodeLoopInput.DevicesAllocated(
                List.of(new NodeLoopInput.DevicesAllocated.Allocation("nvidia.com/gpu", List.of("GPU-1"), 5))));

        try (var _ = loop()) {
            await().untilAsserted(() -> assertThat(facts).hasAtLeastOneElementOfType(NodeFact.Allocated.class));
        }
    }

    @Test
    void warmUpRunsOnceGpusWereScannedAndNotBefore() {
        List<Runnable> tasks = new CopyOnWriteArrayList<>();
        try (var loop = loop()) {
            // When it is requested before a scan
            loop.warmUp(tasks::add);
            var handled = new CountDownLatch(1);
            inbox.add(new NodeLoopInput.Barrier(handled::countDown));
            await().until(() -> handled.getCount() == 0);

            // Then it waits for that
            assertThat(tasks).isEmpty();
            inbox.add(new NodeLoopInput.DevicesScanned(TestGpus.scanOf(1)));
            await().until(() -> tasks.size() == 1);
        }
    }

    @Test
    void eachAllocationOfOneInputIsPublished() {
        // Given
        inbox.add(new NodeLoopInput.DevicesAllocated(List.of(
                new NodeLoopInput.DevicesAllocated.Allocation("nvidia.com/gpu", List.of("GPU-1"), 5),
                new NodeLoopInput.DevicesAllocated.Allocation("nvidia.com/gpu", List.of("GPU-2"), 5))));
        // When
        try (var _ = loop()) {
            // Then
            await().untilAsserted(() -> assertThat(facts)
                    .filteredOn(NodeFact.Allocated.class::isInstance)
                    .extracting(fact -> ((NodeFact.Allocated) fact).deviceIds())
                    .containsExactly(List.of("GPU-1"), List.of("GPU-2")));
        }
    }
}
