package io.gpufleet.nodedaemon.model.holders;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.KnownGpu;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HoldingsTest {
    private static final List<KnownGpu> GPUS = List.of(
            new KnownGpu(TestGpus.gpu(0), new KnownGpu.Presence.Answering()),
            new KnownGpu(TestGpus.gpu(1), new KnownGpu.Presence.Answering()));

    private static Holdings held(String resource, String... ids) {
        return new Holdings(List.of(new Holder("ns", "pod", "", "main", resource, List.of(ids))), true);
    }

    @Test
    void wholeGpuOfAClaimIsKnownByItsUuid() {
        Holdings placed =
                held(Holder.DRA_DRIVER, "gpu-1", "gpu-0-mig-9-4-4", "gpu-7").withClaimsResolved(GPUS);

        assertThat(placed.heldIds()).containsExactlyInAnyOrder(TestGpus.uuid(1), "gpu-0-mig-9-4-4", "gpu-7");
        assertThat(placed.of(Set.of(TestGpus.uuid(1)))).hasSize(1);
    }

    private static KnownGpu partitioned(MigInstance... instances) {
        return new KnownGpu(
                TestGpus.gpu(3).withMig(new Reading.Known<>(true), List.of(instances)),
                new KnownGpu.Presence.Answering());
    }

    private static MigInstance instance(String uuid, int profileId, int start, int computeSlices) {
        var share = new MigInstance.Attributes(
                5L << 30, 14, new MigInstance.Slices(2, computeSlices), new MigInstance.Engines(1, 0, 0, 0, 0));
        return new MigInstance(
                uuid,
                "2g.10gb",
                start,
                start + 7,
                0,
                share,
                List.of(),
                new Reading.Known<>(new MigInstance.Placement(profileId, start, 2)));
    }

    @ParameterizedTest
    @CsvSource({
        "gpu-3-mig-14-2-2, MIG-b",
        "gpu-3-mig-2g10gb-14-2, MIG-b",
        "gpu-3-mig-2g10gb-me-15-4, MIG-c",
        "gpu-3-mig-14-0-2, MIG-a",
        "gpu-3-mig-14-6-2, gpu-3-mig-14-6-2",
        "gpu-1-mig-14-2-2, gpu-1-mig-14-2-2",
        "gpu-3-mig-14-2, gpu-3-mig-14-2"
    })
    void migDeviceOfAClaimIsKnownByItsUuid(String name, String uuid) {
        List<KnownGpu> gpus = List.of(
                GPUS.get(1),
                partitioned(instance("MIG-a", 14, 0, 2), instance("MIG-b", 14, 2, 2), instance("MIG-c", 15, 4, 2)));

        assertThat(held(Holder.DRA_DRIVER, name).withClaimsResolved(gpus).heldIds())
                .containsExactly(uuid);
    }

    @Test
    void ambiguousDraNameIsKept() {
        List<KnownGpu> gpus = List.of(partitioned(instance("MIG-a", 14, 2, 2), instance("MIG-b", 14, 2, 2)));

        assertThat(held(Holder.DRA_DRIVER, "gpu-3-mig-14-2-2")
                        .withClaimsResolved(gpus)
                        .heldIds())
                .containsExactly("gpu-3-mig-14-2-2");
        assertThat(held(Holder.DRA_DRIVER, "gpu-3-mig-14-2-2")
                        .withClaimsResolved(
                                List.of(partitioned(instance("MIG-a", 14, 2, 1), instance("MIG-b", 14, 2, 2))))
                        .heldIds())
                .containsExactly("MIG-b");
    }

    @Test
    void idsOfDevicePluginsAreKept() {
        Holdings before = held("nvidia.com/gpu", "gpu-1");

        assertThat(before.withClaimsResolved(GPUS)).isEqualTo(before);
    }
}
