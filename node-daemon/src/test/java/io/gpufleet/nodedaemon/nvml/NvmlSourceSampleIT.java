package io.gpufleet.nodedaemon.nvml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.GpuMetric;
import io.gpufleet.nodedaemon.model.device.GpuMetricReadings;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.HealthReadings;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.gpufleet.nodedaemon.sysfs.SysfsPciDevices;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Samples of GPUs, value by value, read through the fake library. */
class NvmlSourceSampleIT {
    private static final int UNKNOWN = 999;
    private static final int H100_LINKS = 18;
    private static final Unavailable<Object> NOT_SUPPORTED = new Unavailable<>("NOT_SUPPORTED");

    @TempDir
    private Path root;

    private FakeNvml nvml;
    private NvmlSource source;

    @BeforeEach
    void install() {
        nvml = FakeNvml.install(root, 2);
        open(Duration.ofHours(1));
    }

    /** Opens a source; {@code old} is the age at which slow readings are read again. */
    private void open(Duration old) {
        source = new NvmlSource(
                new NvmlSettings("", root, root, Duration.ofSeconds(10), old), new SysfsPciDevices(root));
        assertThat(source.scan()).isInstanceOf(DeviceScan.ScanSucceeded.class);
    }

    @AfterEach
    void close() {
        source.close();
        nvml.close();
    }

    private GpuSample sample(int gpu) {
        return source.sample().get(gpu);
    }

    private HealthReadings health() {
        return sample(0).health();
    }

    private Reading<Double> metric(GpuMetric meter) {
        return sample(0).metrics().of(meter);
    }

    @Test
    void healthyGpuReportsNoFault() {
        // Given
        nvml.field(0, 4, 0).field(0, 145, 0).field(0, 38, 0).field(0, 161, 0);

        // Then
        assertThat(health())
                .isEqualTo(new HealthReadings(
                        new Known<>(0L),
                        new HealthReadings.RowRemapping(new Known<>(false), new Known<>(false)),
                        new Unavailable<>("NOT_SUPPORTED"),
                        new HealthReadings.PcieLink(new Known<>(5), new Known<>(5), new Known<>(16), new Known<>(16)),
                        new HealthReadings.Nvlink(new Known<>(0), new Known<>(0L), new Known<>(0L)),
                        new Known<>(true),
                        new Unavailable<>("NOT_SUPPORTED"),
                        new Known<>(true)));
    }

    @Test
    void faultyReadingsAreReportedNumberByNumber() {
        // Given
        nvml.field(0, 4, 3).gpu(0, "remapPending", 1).field(0, 145, 1).field(0, 31, 1);
        nvml.gpu(0, "pcieGeneration", 1).gpu(0, "pcieWidth", 8).gpu(0, "infoRom", 1);
        nvml.field(0, 38, 1).field(0, 45, 2).field(0, 52, 4).field(0, 59, 8);
        nvml.fail("nvmlDeviceGetPowerUsage", 0, UNKNOWN);

        // When
        HealthReadings conditions = health();

        // Then
        assertThat(conditions.uncorrectableErrors()).isEqualTo(new Known<>(3L));
        assertThat(conditions.rowRemapping().pending()).isEqualTo(new Known<>(true));
        assertThat(conditions.rowRemapping().failed()).isEqualTo(new Known<>(true));
        assertThat(conditions.retirementPending()).isEqualTo(new Known<>(true));
        assertThat(conditions.pcie().generation()).isEqualTo(new Known<>(1));
        assertThat(conditions.pcie().width()).isEqualTo(new Known<>(8));
        assertThat(conditions.infoRomValid()).isEqualTo(new Known<>(false));
        assertThat(conditions.nvlink().errors()).isEqualTo(new Known<>(12L));
        assertThat(conditions.nvlink().crcErrors()).isEqualTo(new Known<>(3L));
        assertThat(conditions.powerReadable()).isEqualTo(new Known<>(false));
    }

