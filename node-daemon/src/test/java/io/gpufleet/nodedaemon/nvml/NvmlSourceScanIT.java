package io.gpufleet.nodedaemon.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.device.VgpuHost;
import io.gpufleet.nodedaemon.sysfs.PciConfigSpaceTest;
import io.gpufleet.nodedaemon.sysfs.SysfsPciDevices;
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

/** Scans through the fake library: identity, properties, and GPUs that fail alone. */
class NvmlSourceScanIT {
    @TempDir
    private Path root;

    private static final int UNBIND = 1;
    private static final int BIND = 2;

    private FakeNvml nvml;
    private NvmlSource source;

    @BeforeEach
    void install() {
        nvml = FakeNvml.install(root, 4);
        source = open();
    }

    @AfterEach
    void close() {
        source.close();
        nvml.close();
    }

    private NvmlSource open() {
        return new NvmlSource(
                new NvmlSettings("", root, root.resolve("proc"), Duration.ofSeconds(10), Duration.ofHours(1)),
                new SysfsPciDevices(root.resolve("sys")));
    }

    private DeviceScan.ScanSucceeded scan() {
        return (DeviceScan.ScanSucceeded) source.scan();
    }

    @Test
    void gpuIsReadInFull() throws IOException {
        // Given
        Path pci = Files.createDirectories(
                root.resolve("sys/devices/pci0000:00/0000:00:01.1/0000:0c:00.0/0000:0d:01.0/0000:0f:00.0"));
        Files.createSymbolicLink(
                Files.createDirectories(root.resolve("sys/bus/pci/devices")).resolve("0000:0f:00.0"), pci);
        Files.writeString(pci.resolve("numa_node"), "1\n");
        Files.writeString(pci.resolve("class"), "0x030200\n");
        Files.write(pci.resolve("config"), PciConfigSpaceTest.ofVirtualGpu("525.60", "r525_00"));
        nvml.fabric(1, UUID.fromString("01234567-89ab-cdef-0123-456789abcdef"), 7);

        // When
        DeviceScan.ScanSucceeded scan = scan();

        // Then
        assertThat(scan.driverVersion()).isEqualTo("570.124.06");
        assertThat(scan.cudaVersion()).isEqualTo("12.8");
        assertThat(scan.lost()).isEmpty();
        assertThat(scan.gpus()).extracting(Gpu::index).containsExactly(0, 1, 2, 3);
        assertThat(scan.gpus().get(1))
                .isEqualTo(new Gpu(
                        new Gpu.Identifiers(
                                FakeNvml.uuid(1),
                                new Known<>("1654922000001"),
                                1,
                                1,
                                "00000000:0F:00.0",
                                new Known<>("96.00.74.00.01")),
                        new Gpu.Product("NVIDIA H100 80GB HBM3", "H100", "hopper", "9.0", new Known<>("compute")),
                        new Known<>(81_559L << 20),
                        new Gpu.Topology(
                                new Known<>(1),
                                List.of(new Gpu.NvLinkPeer("", 18, true)),
                                new Known<>("01234567-89ab-cdef-0123-456789abcdef.7"),
                                new Known<>(List.of("0000:00", "0000:00:01.1", "0000:0c:00.0", "0000:0d:01.0"))),
                        new Gpu.Mig(new Known<>(false), List.of()),
                        new Known<>(new VgpuHost("525.60", "r525_00"))));
    }

    @Test
    void unsupportedReadingsAreUnavailableWithTheirReason() {
        // Given
        nvml.gpu(0, "serial", "").gpu(0, "vbios", "").gpu(0, "migMode", FakeNvml.UNSUPPORTED);
        nvml.gpu(0, "minorNumber", FakeNvml.UNSUPPORTED).fail("nvmlDeviceGetMemoryInfo_v2", 0, 3);
        nvml.fail("nvmlDeviceGetMemoryInfo", 0, 3);

        // When
        Gpu gpu = scan().gpus().getFirst();

        // Then
        assertThat(gpu.identifiers().serial()).isEqualTo(new Unavailable<>("NOT_SUPPORTED"));
        assertThat(gpu.identifiers().vbiosVersion()).isEqualTo(new Unavailable<>("NOT_SUPPORTED"));
        assertThat(gpu.mig().enabled()).isEqualTo(new Unavailable<>("NOT_SUPPORTED"));
        assertThat(gpu.memoryBytes()).isEqualTo(new Unavailable<>("NOT_SUPPORTED"));
        assertThat(gpu.topology().fabricClique()).isEqualTo(new Unavailable<>("NOT_SUPPORTED"));
        assertThat(gpu.topology().numaNode()).isInstanceOf(Unavailable.class);
        assertThat(gpu.identifiers().minor()).isZero();
    }

