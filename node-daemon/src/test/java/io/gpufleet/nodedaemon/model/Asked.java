package io.gpufleet.nodedaemon.model;

import static io.gpufleet.nodedaemon.model.Some.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.AllocationAnswer.Grant;
import io.gpufleet.nodedaemon.model.AllocationAnswer.Granted;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.Extra;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.IdNames;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.Imex;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.Strategy;
import java.util.List;
import java.util.Set;

/** Allocators to ask, of a host that has everything but a healthy third GPU. */
final class Asked {
    static final DeviceList LIST = new DeviceList(
            1, List.of(Some.offer(0, true, ""), Some.offer(1, true, ""), Some.offer(2, false, "xid-79")));
    static final HostNodes HOST = new HostNodes(
            "",
            List.of("/dev/nvidiactl"),
            List.of("/dev/gdrdrv"),
            List.of("/dev/nvidia-fs0"),
            List.of("/dev/infiniband/uverbs0"),
            List.of("/dev/nvidia-caps-imex-channels/channel0"),
            "",
            new CdiNames(Set.of(uuid(0), uuid(1), "0", "1", "gds", "imex-channel-0"), ""));
    static final String VISIBLE = "NVIDIA_VISIBLE_DEVICES";

    private Asked() {}

    static AllocateSettings by(Strategy... strategies) {
        return AllocateSettings.STANDARD.with(Set.of(strategies)).at("/home/kubernetes/bin/nvidia");
    }

    static AllocateSettings full(AllocateSettings base, IdNames names, Set<Extra> extras, Imex imex) {
        return new AllocateSettings(
                base.strategies(), names, false, extras, imex, "cdi.k8s.io/", base.driverRoot(), false, false);
    }

    static GrantTable table(AllocateSettings settings, HostNodes host, DeviceList list) {
        return new Allocator(PluginSettings.STANDARD.with(settings), host).table(ResourcePlan.GPU, list);
    }

    static Grant grant(AllocateSettings settings, HostNodes host, DeviceList list, String... ids) {
        var answer = table(settings, host, list).answer(List.of(List.of(ids)));
        assertThat(answer).isInstanceOf(Granted.class);
        return ((Granted) answer).containers().getFirst();
    }

    static Grant grant(AllocateSettings settings, String... ids) {
        return grant(settings, HOST, LIST, ids);
    }
}
