package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.device.TestGpus.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.model.allocation.AllocationResult.Accepted;
import io.gpufleet.nodedaemon.model.allocation.AllocationResult.DeviceNode;
import io.gpufleet.nodedaemon.model.allocation.AllocationTableFactory;
import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import io.gpufleet.nodedaemon.model.allocation.HostDeviceNodes;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevice;
import io.gpufleet.nodedaemon.model.allocation.ResourcePlan;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.DeviceListStrategy;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class AllocationHandlerTest {
    private static final PluginSettings HOST_MOUNTS =
            PluginSettings.DEFAULT.with(AllocateSettings.DEFAULT.with(Set.of(DeviceListStrategy.HOST_MOUNTS)));

    private final List<NodeLoopInput> inputs = new ArrayList<>();

    private final AllocationHandler handler = new AllocationHandler(
            new AllocationTableFactory(HOST_MOUNTS, HostDeviceNodes.NONE),
            () -> TestGpus.second(0),
            new DaemonCounters(),
            inputs::add);

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

        handler.allocator(new AllocationTableFactory(HOST_MOUNTS, HostDeviceNodes.of(List.of("/dev/nvidiactl"))));

        assertThat(nodes()).containsExactly("/dev/nvidiactl", "/dev/nvidia0");
    }

    @Test
    void allocationsAreOneInputOfTheLoopAfterTheyWereAnswered() {
        // Given
        handler.lists(
                Map.of(
                        ResourcePlan.GPU,
                        new DeviceList(1, List.of(TestGpus.offer(0, true, ""), TestGpus.offer(1, true, "")))),
                1);
        var resource = handler.resource(ResourcePlan.GPU);
        // When two calls were answered, one of them for two containers
        assertThat(resource.allocate(List.of(List.of(uuid(0))))).isInstanceOf(Accepted.class);
        assertThat(resource.allocate(List.of(List.of(uuid(0)), List.of(uuid(1)))))
                .isInstanceOf(Accepted.class);
        // Then the loop was not woken
        assertThat(inputs).isEmpty();
        // When
        assertThat(resource.publishCollected()).isFalse();
        assertThat(resource.publishCollected()).isTrue();
        assertThat(resource.publishCollected()).isTrue();
        // Then
        assertThat(inputs)
                .singleElement()
                .satisfies(input -> assertThat(((NodeLoopInput.DevicesAllocated) input).allocations())
                        .extracting(NodeLoopInput.DevicesAllocated.Allocation::deviceIds)
                        .containsExactly(List.of(uuid(0)), List.of(uuid(0)), List.of(uuid(1))));
    }

    @Test
    void floodOfAllocationsIsPublishedEveryQuarterOfASecondOrThousand() {
        handler.lists(Map.of(ResourcePlan.GPU, new DeviceList(1, List.of(TestGpus.offer(0, true, "")))), 1);
        var resource = handler.resource(ResourcePlan.GPU);

        for (int turn = 1; turn <= 25; turn++) {
            resource.allocate(List.of(List.of(uuid(0))));
            assertThat(resource.publishCollected()).isEqualTo(turn == 25);
        }
        for (int i = 0; i < 1_000; i++) {
            resource.allocate(List.of(List.of(uuid(0))));
        }
        assertThat(resource.publishCollected()).isTrue();

        assertThat(inputs)
                .extracting(input ->
                        ((NodeLoopInput.DevicesAllocated) input).allocations().size())
                .containsExactly(25, 1_000);
    }

    @Test
    void floodOfLargeAllocationsIsNotKeptForAQuarterOfASecond() {
        // Given as many devices as a few GPUs with replicas have
        List<OfferedDevice> many = IntStream.range(0, 1_000)
                .mapToObj(i -> TestGpus.offer(i, true, ""))
                .toList();
        handler.lists(Map.of(ResourcePlan.GPU, new DeviceList(1, many)), 1);
        var resource = handler.resource(ResourcePlan.GPU);
        // When each of ten calls asks for all of them
        List<String> all = many.stream().map(OfferedDevice::id).toList();
        for (int i = 0; i < 10; i++) {
            assertThat(resource.allocate(List.of(all))).isInstanceOf(Accepted.class);
        }
        // Then they are published at the end of the turn, and count no further
        assertThat(resource.publishCollected()).isTrue();
        resource.allocate(List.of(List.of(uuid(0))));
        assertThat(resource.publishCollected()).isFalse();
    }

    @Test
    void sameDevicesGetTheSameAllocationInAnyOrder() {
        // Given
        handler.lists(
                Map.of(
                        ResourcePlan.GPU,
                        new DeviceList(1, List.of(TestGpus.offer(0, true, ""), TestGpus.offer(1, true, "")))),
                1);
        var resource = handler.resource(ResourcePlan.GPU);
        // When
        var answers = List.of(
                resource.allocate(List.of(List.of(uuid(0), uuid(1)))),
                resource.allocate(List.of(List.of(uuid(1), uuid(0)))));
        // Then
        assertThat(((Accepted) answers.getLast()).containers().getFirst())
                .isSameAs(((Accepted) answers.getFirst()).containers().getFirst());
    }
}
