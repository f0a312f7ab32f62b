package io.gpufleet.nodedaemon.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.Conditions;
import io.gpufleet.nodedaemon.model.Conditions.Fabric;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Meter;
import io.gpufleet.nodedaemon.model.Meters;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.Vitals;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a GPU says of itself, number by number, through a real library. */
class NvmlVitalsIT {
    private static final int UNKNOWN = 999;
    private static final int H100_LINKS = 18;
    private static final Unavailable<Object> NOT_SUPPORTED = new Unavailable<>("NOT_SUPPORTED");

    @TempDir
    private Path root;

    private StandInNvml nvml;
    private NvmlSource source;

    @BeforeEach
    void install() {
        nvml = StandInNvml.install(root, 2);
        open(Duration.ofHours(1));
    }

    /** {@code old} is the age at which a costly reading is taken again. */
    private void open(Duration old) {
        source = new NvmlSource(
                new NvmlSettings("", root, root, root, Duration.ofSeconds(10), Duration.ofHours(1), old));
        assertThat(source.look()).isInstanceOf(Look.Seen.class);
    }

    @AfterEach
    void close() {
        source.close();
        nvml.close();
    }

    private Vitals vitals(int gpu) {
        return source.vitals().get(gpu);
    }

    private Conditions conditions() {
        return vitals(0).conditions();
    }

    private Reading<Double> meter(Meter meter) {
        return vitals(0).meters().of(meter);
    }

    @Test
    void aGpuInGoodOrderSaysSo() {
        // Given
        nvml.field(0, 4, 0).field(0, 145, 0).field(0, 38, 0).field(0, 161, 0);

        // Then
        assertThat(conditions())
                .isEqualTo(new Conditions(
                        new Known<>(0L),
                        new Known<>(false),
                        new Known<>(false),
                        new Unavailable<>("NOT_SUPPORTED"),
                        new Known<>(5),
                        new Known<>(5),
                        new Known<>(16),
                        new Known<>(16),
                        new Known<>(0),
                        new Known<>(0L),
                        new Known<>(true),
                        new Unavailable<>("NOT_SUPPORTED"),
                        new Known<>(true)));
    }

    @Test
    void whatIsWrongIsToldNumberByNumber() {
        // Given
        nvml.field(0, 4, 3).gpu(0, "remapPending", 1).field(0, 145, 1).field(0, 31, 1);
        nvml.gpu(0, "pcieGeneration", 1).gpu(0, "pcieWidth", 8).gpu(0, "infoRom", 1);
        nvml.field(0, 38, 1).field(0, 45, 2).field(0, 52, 4).field(0, 59, 8);
        nvml.fail("nvmlDeviceGetPowerUsage", 0, UNKNOWN);

        // When
        Conditions conditions = conditions();

        // Then
        assertThat(conditions.uncorrectableErrors()).isEqualTo(new Known<>(3L));
        assertThat(conditions.remapPending()).isEqualTo(new Known<>(true));
        assertThat(conditions.remapFailed()).isEqualTo(new Known<>(true));
        assertThat(conditions.retirementPending()).isEqualTo(new Known<>(true));
        assertThat(conditions.pcieGeneration()).isEqualTo(new Known<>(1));
        assertThat(conditions.pcieWidth()).isEqualTo(new Known<>(8));
        assertThat(conditions.infoRomValid()).isEqualTo(new Known<>(false));
        assertThat(conditions.linkErrors()).isEqualTo(new Known<>(15L));
        assertThat(conditions.powerReadable()).isEqualTo(new Known<>(false));
    }

