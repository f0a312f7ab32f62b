package io.gpufleet.nodedaemon.model.device;

import static io.gpufleet.nodedaemon.model.device.TestGpus.second;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.preferred.TestTopologies;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Identification of GPUs that do not respond. */
class DeviceInventoryTest {
    private static DeviceScan.ScanSucceeded withLost(DeviceScan.LostGpu lost) {
        return new DeviceScan.ScanSucceeded("570", "12.8", List.of(TestGpus.gpu(0), TestGpus.gpu(2)), List.of(lost));
    }

    private static final DeviceInventory BEFORE =
            DeviceInventory.restored(List.of(TestGpus.gpu(0), TestGpus.gpu(1), TestGpus.gpu(2)), second(0));

    @Test
    void lostGpuBeforeStartIsMatchedByIndex() {
        DeviceInventory inventory = BEFORE.after(withLost(new DeviceScan.LostGpu(1, "", "GPU_IS_LOST")), second(1));

        assertThat(inventory.find(TestGpus.uuid(1)))
                .contains(new KnownGpu(TestGpus.gpu(1), new KnownGpu.Presence.Missing(0, "GPU_IS_LOST", true)));
    }

    private static DeviceScan.ScanSucceeded twoGpusAndPciDevices(String... addresses) {
        return new DeviceScan.ScanSucceeded(
                "570",
                "12.8",
                List.of(TestGpus.gpu(0), TestGpus.gpu(2)),
                List.of(new DeviceScan.LostGpu(1, TestGpus.gpu(1).pciBusId(), "GPU_IS_LOST")),
                new Reading.Known<>(List.of(addresses)));
    }

    @Test
    void gpuMissingFromPciBusIsForgotten() {
        assertThat(BEFORE.after(twoGpusAndPciDevices("0000:00:00.0", "0002:00:00.0"), second(1))
                        .find(TestGpus.uuid(1)))
                .isEmpty();
        assertThat(BEFORE.after(twoGpusAndPciDevices("0000:00:00.0", "0001:00:00.0", "0002:00:00.0"), second(1))
                        .find(TestGpus.uuid(1)))
                .isPresent();
    }

    @Test
    void pciBusThatLacksRespondingGpusIsIgnored() {
        assertThat(BEFORE.after(twoGpusAndPciDevices("0000:00:00.0"), second(1)).find(TestGpus.uuid(1)))
                .isPresent();
    }

    @Test
    void withoutRespondingGpusPciBusCountsForGpusItShowedBefore() {
        Gpu shown = TestTopologies.routed(TestGpus.gpu(1), List.of("0000:00"));
        DeviceInventory before = DeviceInventory.restored(List.of(TestGpus.gpu(0), shown), second(0));

        DeviceInventory after = before.after(
                new DeviceScan.ScanSucceeded("570", "12.8", List.of(), List.of(), new Reading.Known<>(List.of())),
                second(1));

        assertThat(after.gpus()).extracting(KnownGpu::gpu).containsExactly(TestGpus.gpu(0));
    }

    @Test
    void lostGpuAtAnotherPciAddressIsNotMatched() {
        DeviceInventory inventory =
                BEFORE.after(withLost(new DeviceScan.LostGpu(1, "00000009:00:00.0", "GPU_IS_LOST")), second(1));

        assertThat(inventory.find(TestGpus.uuid(1)))
                .contains(new KnownGpu(
                        TestGpus.gpu(1), new KnownGpu.Presence.Missing(0, "no longer found by the driver", false)));
    }
}
