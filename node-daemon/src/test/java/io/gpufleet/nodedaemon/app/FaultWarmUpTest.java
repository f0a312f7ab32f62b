package io.gpufleet.nodedaemon.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.allocation.AllocationTableFactory;
import io.gpufleet.nodedaemon.model.allocation.HostDeviceNodes;
import io.gpufleet.nodedaemon.model.device.HostInfo;
import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The fault that a daemon takes through its code after the first scan. */
class FaultWarmUpTest {
    private final List<NodeFact> published = new ArrayList<>();
    private final List<NodeFact> warmedUp = new ArrayList<>();

    private final FactSink facts = new FactSink() {
        @Override
        public void publish(NodeFact fact, Moment observed) {
            published.add(fact);
        }

        @Override
        public void warmUp(List<NodeFact> seen, Moment observed) {
            warmedUp.addAll(seen);
        }
    };

    private final FaultWarmUp warmUp = new FaultWarmUp(
            new HostInfo("0.1.0", "simulated", "6.1", "", "boot-1", Duration.ofDays(1)),
            TestGpus.POLICY,
            new AllocationTableFactory(PluginSettings.DEFAULT, HostDeviceNodes.of(List.of())),
            facts);

    @Test
    void everyFactOfAFaultIsMadeAndNoneIsPublished() {
        List<NodeFact> seen = warmUp.run(TestGpus.scanOf(8), () -> TestGpus.second(0));

        assertThat(seen)
                .hasAtLeastOneElementOfType(NodeFact.FaultObserved.class)
                .hasAtLeastOneElementOfType(NodeFact.Offered.class)
                .hasAtLeastOneElementOfType(NodeFact.FaultsOpen.class)
                .hasAtLeastOneElementOfType(NodeFact.Announced.class);
        assertThat(warmedUp).containsAll(seen);
        assertThat(published).isEmpty();
    }

    @Test
    void aNodeWithoutGpusIsNotWarmedUp() {
        assertThat(warmUp.run(TestGpus.scanOf(0), () -> TestGpus.second(0))).isEmpty();
    }
}
