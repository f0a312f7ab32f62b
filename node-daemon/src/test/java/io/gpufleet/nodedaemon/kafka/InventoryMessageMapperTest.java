package io.gpufleet.nodedaemon.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.gpufleet.nodedaemon.app.NodeFact;
import io.gpufleet.nodedaemon.model.allocation.CompanionStatus;
import io.gpufleet.nodedaemon.model.allocation.GpuPartition;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevice;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.HostInfo;
import io.gpufleet.nodedaemon.model.device.KnownGpu;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.nodedaemon.model.holders.Holder;
import io.gpufleet.nodedaemon.model.holders.Holdings;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.inventory.v1.OfferedResource;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Announcements while the sharing of GPUs changes. */
class InventoryMessageMapperTest {
    private static final String SHARED = "nvidia.com/gpu.shared";
    private static final String GPUS = "nvidia.com/gpu";

    private static OfferedDevice offer(String id, String resource, int replicas, boolean leaving) {
        return new OfferedDevice(
                id,
                TestGpus.gpu(0),
                new GpuPartition.FullGpu(),
                resource,
                replicas,
                new OfferedDevice.Health(true, true, leaving, ""));
    }

    private static NodeAnnounced announced(OfferedDevice... offers) {
        var byKey = new LinkedHashMap<String, OfferedDevice>();
        for (OfferedDevice offer : offers) {
            byKey.put(offer.resource() + " " + offer.id(), offer);
        }
        var gpu = new KnownGpu(TestGpus.gpu(0), new KnownGpu.Presence.Answering());
        return InventoryMessageMapper.announced(new NodeFact.Announced(
                NodeFact.Reason.CHANGED,
                new HostInfo("0.1.0", "nvml", "6.8", "", "boot-1", Duration.ZERO),
                new DeviceScan.ScanSucceeded("570", "12.8", List.of(TestGpus.gpu(0)), List.of()),
                List.of(gpu),
                byKey,
                PluginSettings.DEFAULT,
                CompanionStatus.NONE,
                Instant.EPOCH));
    }

    @Test
    void idsThatAreLeavingAreNoCapacity() {
        // Given a GPU that was offered as a whole and has two replicas now
        var announced = announced(
                offer("GPU-00000000", GPUS, 1, true),
                offer("GPU-00000000::0", GPUS, 2, false),
                offer("GPU-00000000::1", GPUS, 2, false));

        assertThat(announced.getResourcesList())
                .extracting(OfferedResource::getName, OfferedResource::getCapacity, OfferedResource::getAllocatable)
                .containsExactly(tuple(GPUS, 2, 2));
        assertThat(announced.getGpus(0).getSharing().getReplicas()).isEqualTo(2);
    }

    @Test
    void resourceThatIsLeavingIsReportedEmpty() {
        var announced = announced(offer("GPU-00000000", GPUS, 1, true), offer("GPU-00000000::0", SHARED, 2, false));

        assertThat(announced.getResourcesList())
                .extracting(OfferedResource::getName, OfferedResource::getCapacity, OfferedResource::getAllocatable)
                .containsExactly(tuple(GPUS, 0, 0), tuple(SHARED, 1, 1));
    }

    @Test
    void holderOfAnIdThatMovesToAnotherResourceIsReported() {
        // Given an id that leaves one resource while another has it already
        var offers = List.of(offer("GPU-00000000", GPUS, 1, true), offer("GPU-00000000", SHARED, 2, false));
        var holder = new Holder("ns", "pod", "", "main", GPUS, List.of("GPU-00000000"));

        var held = new FactMessageMapper("boot-1")
                .map(new NodeFact.Held(new Holdings(List.of(holder), true), List.of(), offers));

        assertThat(held.payload()).isInstanceOf(DevicesHeld.class);
        assertThat(((DevicesHeld) held.payload()).getHolders(0).getDevices(0).getShareOf())
                .isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"GPU-00000000::a", "GPU-00000000::", "GPU-00000000::99999999999"})
    void holderOfAnIdOfAnotherPluginIsReported(String id) {
        var holder = new Holder("ns", "pod", "", "main", GPUS, List.of(id));

        var held = new FactMessageMapper("boot-1")
                .map(new NodeFact.Held(new Holdings(List.of(holder), true), List.of(), List.of()));

        assertThat(((DevicesHeld) held.payload()).getHolders(0).getDevices(0).getDeviceUuid())
                .isEqualTo("GPU-00000000");
    }
}