    @Test
    void unsupportedReadingsAreUnavailable() {
        // Given
        nvml.gpu(0, "power", FakeNvml.UNSUPPORTED).gpu(0, "infoRom", FakeNvml.UNSUPPORTED);
        nvml.gpu(0, "pcieGeneration", FakeNvml.UNSUPPORTED).fail("nvmlDeviceGetNvLinkState", 0, 3);

        // When
        HealthReadings conditions = health();

        // Then
        assertThat(conditions.powerReadable()).isEqualTo(NOT_SUPPORTED);
        assertThat(conditions.infoRomValid()).isEqualTo(NOT_SUPPORTED);
        assertThat(conditions.pcie().generation()).isEqualTo(NOT_SUPPORTED);
        assertThat(conditions.nvlink().linksDown()).isEqualTo(new Unavailable<>("no NVLink"));
        assertThat(conditions.nvlink().errors()).isEqualTo(new Unavailable<>("no NVLink"));
        assertThat(metric(GpuMetric.NVLINK_BYTES_TOTAL)).isEqualTo(new Unavailable<>("no NVLink"));
        assertThat(metric(GpuMetric.MEMORY_TEMPERATURE_CELSIUS)).isEqualTo(NOT_SUPPORTED);
    }

    @Test
    void gpuOfWhichOnlyTheMemoryCanNotBeReadSaysEverythingElse() {
        // Given
        nvml.fail("nvmlDeviceGetMemoryInfo_v2", 1, UNKNOWN).fail("nvmlDeviceGetMemoryInfo", 1, UNKNOWN);

        // Then
        assertThat(sample(1).answers()).isEqualTo(new Known<>(true));
        assertThat(sample(1).device().temperatureCelsius()).isEqualTo(new Known<>(41));
        assertThat(sample(1).device().memoryUsedBytes()).isEqualTo(new Unavailable<>("UNKNOWN"));
        assertThat(sample(0).device().memoryUsedBytes()).isEqualTo(new Known<>(1L << 30));
        assertThat(((DeviceScan.ScanSucceeded) source.scan()).gpus()).hasSize(2);

        // When
        nvml.clearRules();

        // Then
        assertThat(sample(1).device().memoryUsedBytes()).isEqualTo(new Known<>(1L << 30));
    }

    @Test
    void gpuThatDoesNotRespondHasNoHealthReadings() {
        // When
        nvml.lost(0, true);

        // Then
        assertThat(health()).isEqualTo(HealthReadings.unavailable("GPU_IS_LOST"));
        assertThat(sample(0).metrics()).isEqualTo(GpuMetricReadings.NONE);
    }

    @Test
    void metricsAreReadWithTheirUnits() {
        // Given
        nvml.field(0, 82, 55).gpu(0, "encoderUtil", 12).gpu(0, "decoderUtil", 34);
        nvml.field(0, 138, 1000)
                .field(0, 139, 24)
                .field(0, 142, 1)
                .field(0, 143, 2)
                .field(0, 145, 1);
        nvml.field(0, 3, 3)
                .field(0, 4, 4)
                .field(0, 5, 5L << 40)
                .field(0, 6, 6)
                .field(0, 29, 7)
                .field(0, 30, 8);
        nvml.gpu(0, "powerViolation", 123_456_789_012L).gpu(0, "thermalViolation", -1);

        // When
        GpuMetricReadings metrics = sample(0).metrics();

        // Then
        assertThat(metrics.of(GpuMetric.MEMORY_TEMPERATURE_CELSIUS)).isEqualTo(new Known<>(55.0));
        assertThat(metrics.of(GpuMetric.MEMORY_TOTAL_BYTES)).isEqualTo(new Known<>((double) (81_559L << 20)));
        assertThat(metrics.readings()).doesNotContainKey(GpuMetric.MEMORY_USED_BYTES);
        assertThat(sample(0).device().memoryUsedBytes()).isEqualTo(new Known<>(1L << 30));
        assertThat(metrics.of(GpuMetric.MEMORY_RESERVED_BYTES))
                .isEqualTo(new Known<>((double) ((81_559L << 20) / 100)));
        assertThat(metrics.of(GpuMetric.MEMORY_FREE_BYTES))
                .isEqualTo(new Known<>((double) ((81_559L << 20) - (81_559L << 20) / 100 - (1L << 30))));
        assertThat(metrics.of(GpuMetric.ENCODER_UTILIZATION_PERCENT)).isEqualTo(new Known<>(12.0));
        assertThat(metrics.of(GpuMetric.DECODER_UTILIZATION_PERCENT)).isEqualTo(new Known<>(34.0));
        assertThat(metrics.of(GpuMetric.NVLINK_BYTES_TOTAL)).isEqualTo(new Known<>(1024.0 * 1024));
        assertThat(metrics.of(GpuMetric.ROWS_REMAPPED_CORRECTABLE)).isEqualTo(new Known<>(1.0));
        assertThat(metrics.of(GpuMetric.ROWS_REMAPPED_UNCORRECTABLE)).isEqualTo(new Known<>(2.0));
        assertThat(metrics.of(GpuMetric.ROW_REMAP_FAILURE)).isEqualTo(new Known<>(1.0));
        assertThat(metrics.of(GpuMetric.VGPU_LICENSE_STATUS)).isEqualTo(new Known<>(0.0));
        assertThat(metrics.of(GpuMetric.ECC_SINGLE_VOLATILE)).isEqualTo(new Known<>(3.0));
        assertThat(metrics.of(GpuMetric.ECC_DOUBLE_VOLATILE)).isEqualTo(new Known<>(4.0));
        assertThat(metrics.of(GpuMetric.ECC_SINGLE_AGGREGATE)).isEqualTo(new Known<>((double) (5L << 40)));
        assertThat(metrics.of(GpuMetric.ECC_DOUBLE_AGGREGATE)).isEqualTo(new Known<>(6.0));
        assertThat(metrics.of(GpuMetric.PAGES_RETIRED_SINGLE)).isEqualTo(new Known<>(7.0));
        assertThat(metrics.of(GpuMetric.PAGES_RETIRED_DOUBLE)).isEqualTo(new Known<>(8.0));
        assertThat(metrics.of(GpuMetric.POWER_VIOLATION_NANOS)).isEqualTo(new Known<>(123_456_789_012.0));
        assertThat(metrics.of(GpuMetric.THERMAL_VIOLATION_NANOS)).isEqualTo(NOT_SUPPORTED);
        assertThat(metrics.of(GpuMetric.ENGINE_ACTIVE_RATIO)).isEqualTo(new Unavailable<>("not read"));
    }

