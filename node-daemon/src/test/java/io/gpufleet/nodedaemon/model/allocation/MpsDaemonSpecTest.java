package io.gpufleet.nodedaemon.model.allocation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.nodedaemon.model.settings.SharingSettings;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.DeviceSelector;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.SharedResource;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.SharingMode;
import java.util.List;
import org.junit.jupiter.api.Test;

class MpsDaemonSpecTest {
    private static final SharingSettings MPS = new SharingSettings(
            SharingMode.MPS,
            false,
            true,
            List.of(new SharedResource(ResourcePlan.GPU, "", new DeviceSelector.All(), 4)),
            "/srv/mps");

    private static OfferedDevice share(int gpu, int number, int shares, boolean leaving) {
        return new OfferedDevice(
                TestGpus.uuid(gpu) + "::" + number,
                TestGpus.gpu(gpu),
                new GpuPartition.FullGpu(),
                ResourcePlan.GPU,
                shares,
                new OfferedDevice.Health(true, true, leaving, ""));
    }

    @Test
    void everySharedGpuIsInTheSpecOnceWithItsReplicas() {
        var orders = MpsDaemonSpec.of(
                List.of(
                        share(0, 0, 4, false),
                        share(0, 1, 4, false),
                        share(1, 0, 10, false),
                        share(2, 0, 4, true),
                        TestGpus.offer(3, true, "")),
                MPS);

        assertThat(orders).singleElement().satisfies(order -> {
            assertThat(order.resource()).isEqualTo("nvidia.com/gpu");
            assertThat(order.directory()).isEqualTo("/srv/mps/nvidia.com/gpu");
            assertThat(order.threadPercentage()).isEqualTo(10);
            assertThat(order.devices())
                    .extracting(MpsDaemonSpec.SharedGpu::uuid, MpsDaemonSpec.SharedGpu::limitMebibytes)
                    .containsExactly(tuple(TestGpus.uuid(0), 80L * 1024 / 4), tuple(TestGpus.uuid(1), 80L * 1024 / 10));
        });
    }

    @Test
    void timeSlicingNeedsNoMpsDaemon() {
        var slicing = new SharingSettings(SharingMode.TIME_SLICING, false, false, MPS.resources());

        assertThat(MpsDaemonSpec.of(List.of(share(0, 0, 4, false)), slicing)).isEmpty();
    }
}