    @Test
    void linksAreCountedByPeer() {
        // Given
        for (int link = 0; link < 18; link++) {
            nvml.link(0, link, link < 2 ? "1" : link < 3 ? "2" : "down");
        }

        // When
        Gpu gpu = scan().gpus().getFirst();

        // Then
        assertThat(gpu.topology().links())
                .containsExactly(
                        new Gpu.NvLinkPeer(FakeNvml.busId(1), 2, false),
                        new Gpu.NvLinkPeer(FakeNvml.busId(2), 1, false));
    }

    @Test
    void fabricThatComesUpLaterIsAddedAndAFailedLinkRemovesNothing() {
        // Given
        for (int link = 0; link < 18; link++) {
            nvml.link(0, link, "down");
        }
        nvml.gpu(0, "fabricState", 2);
        assertThat(scan().gpus().getFirst().topology().links()).isEmpty();

        // When
        for (int link = 0; link < 18; link++) {
            nvml.link(0, link, "switch");
        }
        nvml.fabric(0, UUID.fromString("01234567-89ab-cdef-0123-456789abcdef"), 7);
        Gpu up = scan().gpus().getFirst();

        // Then
        assertThat(up.topology().links()).containsExactly(new Gpu.NvLinkPeer("", 18, true));
        assertThat(up.topology().fabricClique()).isEqualTo(new Known<>("01234567-89ab-cdef-0123-456789abcdef.7"));

        // When
        nvml.link(0, 3, "down");

        // Then
        assertThat(scan().gpus().getFirst()).isEqualTo(up);
    }

    @Test
    void oneLostGpuDoesNotHideTheOthers() {
        // Given
        nvml.lost(2, true);

        // When
        DeviceScan.ScanSucceeded scan = scan();

        // Then
        assertThat(scan.gpus()).extracting(Gpu::index).containsExactly(0, 1, 3);
        assertThat(scan.lost()).containsExactly(new DeviceScan.LostGpu(2, "", "GPU_IS_LOST"));
    }

    @Test
    void gpuThatIsLostLaterKeepsItsPlace() {
        // Given
        assertThat(scan().gpus()).hasSize(4);

        // When
        nvml.lost(2, true);

        // Then
        assertThat(scan().lost()).containsExactly(new DeviceScan.LostGpu(2, FakeNvml.busId(2), "GPU_IS_LOST"));
    }

    @Test
    void nodeWithoutGpusIsSeenAsSuch() {
        // Given
        nvml.gpus(0);

        // Then
        assertThat(scan().gpus()).isEmpty();
        assertThat(source.sample()).isEmpty();
    }

    @Test
    void nextScanSeesNewGpusAndAChangedMigMode() {
        // Given
        assertThat(scan().gpus()).hasSize(4);

        // When
        nvml.gpus(5).systemEvent(BIND).gpu(0, "migMode", 1);
        assertThat(source.sample()).hasSize(4);

        // Then
        assertThat(scan().gpus()).hasSize(5);
        assertThat(scan().gpus().getFirst().mig().enabled()).isEqualTo(new Known<>(true));
        assertThat(nvml.counter("generations")).isEqualTo(2);
    }

    @Test
    void gpuThatWasRemovedIsNoLongerThereAndTheOthersMoveUp() {
        // Given
        assertThat(scan().gpus()).hasSize(4);

        // When
        for (int i = 1; i < 3; i++) {
            nvml.gpu(i, "uuid", FakeNvml.uuid(i + 1)).gpu(i, "busId", FakeNvml.busId(i + 1));
        }
        nvml.gpus(3).systemEvent(UNBIND);
        assertThat(source.sample()).hasSize(4);

        // Then
        DeviceScan.ScanSucceeded after = scan();
        assertThat(after.gpus())
                .extracting(Gpu::uuid)
                .containsExactly(FakeNvml.uuid(0), FakeNvml.uuid(2), FakeNvml.uuid(3));
        assertThat(after.gpus()).extracting(Gpu::index).containsExactly(0, 1, 2);
        assertThat(after.lost()).isEmpty();
    }

    @Test
    void gpusOnThePciBusAreReportedBesideThoseOfTheDriver() throws IOException {
        // Given a GPU that the driver does not have, a network card, and an NVSwitch
        assertThat(scan().pciDevices()).isInstanceOf(Unavailable.class);
        onTheBus("0000:07:00.0", "0x10de", "0x030200");
        onTheBus("0008:01:00.0", "0x10de", "0x030000");
        onTheBus("0000:05:00.0", "0x15b3", "0x020700");
        onTheBus("0000:06:00.0", "0x10de", "0x068000");

        // Then
        assertThat(scan().pciDevices()).isEqualTo(new Known<>(List.of("0000:07:00.0", "0008:01:00.0")));
    }