    @Test
    void fifthGenerationLinkCountsItsBytesByItself() {
        // When
        nvml.field(0, 202, 100).field(0, 204, 10);

        // Then
        assertThat(metric(GpuMetric.NVLINK_BYTES_TOTAL)).isEqualTo(new Known<>(110.0 * H100_LINKS));
    }

    @Test
    void guestOfAVirtualGpuHasALicenseThatIsNotRead() {
        // When
        nvml.gpu(0, "virtualization", 2);

        // Then
        assertThat(metric(GpuMetric.VGPU_LICENSE_STATUS)).isInstanceOf(Unavailable.class);
    }

    @Test
    void throughputIsMeasuredWhereThereAreNoSamples() {
        assertThat(metric(GpuMetric.PCIE_SENT_BYTES_PER_SECOND)).isEqualTo(new Known<>(4_000_000.0));
        assertThat(metric(GpuMetric.PCIE_RECEIVED_BYTES_PER_SECOND)).isEqualTo(new Known<>(2_000_000.0));
        assertThat(nvml.counter("samples")).isZero();
    }

    @Test
    void gpmMetricsCoverTheTimeBetweenTwoSamples() {
        // Given
        source.close();
        nvml.metric(0, 1, 75).metric(0, 3, 12.5).metric(0, 20, 100);
        open(Duration.ZERO);

        // When
        assertThat(metric(GpuMetric.ENGINE_ACTIVE_RATIO)).isEqualTo(new Unavailable<>("first GPM sample"));
        GpuMetricReadings second = sample(0).metrics();
        GpuMetricReadings third = sample(0).metrics();

        // Then
        assertThat(second.of(GpuMetric.ENGINE_ACTIVE_RATIO)).isEqualTo(new Known<>(0.75));
        assertThat(second.of(GpuMetric.SM_OCCUPANCY_RATIO)).isEqualTo(new Known<>(0.125));
        assertThat(second.of(GpuMetric.PCIE_SENT_BYTES_PER_SECOND)).isEqualTo(new Known<>(100.0 * (1 << 20)));
        assertThat(second.of(GpuMetric.DRAM_ACTIVE_RATIO)).isEqualTo(NOT_SUPPORTED);
        assertThat(third.of(GpuMetric.ENGINE_ACTIVE_RATIO)).isEqualTo(new Known<>(0.75));
        assertThat(nvml.counter("samples")).isEqualTo(2);
    }

