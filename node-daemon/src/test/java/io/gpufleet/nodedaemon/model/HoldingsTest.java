package io.gpufleet.nodedaemon.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class HoldingsTest {
    private static final List<KnownGpu> GPUS = List.of(
            new KnownGpu(Some.gpu(0), new KnownGpu.Presence.Answering()),
            new KnownGpu(Some.gpu(1), new KnownGpu.Presence.Answering()));

    private static Holdings held(String resource, String... ids) {
        return new Holdings(List.of(new Holder("ns", "pod", "", "main", resource, List.of(ids))), true);
    }

    @Test
    void wholeGpuOfAClaimIsKnownByItsUuid() {
        Holdings placed =
                held(Holder.DRA_DRIVER, "gpu-1", "gpu-0-mig-9-4-4", "gpu-7").placed(GPUS);

        assertThat(placed.heldIds()).containsExactlyInAnyOrder(Some.uuid(1), "gpu-0-mig-9-4-4", "gpu-7");
        assertThat(placed.of(Set.of(Some.uuid(1)))).hasSize(1);
    }

    @Test
    void idsOfDevicePluginsAreLeftAsTheyAre() {
        Holdings before = held("nvidia.com/gpu", "gpu-1");

        assertThat(before.placed(GPUS)).isEqualTo(before);
    }
}