    @Test
    void whatABoardDoesNotHaveIsUnavailable() {
        // Given
        nvml.gpu(0, "power", StandInNvml.UNSUPPORTED).gpu(0, "infoRom", StandInNvml.UNSUPPORTED);
        nvml.gpu(0, "pcieGeneration", StandInNvml.UNSUPPORTED).fail("nvmlDeviceGetNvLinkState", 0, 3);

        // When
        Conditions conditions = conditions();

        // Then
        assertThat(conditions.powerReadable()).isEqualTo(NOT_SUPPORTED);
        assertThat(conditions.infoRomValid()).isEqualTo(NOT_SUPPORTED);
        assertThat(conditions.pcieGeneration()).isEqualTo(NOT_SUPPORTED);
        assertThat(conditions.linksDown()).isEqualTo(new Unavailable<>("no NVLink"));
        assertThat(conditions.linkErrors()).isEqualTo(new Unavailable<>("no NVLink"));
        assertThat(meter(Meter.NVLINK_BYTES_TOTAL)).isEqualTo(new Unavailable<>("no NVLink"));
        assertThat(meter(Meter.MEMORY_TEMPERATURE_CELSIUS)).isEqualTo(NOT_SUPPORTED);
    }

    @Test
    void aGpuOfWhichOnlyTheMemoryCanNotBeReadSaysEverythingElse() {
        // Given
        nvml.fail("nvmlDeviceGetMemoryInfo_v2", 1, UNKNOWN).fail("nvmlDeviceGetMemoryInfo", 1, UNKNOWN);

        // Then
        assertThat(vitals(1).answers()).isEqualTo(new Known<>(true));
        assertThat(vitals(1).temperatureCelsius()).isEqualTo(new Known<>(41));
        assertThat(vitals(1).memoryUsedBytes()).isEqualTo(new Unavailable<>("UNKNOWN"));
        assertThat(vitals(0).memoryUsedBytes()).isEqualTo(new Known<>(1L << 30));
        assertThat(((Look.Seen) source.look()).gpus()).hasSize(2);

        // When
        nvml.clearRules();

        // Then
        assertThat(vitals(1).memoryUsedBytes()).isEqualTo(new Known<>(1L << 30));
    }

    @Test
    void aGpuThatDoesNotAnswerHasNoConditions() {
        // When
        nvml.lost(0, true);

        // Then
        assertThat(conditions()).isEqualTo(Conditions.unavailable("GPU_IS_LOST"));
        assertThat(vitals(0).meters()).isEqualTo(Meters.NONE);
    }

    @Test
    void aLinkThatWasUpAndIsNotIsDown() {
        // Given
        assertThat(conditions().linksDown()).isEqualTo(new Known<>(0));

        // When
        nvml.link(0, 3, "down").link(0, 4, "down");

        // Then
        assertThat(conditions().linksDown()).isEqualTo(new Known<>(2));
    }

    @Test
    void onSwitchesAGpuWithFewerLinksThanItsLikeLacksThem() {
        // Given
        nvml.link(1, 17, "down");
        source.close();
        open(Duration.ofHours(1));

        // Then
        assertThat(vitals(1).conditions().linksDown()).isEqualTo(new Known<>(1));
        assertThat(vitals(0).conditions().linksDown()).isEqualTo(new Known<>(0));
    }

    @Test
    void linksWithoutABridgeAreNotDown() {
        // Given
        for (int gpu = 0; gpu < 2; gpu++) {
            for (int link = 0; link < H100_LINKS; link++) {
                nvml.link(gpu, link, "down");
            }
        }
        source.close();
        open(Duration.ofHours(1));

        // Then
        assertThat(conditions().linksDown()).isEqualTo(new Known<>(0));
    }

    @Test
    void errorsOfLinksAreCountedByWhicheverCountersTheGenerationHas() {
        // When
        nvml.field(0, 38, 0).field(0, 161, 2).field(0, 163, 1);
        assertThat(conditions().linkErrors()).isEqualTo(new Known<>(3L * H100_LINKS));
        nvml.field(0, 38, -1).field(0, 161, -1).field(0, 163, -1).field(0, 208, 5);

        // Then
        assertThat(conditions().linkErrors()).isEqualTo(new Known<>(5L * H100_LINKS));
    }

    @ParameterizedTest
    @CsvSource({"1, 0, NOT_STARTED", "2, 0, IN_PROGRESS", "3, 0, UP", "3, 999, FAILED"})
    void theFabricSaysHowFarItIs(int state, int status, Fabric fabric) {
        // When
        nvml.gpu(0, "fabricState", state).gpu(0, "fabricStatus", status);

        // Then
        assertThat(conditions().fabric()).isEqualTo(new Known<>(fabric));
    }

