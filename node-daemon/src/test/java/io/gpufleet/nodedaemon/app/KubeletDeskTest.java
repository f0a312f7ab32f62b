package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.Some.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.AllocationAnswer.DeviceNode;
import io.gpufleet.nodedaemon.model.AllocationAnswer.Granted;
import io.gpufleet.nodedaemon.model.Allocator;
import io.gpufleet.nodedaemon.model.DeviceList;
import io.gpufleet.nodedaemon.model.HostNodes;
import io.gpufleet.nodedaemon.model.ResourcePlan;
import io.gpufleet.nodedaemon.model.Some;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.Strategy;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class KubeletDeskTest {
    private static final PluginSettings HOST_MOUNTS =
            PluginSettings.STANDARD.with(AllocateSettings.STANDARD.with(Set.of(Strategy.HOST_MOUNTS)));

    private final KubeletDesk desk =
            new KubeletDesk(new Allocator(HOST_MOUNTS, HostNodes.NONE), () -> Some.second(0), new Counters(), _ -> {});

    private List<String> nodes() {
        var answer = desk.resource(ResourcePlan.GPU).allocate(List.of(List.of(uuid(0))));
        assertThat(answer).isInstanceOf(Granted.class);
        return ((Granted) answer)
                .containers().getFirst().deviceNodes().stream()
                        .map(DeviceNode::path)
                        .toList();
    }

    @Test
    void nodeThatAppearsIsGivenFromTheListThatIsShownAlready() {
        desk.lists(Map.of(ResourcePlan.GPU, new DeviceList(1, List.of(Some.offer(0, true, "")))), 1);
        assertThat(nodes()).containsExactly("/dev/nvidia0");

        desk.allocator(new Allocator(HOST_MOUNTS, HostNodes.of(List.of("/dev/nvidiactl"))));

        assertThat(nodes()).containsExactly("/dev/nvidiactl", "/dev/nvidia0");
    }
}
