package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.Some.second;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.model.Allocator;
import io.gpufleet.nodedaemon.model.Fact;
import io.gpufleet.nodedaemon.model.FaultOrigin;
import io.gpufleet.nodedaemon.model.Holdings;
import io.gpufleet.nodedaemon.model.HostFacts;
import io.gpufleet.nodedaemon.model.HostNodes;
import io.gpufleet.nodedaemon.model.Overlay;
import io.gpufleet.nodedaemon.model.Some;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class NodeLoopTest {
    private final List<Fact> facts = new CopyOnWriteArrayList<>();
    private final BlockingQueue<Input> inbox = NodeLoop.inbox();
    private volatile double now = 1;

    private static final class Nowhere implements StateStore {
        @Override
        public Remembered load() {
            return Remembered.NOTHING;
        }

        @Override
        public void save(Remembered state) {}
    }

    private static CompletionStage<Holdings> nobody() {
        return CompletableFuture.failedFuture(new IllegalStateException("no kubelet here"));
    }

    private NodeLoop loop() {
        var desk = new KubeletDesk(
                new Allocator(PluginSettings.STANDARD, HostNodes.of(List.of())),
                () -> second(now),
                new Counters(),
                inbox::add);
        return new NodeLoop(
                new NodeLoop.Parts(
                        new HostFacts("0.1.0", "simulated", "6.1", "", "boot-1", Duration.ofDays(1)),
                        Some.POLICY,
                        Overlay.TRUST,
                        true,
                        (fact, _) -> facts.add(fact),
                        new Nowhere(),
                        desk,
                        _ -> {},
                        NodeLoopTest::nobody,
                        new Counters(),
                        _ -> {}),
                inbox,
                () -> second(now));
    }

    @Test
    void grantsAreToldTogetherAndNoFaultWaitsForThem() {
        // Given grants at an instant at which the clock stands still
        inbox.add(new Input.Granted("nvidia.com/gpu", List.of("GPU-1"), 5));
        inbox.add(new Input.Granted("nvidia.com/gpu", List.of("GPU-2"), 5));
        try (var _ = loop()) {
            // When
            inbox.add(new Input.Noticed(Some.xid(0, 79, FaultOrigin.NVML_EVENT)));
            // Then
            await().untilAsserted(() -> assertThat(facts)
                    .hasSize(1)
                    .allSatisfy(fact -> assertThat(fact).isInstanceOf(Fact.FaultObserved.class)));
            // When
            now += 0.01;
            // Then
            await().untilAsserted(() -> assertThat(facts)
                    .filteredOn(Fact.Allocated.class::isInstance)
                    .hasSize(2));
        }
    }
}
