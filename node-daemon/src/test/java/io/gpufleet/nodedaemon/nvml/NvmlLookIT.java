package io.gpufleet.nodedaemon.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.VgpuHost;
import io.gpufleet.nodedaemon.model.Vitals;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is seen through a real library: identity, facts, and GPUs that fail alone. */
class NvmlLookIT {
    @TempDir
    private Path root;

    private StandInNvml nvml;
    private NvmlSource source;

    @BeforeEach
    void install() {
        nvml = StandInNvml.install(root, 4);
        source = open();
    }

    @AfterEach
    void close() {
        source.close();
        nvml.close();
    }

    private NvmlSource open() {
        return new NvmlSource(new NvmlSettings(
                "",
                root,
                root.resolve("sys"),
                root.resolve("proc"),
                Duration.ofSeconds(10),
                Duration.ofHours(1),
                Duration.ofHours(1)));
    }

    private Look.Seen seen() {
        return (Look.Seen) source.look();
    }

    @Test
    void aGpuIsReadInFull() throws IOException {
        // Given
        Path pci = Files.createDirectories(
                root.resolve("sys/devices/pci0000:00/0000:00:01.1/0000:0c:00.0/0000:0d:01.0/0000:0f:00.0"));
        Files.createSymbolicLink(
                Files.createDirectories(root.resolve("sys/bus/pci/devices")).resolve("0000:0f:00.0"), pci);
        Files.writeString(pci.resolve("numa_node"), "1\n");
        Files.writeString(pci.resolve("class"), "0x030200\n");
        Files.write(pci.resolve("config"), PciConfigTest.ofVirtualGpu("525.60", "r525_00"));
        nvml.fabric(1, UUID.fromString("01234567-89ab-cdef-0123-456789abcdef"), 7);

        // When
        Look.Seen seen = seen();

        // Then
        assertThat(seen.driverVersion()).isEqualTo("570.124.06");
        assertThat(seen.cudaVersion()).isEqualTo("12.8");
        assertThat(seen.lost()).isEmpty();
        assertThat(seen.gpus()).extracting(Gpu::index).containsExactly(0, 1, 2, 3);
        assertThat(seen.gpus().get(1))
                .isEqualTo(new Gpu(
                        StandInNvml.uuid(1),
                        new Known<>("1654922000001"),
                        1,
                        1,
                        "00000000:0F:00.0",
                        "NVIDIA H100 80GB HBM3",
                        "H100",
                        "hopper",
                        "9.0",
                        new Known<>(81_559L << 20),
                        new Known<>("96.00.74.00.01"),
                        new Known<>(1),
                        new Known<>(false),
                        List.of(new Gpu.Link("", 18, true)),
                        new Known<>("01234567-89ab-cdef-0123-456789abcdef.7"),
                        new Known<>("compute"),
                        List.of(),
                        new Known<>(List.of("0000:00", "0000:00:01.1", "0000:0c:00.0", "0000:0d:01.0")),
                        new Known<>(new VgpuHost("525.60", "r525_00"))));
    }

    @Test
    void whatABoardDoesNotHaveIsUnavailableWithItsReason() {
        // Given
        nvml.gpu(0, "serial", "").gpu(0, "vbios", "").gpu(0, "migMode", StandInNvml.UNSUPPORTED);
        nvml.gpu(0, "minorNumber", StandInNvml.UNSUPPORTED).fail("nvmlDeviceGetMemoryInfo_v2", 0, 3);
        nvml.fail("nvmlDeviceGetMemoryInfo", 0, 3);

        // When
        Gpu gpu = seen().gpus().getFirst();

        // Then
        assertThat(gpu.serial()).isEqualTo(new Unavailable<>("NOT_SUPPORTED"));
        assertThat(gpu.vbiosVersion()).isEqualTo(new Unavailable<>("NOT_SUPPORTED"));
        assertThat(gpu.migEnabled()).isEqualTo(new Unavailable<>("NOT_SUPPORTED"));
        assertThat(gpu.memoryBytes()).isEqualTo(new Unavailable<>("NOT_SUPPORTED"));
        assertThat(gpu.fabricClique()).isEqualTo(new Unavailable<>("NOT_SUPPORTED"));
        assertThat(gpu.numaNode()).isInstanceOf(Unavailable.class);
        assertThat(gpu.minor()).isZero();
    }

