package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.device.TestGpus.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.model.allocation.AllocationResult.Accepted;
import io.gpufleet.nodedaemon.model.allocation.AllocationResult.DeviceNode;
import io.gpufleet.nodedaemon.model.allocation.Allocator;
import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import io.gpufleet.nodedaemon.model.allocation.HostDeviceNodes;
import io.gpufleet.nodedaemon.model.allocation.ResourcePlan;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.DeviceListStrategy;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class AllocationHandlerTest {
    private static final PluginSettings HOST_MOUNTS =
            PluginSettings.DEFAULT.with(AllocateSettings.DEFAULT.with(Set.of(DeviceListStrategy.HOST_MOUNTS)));

    private final AllocationHandler handler = new AllocationHandler(
            new Allocator(HOST_MOUNTS, HostDeviceNodes.NONE), () -> TestGpus.second(0), new DaemonCounters(), _ -> {});

    private List<String> nodes() {
        var answer = handler.resource(ResourcePlan.GPU).allocate(List.of(List.of(uuid(0))));
        assertThat(answer).isInstanceOf(Accepted.class);
        return ((Accepted) answer)
                .containers().getFirst().deviceNodes().stream()
                        .map(DeviceNode::path)
                        .toList();
    }

    @Test
    void newDeviceNodeIsAllocatedFromTheCurrentList() {
        handler.lists(Map.of(ResourcePlan.GPU, new DeviceList(1, List.of(TestGpus.offer(0, true, "")))), 1);
        assertThat(nodes()).containsExactly("/dev/nvidia0");

        handler.allocator(new Allocator(HOST_MOUNTS, HostDeviceNodes.of(List.of("/dev/nvidiactl"))));

        assertThat(nodes()).containsExactly("/dev/nvidiactl", "/dev/nvidia0");
    }
}