    private void onTheBus(String address, String vendor, String type) throws IOException {
        Path device = Files.createDirectories(root.resolve("sys/bus/pci/devices/" + address));
        Files.writeString(device.resolve("vendor"), vendor + "\n");
        Files.writeString(device.resolve("class"), type + "\n");
    }

    @Test
    void memoryThatCouldNotBeReadAtFirstIsReadLater() {
        // Given
        nvml.fail("nvmlDeviceGetMemoryInfo_v2", 0, 999).fail("nvmlDeviceGetMemoryInfo", 0, 999);
        assertThat(scan().gpus().getFirst().memoryBytes()).isEqualTo(new Unavailable<>("UNKNOWN"));

        // When
        nvml.clearRules();

        // Then
        assertThat(scan().gpus().getFirst().memoryBytes()).isEqualTo(new Known<>(81_559L << 20));
    }

    @Test
    void sampleIsReadValueByValue() {
        // Given
        nvml.gpu(1, "power", FakeNvml.UNSUPPORTED);
        assertThat(scan().gpus()).hasSize(4);
        nvml.lost(3, true);

        // When
        List<GpuSample> samples = source.sample();

        // Then
        GpuSample first = samples.getFirst();
        assertThat(first.answers()).isEqualTo(new Known<>(true));
        assertThat(first.device().utilization().gpu()).isEqualTo(new Known<>(10));
        assertThat(first.device().utilization().memory()).isEqualTo(new Known<>(5));
        assertThat(first.device().memoryUsedBytes()).isEqualTo(new Known<>(1L << 30));
        assertThat(first.device().power().milliwatts()).isEqualTo(new Known<>(120_000));
        assertThat(first.device().temperatureCelsius()).isEqualTo(new Known<>(40));
        assertThat(first.device().clocks().smMhz()).isEqualTo(new Known<>(1980));
        assertThat(first.device().clocks().memoryMhz()).isEqualTo(new Known<>(2619));
        assertThat(first.device().power().energyMillijoules()).isEqualTo(new Known<>(1_000_000L));
        assertThat(first.device().pcieReplays()).isEqualTo(new Known<>(0L));
        assertThat(first.device().clocks().eventReasons()).isEqualTo(new Known<>(1L));
        assertThat(samples.get(1).device().power().milliwatts()).isEqualTo(new Unavailable<>("NOT_SUPPORTED"));
        assertThat(samples.get(3).answers()).isEqualTo(new Known<>(false));
        assertThat(samples.get(3).device().power().energyMillijoules()).isEqualTo(new Unavailable<>("GPU_IS_LOST"));
    }

    @Test
    void driverThatKnowsOnlyTheOldNamesIsReadTheSameWay(@TempDir Path oldRoot) {
        try (FakeNvml old = FakeNvml.installOld(oldRoot, 2);
                NvmlSource source =
                        new NvmlSource(NvmlSettings.of("", oldRoot), new SysfsPciDevices(Path.of("/sys")))) {
            // When
            DeviceScan.ScanSucceeded scan = (DeviceScan.ScanSucceeded) source.scan();

            // Then
            assertThat(old.counter("initCalls")).isEqualTo(1);
            Gpu gpu = scan.gpus().get(1);
            assertThat(scan.driverVersion()).isEqualTo("450.80.02");
            assertThat(gpu.pciBusId()).isEqualTo(FakeNvml.busId(1));
            assertThat(gpu.memoryBytes()).isEqualTo(new Known<>(81_559L << 20));
            assertThat(gpu.topology().fabricClique()).isEqualTo(new Unavailable<>("FUNCTION_NOT_FOUND"));
            assertThat(source.sample())
                    .extracting(sample -> sample.device().clocks().eventReasons())
                    .containsOnly(new Known<>(1L));
        }
    }

    @Test
    void libraryNamedByItsPathIsLoaded(@TempDir Path elsewhere) {
        // Given
        Reading<String> serial = new Known<>("1654922000000");

        // When
        try (NvmlSource named = new NvmlSource(
                NvmlSettings.of(nvml.library().toString(), elsewhere), new SysfsPciDevices(Path.of("/sys")))) {
            // Then
            assertThat(((DeviceScan.ScanSucceeded) named.scan())
                            .gpus()
                            .getFirst()
                            .identifiers()
                            .serial())
                    .isEqualTo(serial);
        }
    }
}
