package io.gpufleet.nodedaemon.model.allocation;

import static io.gpufleet.nodedaemon.model.device.TestGpus.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.allocation.AllocationResult.Accepted;
import io.gpufleet.nodedaemon.model.allocation.AllocationResult.ContainerAllocation;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.DeviceIdStrategy;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.ImexMode;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.KernelInterface;
import io.gpufleet.nodedaemon.model.settings.DeviceListStrategy;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import java.util.List;
import java.util.Set;

/** Allocators of a host with every device node, whose third GPU is unhealthy. */
final class TestAllocations {
    static final DeviceList LIST = new DeviceList(
            1, List.of(TestGpus.offer(0, true, ""), TestGpus.offer(1, true, ""), TestGpus.offer(2, false, "xid-79")));
    static final HostDeviceNodes HOST = new HostDeviceNodes(
            "",
            List.of("/dev/nvidiactl"),
            List.of("/dev/gdrdrv"),
            List.of("/dev/nvidia-fs0"),
            List.of("/dev/infiniband/uverbs0"),
            List.of("/dev/nvidia-caps-imex-channels/channel0"),
            HostDriver.NONE,
            new CdiNames(Set.of(uuid(0), uuid(1), "0", "1", "gds", "imex-channel-0"), ""));
    static final String VISIBLE = "NVIDIA_VISIBLE_DEVICES";

    private TestAllocations() {}

    static AllocateSettings withStrategies(DeviceListStrategy... strategies) {
        return AllocateSettings.DEFAULT.with(Set.of(strategies)).withDriverRoot("/home/kubernetes/bin/nvidia");
    }

    static AllocateSettings settingsWith(
            AllocateSettings base, DeviceIdStrategy names, Set<KernelInterface> extras, ImexMode imex) {
        return new AllocateSettings(
                base.strategies(),
                names,
                false,
                extras,
                imex,
                "cdi.k8s.io/",
                new AllocateSettings.Driver(base.driver().root(), false),
                false);
    }

    static AllocationTable table(AllocateSettings settings, HostDeviceNodes host, DeviceList list) {
        return new AllocationTableFactory(PluginSettings.DEFAULT.with(settings), host).table(ResourcePlan.GPU, list);
    }

    static ContainerAllocation allocate(
            AllocateSettings settings, HostDeviceNodes host, DeviceList list, String... ids) {
        var answer = table(settings, host, list).allocate(List.of(List.of(ids)));
        assertThat(answer).isInstanceOf(Accepted.class);
        return ((Accepted) answer).containers().getFirst();
    }

    static ContainerAllocation allocate(AllocateSettings settings, String... ids) {
        return allocate(settings, HOST, LIST, ids);
    }
}