    @Test
    void linksAreCountedByPeer() {
        // Given
        for (int link = 0; link < 18; link++) {
            nvml.link(0, link, link < 2 ? "1" : link < 3 ? "2" : "down");
        }

        // When
        Gpu gpu = seen().gpus().getFirst();

        // Then
        assertThat(gpu.links())
                .containsExactly(
                        new Gpu.Link(StandInNvml.busId(1), 2, false), new Gpu.Link(StandInNvml.busId(2), 1, false));
    }

    @Test
    void aFabricThatComesUpLaterIsLearntAndAFailedLinkUnlearnsNothing() {
        // Given
        for (int link = 0; link < 18; link++) {
            nvml.link(0, link, "down");
        }
        nvml.gpu(0, "fabricState", 2);
        assertThat(seen().gpus().getFirst().links()).isEmpty();

        // When
        for (int link = 0; link < 18; link++) {
            nvml.link(0, link, "switch");
        }
        nvml.fabric(0, UUID.fromString("01234567-89ab-cdef-0123-456789abcdef"), 7);
        Gpu up = seen().gpus().getFirst();

        // Then
        assertThat(up.links()).containsExactly(new Gpu.Link("", 18, true));
        assertThat(up.fabricClique()).isEqualTo(new Known<>("01234567-89ab-cdef-0123-456789abcdef.7"));

        // When
        nvml.link(0, 3, "down");

        // Then
        assertThat(seen().gpus().getFirst()).isEqualTo(up);
    }

    @Test
    void oneLostGpuDoesNotHideTheOthers() {
        // Given
        nvml.lost(2, true);

        // When
        Look.Seen seen = seen();

        // Then
        assertThat(seen.gpus()).extracting(Gpu::index).containsExactly(0, 1, 3);
        assertThat(seen.lost()).containsExactly(new Look.LostGpu(2, "", "GPU_IS_LOST"));
    }

    @Test
    void aGpuThatIsLostLaterKeepsItsPlace() {
        // Given
        assertThat(seen().gpus()).hasSize(4);

        // When
        nvml.lost(2, true);

        // Then
        assertThat(seen().lost()).containsExactly(new Look.LostGpu(2, StandInNvml.busId(2), "GPU_IS_LOST"));
    }

    @Test
    void aNodeWithoutGpusIsSeenAsSuch() {
        // Given
        nvml.gpus(0);

        // Then
        assertThat(seen().gpus()).isEmpty();
        assertThat(source.vitals()).isEmpty();
    }

    @Test
    void anotherLookSeesNewGpusAndAChangedMigMode() {
        // Given
        assertThat(seen().gpus()).hasSize(4);

        // When
        nvml.gpus(5).gpu(0, "migMode", 1);

        // Then
        assertThat(seen().gpus()).hasSize(5);
        assertThat(seen().gpus().getFirst().migEnabled()).isEqualTo(new Known<>(true));
        assertThat(nvml.counter("initCalls")).isEqualTo(1);
    }

    @Test
    void aGpuThatWasRemovedIsNoLongerThereAndTheOthersMoveUp() {
        // Given
        assertThat(seen().gpus()).hasSize(4);

        // When
        for (int i = 1; i < 3; i++) {
            nvml.gpu(i, "uuid", StandInNvml.uuid(i + 1)).gpu(i, "busId", StandInNvml.busId(i + 1));
        }
        nvml.gpus(3);

        // Then
        Look.Seen after = seen();
        assertThat(after.gpus())
                .extracting(Gpu::uuid)
                .containsExactly(StandInNvml.uuid(0), StandInNvml.uuid(2), StandInNvml.uuid(3));
        assertThat(after.gpus()).extracting(Gpu::index).containsExactly(0, 1, 2);
        assertThat(after.lost()).isEmpty();
    }

    @Test
    void whatTheKernelHasOnTheBusIsToldBesideWhatTheDriverHas() throws IOException {
        // Given a GPU that the driver does not have, a network card, and an NVSwitch
        assertThat(seen().onTheBus()).isInstanceOf(Unavailable.class);
        onTheBus("0000:07:00.0", "0x10de", "0x030200");
        onTheBus("0008:01:00.0", "0x10de", "0x030000");
        onTheBus("0000:05:00.0", "0x15b3", "0x020700");
        onTheBus("0000:06:00.0", "0x10de", "0x068000");

        // Then
        assertThat(seen().onTheBus()).isEqualTo(new Known<>(List.of("0000:07:00.0", "0008:01:00.0")));
    }