    @Test
    void metersAreReadWithTheirUnits() {
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
        Meters meters = vitals(0).meters();

        // Then
        assertThat(meters.of(Meter.MEMORY_TEMPERATURE_CELSIUS)).isEqualTo(new Known<>(55.0));
        assertThat(meters.of(Meter.MEMORY_TOTAL_BYTES)).isEqualTo(new Known<>((double) (81_559L << 20)));
        assertThat(meters.of(Meter.MEMORY_USED_BYTES)).isEqualTo(new Known<>((double) (1L << 30)));
        assertThat(meters.of(Meter.MEMORY_RESERVED_BYTES)).isEqualTo(new Known<>((double) ((81_559L << 20) / 100)));
        assertThat(meters.of(Meter.MEMORY_FREE_BYTES))
                .isEqualTo(new Known<>((double) ((81_559L << 20) - (81_559L << 20) / 100 - (1L << 30))));
        assertThat(meters.of(Meter.ENCODER_UTILIZATION_PERCENT)).isEqualTo(new Known<>(12.0));
        assertThat(meters.of(Meter.DECODER_UTILIZATION_PERCENT)).isEqualTo(new Known<>(34.0));
        assertThat(meters.of(Meter.NVLINK_BYTES_TOTAL)).isEqualTo(new Known<>(1024.0 * 1024));
        assertThat(meters.of(Meter.ROWS_REMAPPED_CORRECTABLE)).isEqualTo(new Known<>(1.0));
        assertThat(meters.of(Meter.ROWS_REMAPPED_UNCORRECTABLE)).isEqualTo(new Known<>(2.0));
        assertThat(meters.of(Meter.ROW_REMAP_FAILURE)).isEqualTo(new Known<>(1.0));
        assertThat(meters.of(Meter.VGPU_LICENSE_STATUS)).isEqualTo(new Known<>(0.0));
        assertThat(meters.of(Meter.ECC_SINGLE_VOLATILE)).isEqualTo(new Known<>(3.0));
        assertThat(meters.of(Meter.ECC_DOUBLE_VOLATILE)).isEqualTo(new Known<>(4.0));
        assertThat(meters.of(Meter.ECC_SINGLE_AGGREGATE)).isEqualTo(new Known<>((double) (5L << 40)));
        assertThat(meters.of(Meter.ECC_DOUBLE_AGGREGATE)).isEqualTo(new Known<>(6.0));
        assertThat(meters.of(Meter.PAGES_RETIRED_SINGLE)).isEqualTo(new Known<>(7.0));
        assertThat(meters.of(Meter.PAGES_RETIRED_DOUBLE)).isEqualTo(new Known<>(8.0));
        assertThat(meters.of(Meter.POWER_VIOLATION_NANOS)).isEqualTo(new Known<>(123_456_789_012.0));
        assertThat(meters.of(Meter.THERMAL_VIOLATION_NANOS)).isEqualTo(NOT_SUPPORTED);
        assertThat(meters.of(Meter.ENGINE_ACTIVE_RATIO)).isEqualTo(new Unavailable<>("not asked for"));
    }

    @Test
    void aFifthGenerationLinkCountsItsBytesByItself() {
        // When
        nvml.field(0, 202, 100).field(0, 204, 10);

        // Then
        assertThat(meter(Meter.NVLINK_BYTES_TOTAL)).isEqualTo(new Known<>(110.0 * H100_LINKS));
    }

    @Test
    void aGuestOfAVirtualGpuHasALicenceThatIsNotRead() {
        // When
        nvml.gpu(0, "virtualization", 2);

        // Then
        assertThat(meter(Meter.VGPU_LICENSE_STATUS)).isInstanceOf(Unavailable.class);
    }

    @Test
    void throughputIsMeasuredWhereThereAreNoSamples() {
        assertThat(meter(Meter.PCIE_SENT_BYTES_PER_SECOND)).isEqualTo(new Known<>(4_000_000.0));
        assertThat(meter(Meter.PCIE_RECEIVED_BYTES_PER_SECOND)).isEqualTo(new Known<>(2_000_000.0));
        assertThat(nvml.counter("samples")).isZero();
    }

