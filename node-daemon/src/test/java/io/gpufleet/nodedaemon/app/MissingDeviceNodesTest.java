package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.device.TestGpus.scanOf;
import static io.gpufleet.nodedaemon.model.device.TestGpus.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.DeviceListStrategy;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A device node without which a container starts and CUDA fails. */
class MissingDeviceNodesTest {
    private static final NodeLoopInput MISSING =
            new NodeLoopInput.DeviceNodesMissing(Map.of("/dev/nvidia-uvm", "load the kernel module"));

    private static TestNode node(DeviceListStrategy strategy) {
        var settings = PluginSettings.DEFAULT.with(AllocateSettings.DEFAULT.with(Set.of(strategy)));
        return new TestNode(scanOf(2), settings, Duration.ofDays(1));
    }

    @Test
    void gpusAreUnhealthyUntilTheNodeIsThere() {
        TestNode node = node(DeviceListStrategy.HOST_MOUNTS);

        node.handle(MISSING);

        assertThat(node.listed()).containsExactly(uuid(0), uuid(1));
        assertThat(node.healthy()).isEmpty();
        assertThat(node.published(NodeFact.Offered.class))
                .extracting(fact -> fact.offer().health().reason())
                .contains("/dev/nvidia-uvm is missing: load the kernel module");

        node.handle(new NodeLoopInput.DeviceNodesMissing(Map.of()));

        assertThat(node.healthy()).containsExactly(uuid(0), uuid(1));
    }

    @Test
    void gpusAreOfferedWhereNvidiasRuntimeMakesTheNode() {
        TestNode node = node(DeviceListStrategy.ENVVAR);

        node.handle(MISSING);

        assertThat(node.healthy()).containsExactly(uuid(0), uuid(1));
    }
}