    private void onTheBus(String address, String vendor, String type) throws IOException {
        Path device = Files.createDirectories(root.resolve("sys/bus/pci/devices/" + address));
        Files.writeString(device.resolve("vendor"), vendor + "\n");
        Files.writeString(device.resolve("class"), type + "\n");
    }

    @Test
    void memoryThatCouldNotBeReadAtFirstIsLearnt() {
        // Given
        nvml.fail("nvmlDeviceGetMemoryInfo_v2", 0, 999).fail("nvmlDeviceGetMemoryInfo", 0, 999);
        assertThat(seen().gpus().getFirst().memoryBytes()).isEqualTo(new Unavailable<>("UNKNOWN"));

        // When
        nvml.clearRules();

        // Then
        assertThat(seen().gpus().getFirst().memoryBytes()).isEqualTo(new Known<>(81_559L << 20));
    }

    @Test
    void vitalsAreReadOneByOne() {
        // Given
        nvml.gpu(1, "power", StandInNvml.UNSUPPORTED);
        assertThat(seen().gpus()).hasSize(4);
        nvml.lost(3, true);

        // When
        List<Vitals> vitals = source.vitals();

        // Then
        Vitals first = vitals.getFirst();
        assertThat(first.answers()).isEqualTo(new Known<>(true));
        assertThat(first.gpuUtilizationPercent()).isEqualTo(new Known<>(10));
        assertThat(first.memoryUtilizationPercent()).isEqualTo(new Known<>(5));
        assertThat(first.memoryUsedBytes()).isEqualTo(new Known<>(1L << 30));
        assertThat(first.powerMilliwatts()).isEqualTo(new Known<>(120_000));
        assertThat(first.temperatureCelsius()).isEqualTo(new Known<>(40));
        assertThat(first.smClockMhz()).isEqualTo(new Known<>(1980));
        assertThat(first.memoryClockMhz()).isEqualTo(new Known<>(2619));
        assertThat(first.energyMillijoules()).isEqualTo(new Known<>(1_000_000L));
        assertThat(first.pcieReplays()).isEqualTo(new Known<>(0L));
        assertThat(first.clockEventReasons()).isEqualTo(new Known<>(1L));
        assertThat(vitals.get(1).powerMilliwatts()).isEqualTo(new Unavailable<>("NOT_SUPPORTED"));
        assertThat(vitals.get(3).answers()).isEqualTo(new Known<>(false));
        assertThat(vitals.get(3).energyMillijoules()).isEqualTo(new Unavailable<>("GPU_IS_LOST"));
    }

    @Test
    void aDriverThatKnowsOnlyTheOldNamesIsReadTheSameWay(@TempDir Path oldRoot) {
        try (StandInNvml old = StandInNvml.installOld(oldRoot, 2);
                NvmlSource source = new NvmlSource(NvmlSettings.of("", oldRoot))) {
            // When
            Look.Seen seen = (Look.Seen) source.look();

            // Then
            assertThat(old.counter("initCalls")).isEqualTo(1);
            Gpu gpu = seen.gpus().get(1);
            assertThat(seen.driverVersion()).isEqualTo("450.80.02");
            assertThat(gpu.pciBusId()).isEqualTo(StandInNvml.busId(1));
            assertThat(gpu.memoryBytes()).isEqualTo(new Known<>(81_559L << 20));
            assertThat(gpu.fabricClique()).isEqualTo(new Unavailable<>("FUNCTION_NOT_FOUND"));
            assertThat(source.vitals()).extracting(Vitals::clockEventReasons).containsOnly(new Known<>(1L));
        }
    }

    @Test
    void aLibraryNamedByItsPathIsTaken(@TempDir Path elsewhere) {
        // Given
        Reading<String> serial = new Known<>("1654922000000");

        // When
        try (NvmlSource named = new NvmlSource(NvmlSettings.of(nvml.library().toString(), elsewhere))) {
            // Then
            assertThat(((Look.Seen) named.look()).gpus().getFirst().serial()).isEqualTo(serial);
        }
    }
}