    @Test
    void performanceIsWhatHappenedBetweenTwoPolls() {
        // Given
        source.close();
        nvml.metric(0, 1, 75).metric(0, 3, 12.5).metric(0, 20, 100);
        open(Duration.ZERO);

        // When
        assertThat(meter(Meter.ENGINE_ACTIVE_RATIO))
                .isEqualTo(new Unavailable<>("the first sample has none before it"));
        Meters second = vitals(0).meters();
        Meters third = vitals(0).meters();

        // Then
        assertThat(second.of(Meter.ENGINE_ACTIVE_RATIO)).isEqualTo(new Known<>(0.75));
        assertThat(second.of(Meter.SM_OCCUPANCY_RATIO)).isEqualTo(new Known<>(0.125));
        assertThat(second.of(Meter.PCIE_SENT_BYTES_PER_SECOND)).isEqualTo(new Known<>(100.0 * (1 << 20)));
        assertThat(second.of(Meter.DRAM_ACTIVE_RATIO)).isEqualTo(NOT_SUPPORTED);
        assertThat(third.of(Meter.ENGINE_ACTIVE_RATIO)).isEqualTo(new Known<>(0.75));
        assertThat(nvml.counter("samples")).isEqualTo(2);
    }

    @Test
    void aMigInstanceHasItsOwnMemoryAndPerformanceWhileItLives() {
        // Given
        source.close();
        nvml.gpu(0, "migMode", 1)
                .mig(0, 0, "1g.10gb", 7)
                .mig(0, 1, "1g.10gb", 8)
                .metric(0, 2, 80);
        open(Duration.ZERO);
        assertThat(vitals(0).slices()).hasSize(2);

        // When
        Meters slice = vitals(0).slices().getFirst().meters();

        // Then
        assertThat(vitals(0).slices().getFirst().migUuid()).isEqualTo(StandInNvml.migUuid(0, 7));
        assertThat(slice.of(Meter.MEMORY_TOTAL_BYTES)).isEqualTo(new Known<>((double) (10L << 30)));
        assertThat(slice.of(Meter.MEMORY_USED_BYTES)).isEqualTo(new Known<>((double) (64L << 20)));
        assertThat(slice.of(Meter.SM_ACTIVE_RATIO)).isEqualTo(new Known<>(0.4));
        assertThat(nvml.counter("samples")).isEqualTo(6);

        // When
        nvml.noMig(0, 1);
        assertThat(vitals(0).slices().get(1).meters().of(Meter.MEMORY_USED_BYTES))
                .isEqualTo(new Unavailable<>("NOT_FOUND"));
        assertThat(source.look()).isInstanceOf(Look.Seen.class);

        // Then
        assertThat(vitals(0).slices()).hasSize(1);
        assertThat(nvml.counter("samples")).isEqualTo(4);
    }

    @Test
    void whatCostsMuchIsNotReadAgainBeforeItIsOld() {
        // When
        for (int i = 0; i < 3; i++) {
            assertThat(source.vitals()).hasSize(2);
        }

        // Then
        assertThat(nvml.counter("validations")).isEqualTo(2);
    }

    @Test
    void anOldDriverSaysOfEachNumberThatItDoesNotKnowIt(@TempDir Path oldRoot) {
        try (StandInNvml _ = StandInNvml.installOld(oldRoot, 1);
                NvmlSource old = new NvmlSource(NvmlSettings.of("", oldRoot))) {
            // When
            assertThat(old.look()).isInstanceOf(Look.Seen.class);
            Vitals vitals = old.vitals().getFirst();

            // Then
            assertThat(vitals.conditions().fabric()).isEqualTo(new Unavailable<>("FUNCTION_NOT_FOUND"));
            assertThat(vitals.meters().of(Meter.MEMORY_RESERVED_BYTES))
                    .isEqualTo(new Unavailable<>("FUNCTION_NOT_FOUND"));
            assertThat(vitals.meters().of(Meter.MEMORY_FREE_BYTES)).isInstanceOf(Known.class);
        }
    }
}
