package io.gpufleet.nodedaemon.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.gpufleet.nodedaemon.sysfs.SysfsPciDevices;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** MIG instances of a GPU whose partitioning changes between scans. */
class NvmlSourceMigIT {
    private static final int UNKNOWN = 999;
    private static final int NO_PERMISSION = 4;

    @TempDir
    private Path root;

    private FakeNvml nvml;
    private NvmlSource source;

    @BeforeEach
    void install() throws IOException {
        Path minors = Files.createDirectories(root.resolve("driver/nvidia-caps"));
        Files.writeString(minors.resolve("mig-minors"), """
                config 1
                monitor 2
                gpu0/gi7/access 66
                gpu0/gi7/ci0/access 67
                gpu1/gi7/access 201
                gpu1/gi7/ci0/access 202
                gpu1/gi7/ci00/access 999
                gpu1/gi9/access 219
                gpu1/gi9/ci0/access 220
                """);
        nvml = FakeNvml.install(root, 2);
        source = new NvmlSource(
                new NvmlSettings("", root, root, Duration.ofSeconds(10), Duration.ofHours(1)),
                new SysfsPciDevices(root));
    }

    @AfterEach
    void close() {
        source.close();
        nvml.close();
    }

    private Gpu second() {
        return ((DeviceScan.ScanSucceeded) source.scan()).gpus().get(1);
    }

    private List<String> profiles() {
        return second().instances().stream().map(MigInstance::profile).toList();
    }

    @Test
    void instanceIsReadInFullAndAnEmptySlotIsNone() {
        // Given
        nvml.gpu(1, "migMode", 1).mig(1, 0, "1g.10gb", 7).mig(1, 2, "1g.10gb+me", 9);

        // When
        Gpu gpu = second();

        // Then
        assertThat(gpu.mig().enabled()).isEqualTo(new Known<>(true));
        assertThat(gpu.instances())
                .containsExactly(
                        new MigInstance(
                                FakeNvml.migUuid(1, 7),
                                "1g.10gb",
                                0,
                                7,
                                0,
                                new MigInstance.Attributes(
                                        10L << 30,
                                        16,
                                        new MigInstance.Slices(1, 1),
                                        new MigInstance.Engines(1, 1, 0, 1, 0)),
                                List.of("/dev/nvidia-caps/nvidia-cap201", "/dev/nvidia-caps/nvidia-cap202"),
                                new Known<>(new MigInstance.Placement(19, 0, 1))),
                        new MigInstance(
                                FakeNvml.migUuid(1, 9),
                                "1g.10gb+me",
                                2,
                                9,
                                0,
                                new MigInstance.Attributes(
                                        10L << 30,
                                        16,
                                        new MigInstance.Slices(1, 1),
                                        new MigInstance.Engines(1, 1, 0, 1, 1)),
                                List.of("/dev/nvidia-caps/nvidia-cap219", "/dev/nvidia-caps/nvidia-cap220"),
                                new Known<>(new MigInstance.Placement(19, 2, 1))));
    }

    @Test
    void instanceWithUnreadablePlacementIsAnInstance() {
        nvml.gpu(1, "migMode", 1).mig(1, 0, "1g.10gb", 7).fail("nvmlDeviceGetGpuInstanceById", 1, NO_PERMISSION);

        assertThat(second().instances())
                .singleElement()
                .satisfies(instance -> assertThat(instance.placement()).isEqualTo(new Unavailable<>("NO_PERMISSION")));
    }

    @Test
    void partOfAGpuInstanceIsNotAWholeOne() {
        // Given
        nvml.gpu(1, "migMode", 1).mig(1, 0, "1c.3g.40gb", 1).mig(1, 1, "3g.40gb", 2);

        // Then
        assertThat(second().instances())
                .extracting(MigInstance::isWholeGpuInstance)
                .containsExactly(false, true);
    }

    @Test
    void everyChangeOfThePartitioningIsSeenByTheNextScan() {
        // Given
        assertThat(profiles()).isEmpty();
        nvml.gpu(1, "migMode", 1);
        assertThat(second().mig().enabled()).isEqualTo(new Known<>(true));
        assertThat(profiles()).isEmpty();

        // When
        nvml.mig(1, 0, "1g.10gb", 7).mig(1, 1, "1g.10gb", 8);
        assertThat(profiles()).containsExactly("1g.10gb", "1g.10gb");
        nvml.noMig(1, 0).noMig(1, 1).mig(1, 0, "7g.80gb", 0);
        assertThat(profiles()).containsExactly("7g.80gb");
        nvml.noMig(1, 0).gpu(1, "migMode", 0);

        // Then
        Gpu whole = second();
        assertThat(whole.mig().enabled()).isEqualTo(new Known<>(false));
        assertThat(whole.instances()).isEmpty();
        assertThat(nvml.counter("generations")).isEqualTo(1);
    }

    @Test
    void instanceThatCannotBeReadOnceStays() {
        // Given
        nvml.gpu(1, "migMode", 1).mig(1, 0, "1g.10gb", 7).mig(1, 1, "1g.10gb", 8);
        assertThat(profiles()).hasSize(2);

        // When
        nvml.fail("nvmlDeviceGetMigDeviceHandleByIndex", 1, UNKNOWN);

        // Then
        assertThat(profiles()).hasSize(2);
        assertThat(second().mig().enabled()).isEqualTo(new Known<>(true));

        // When
        nvml.clearRules().fail("nvmlDeviceGetMigMode", 1, UNKNOWN).fail("nvmlDeviceGetMaxMigDeviceCount", 1, UNKNOWN);

        // Then
        assertThat(profiles()).hasSize(2);
    }

    @Test
    void gpuThatIsLostWithItsInstancesIsLost() {
        // Given
        nvml.gpu(1, "migMode", 1).mig(1, 0, "1g.10gb", 7);
        assertThat(profiles()).hasSize(1);

        // When
        nvml.lost(1, true);

        // Then
        assertThat(((DeviceScan.ScanSucceeded) source.scan()).lost())
                .containsExactly(new DeviceScan.LostGpu(1, FakeNvml.busId(1), "GPU_IS_LOST"));
    }

    @Test
    void driverWithOnlyTheOldNamesListsInstancesToo(@TempDir Path oldRoot) {
        try (FakeNvml old = FakeNvml.installOld(oldRoot, 1);
                NvmlSource source =
                        new NvmlSource(NvmlSettings.of("", oldRoot), new SysfsPciDevices(Path.of("/sys")))) {
            // Given
            old.gpu(0, "migMode", 1).mig(0, 0, "1g.5gb", 7);

            // When
            Gpu gpu = ((DeviceScan.ScanSucceeded) source.scan()).gpus().getFirst();

            // Then
            assertThat(gpu.instances()).extracting(MigInstance::profile).containsExactly("1g.5gb");
        }
    }
}