    @Test
    void migInstanceHasItsOwnMemoryAndPerformanceWhileItLives() {
        // Given
        source.close();
        nvml.gpu(0, "migMode", 1)
                .mig(0, 0, "1g.10gb", 7)
                .mig(0, 1, "1g.10gb", 8)
                .metric(0, 2, 80);
        open(Duration.ZERO);
        assertThat(sample(0).migInstances()).hasSize(2);

        // When
        GpuMetricReadings slice = sample(0).migInstances().getFirst().metrics();

        // Then
        assertThat(sample(0).migInstances().getFirst().migUuid()).isEqualTo(FakeNvml.migUuid(0, 7));
        assertThat(slice.of(GpuMetric.MEMORY_TOTAL_BYTES)).isEqualTo(new Known<>((double) (10L << 30)));
        assertThat(slice.of(GpuMetric.MEMORY_USED_BYTES)).isEqualTo(new Known<>((double) (64L << 20)));
        assertThat(slice.of(GpuMetric.SM_ACTIVE_RATIO)).isEqualTo(new Known<>(0.4));
        assertThat(nvml.counter("samples")).isEqualTo(6);

        // When
        nvml.noMig(0, 1);
        assertThat(sample(0).migInstances().get(1).metrics().of(GpuMetric.MEMORY_USED_BYTES))
                .isEqualTo(new Unavailable<>("NOT_FOUND"));
        assertThat(source.scan()).isInstanceOf(DeviceScan.ScanSucceeded.class);

        // Then
        assertThat(sample(0).migInstances()).hasSize(1);
        assertThat(nvml.counter("samples")).isEqualTo(4);
    }

    @Test
    void slowReadingsAreReadAgainWhenTheyAreTooOld() {
        // When
        for (int i = 0; i < 3; i++) {
            assertThat(source.sample()).hasSize(2);
        }

        // Then
        assertThat(nvml.counter("validations")).isEqualTo(2);
    }

    @Test
    void infoRomIsReadLessOftenThanTheOtherSlowReadings(@TempDir Path otherRoot) {
        try (FakeNvml other = FakeNvml.install(otherRoot, 2);
                NvmlSource always = new NvmlSource(
                        new NvmlSettings("", otherRoot, otherRoot, Duration.ofSeconds(30), Duration.ZERO),
                        new SysfsPciDevices(otherRoot))) {
            assertThat(always.scan()).isInstanceOf(DeviceScan.ScanSucceeded.class);
            always.sample();
            other.gpu(0, "pcieSent", 9000);

            // Then only the other readings are those of now
            assertThat(always.sample().getFirst().metrics().of(GpuMetric.PCIE_SENT_BYTES_PER_SECOND))
                    .isEqualTo(new Known<>(9_000_000.0));
            assertThat(other.counter("validations")).isEqualTo(2);
        }
    }

    @Test
    void xid93ValidatesTheInfoRomOfItsGpu() {
        assertThat(source.sample()).hasSize(2);
        nvml.gpu(0, "infoRom", 1).gpu(1, "infoRom", 1).xid(0, 93);
        await().until(() -> !source.await(Duration.ofMillis(100)).isEmpty());

        List<GpuSample> samples = source.sample();

        assertThat(samples.get(0).health().infoRomValid()).isEqualTo(new Known<>(false));
        assertThat(samples.get(1).health().infoRomValid()).isEqualTo(new Known<>(true));
    }

    @Test
    void oldDriverHasNoneOfTheNewReadings(@TempDir Path oldRoot) {
        try (FakeNvml _ = FakeNvml.installOld(oldRoot, 1);
                NvmlSource old = new NvmlSource(NvmlSettings.of("", oldRoot), new SysfsPciDevices(Path.of("/sys")))) {
            // When
            assertThat(old.scan()).isInstanceOf(DeviceScan.ScanSucceeded.class);
            GpuSample sample = old.sample().getFirst();

            // Then
            assertThat(sample.health().fabric()).isEqualTo(new Unavailable<>("FUNCTION_NOT_FOUND"));
            assertThat(sample.metrics().of(GpuMetric.MEMORY_RESERVED_BYTES))
                    .isEqualTo(new Unavailable<>("FUNCTION_NOT_FOUND"));
            assertThat(sample.metrics().of(GpuMetric.MEMORY_FREE_BYTES)).isInstanceOf(Known.class);
        }
    }
}
