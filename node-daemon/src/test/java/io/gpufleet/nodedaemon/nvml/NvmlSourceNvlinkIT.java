package io.gpufleet.nodedaemon.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.HealthReadings;
import io.gpufleet.nodedaemon.model.device.HealthReadings.FabricState;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.sysfs.SysfsPciDevices;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** NVLinks and the fabric of a GPU, read through the fake library. */
class NvmlSourceNvlinkIT {
    private static final int UNKNOWN = 999;
    private static final int H100_LINKS = 18;

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

    @Test
    void linkThatWasUpAndIsNotIsDown() {
        // Given
        assertThat(health().nvlink().linksDown()).isEqualTo(new Known<>(0));

        // When
        nvml.link(0, 3, "down").link(0, 4, "down");

        // Then
        assertThat(health().nvlink().linksDown()).isEqualTo(new Known<>(2));
    }

    @Test
    void linksAreDownOnAGpuWithFewerThanOthersOfItsModelOnSwitches() {
        // Given
        nvml.link(1, 17, "down");
        source.close();
        open(Duration.ofHours(1));

        // Then
        assertThat(sample(1).health().nvlink().linksDown()).isEqualTo(new Known<>(1));
        assertThat(sample(0).health().nvlink().linksDown()).isEqualTo(new Known<>(0));
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
        assertThat(health().nvlink().linksDown()).isEqualTo(new Known<>(0));
    }

    @Test
    void linkErrorsAreReadFromTheCountersOfTheGeneration() {
        // When
        nvml.field(0, 38, 0).field(0, 161, 2).field(0, 163, 1);
        assertThat(health().nvlink().errors()).isEqualTo(new Known<>(2L * H100_LINKS));
        assertThat(health().nvlink().crcErrors()).isEqualTo(new Known<>((long) H100_LINKS));
        nvml.field(0, 38, -1)
                .field(0, 161, -1)
                .field(0, 163, -1)
                .field(0, 208, 5)
                .field(0, 215, 1);

        // Then
        assertThat(health().nvlink().errors()).isEqualTo(new Known<>((long) H100_LINKS));
        assertThat(health().nvlink().crcErrors()).isEqualTo(new Known<>(5L * H100_LINKS));
    }

    @Test
    void linkThatDoesNotAnswerIsSkippedAndDownAndTheLinksAfterItAreRead() {
        // Given
        nvml.field(0, 161, 2);
        assertThat(health().nvlink().errors()).isEqualTo(new Known<>(2L * H100_LINKS));

        // When
        nvml.linkFails(0, 2, 3).linkFails(0, 5, UNKNOWN);

        // Then
        assertThat(health().nvlink().linksDown()).isEqualTo(new Known<>(2));
        assertThat(health().nvlink().errors()).isEqualTo(new Known<>(2L * (H100_LINKS - 2)));
    }

    @Test
    void linksOfOneGpuAreReadByTwoCallsWhereTheDriverHasTheirStatesAsAField() {
        // Given
        nvml.field(0, 165, 1).field(1, 165, 1).linkFails(0, 2, UNKNOWN).link(0, 7, "down");
        source.close();
        open(Duration.ofHours(1));
        int states = nvml.counter("linkStateCalls");
        assertThat(health().nvlink().linksDown()).isEqualTo(new Known<>(2));
        int fields = nvml.counter("fieldCalls");

        // When
        assertThat(source.sample()).hasSize(2);

        // Then each GPU takes one call for itself, one for all links, and one for the counters of each link
        assertThat(nvml.counter("fieldCalls") - fields).isEqualTo(2 * 3);
        assertThat(nvml.counter("linkStateCalls")).isEqualTo(states);
    }

    @Test
    void linksOfAnOlderDriverAreScannedOnceAPoll() {
        // Given
        assertThat(source.sample()).hasSize(2);
        int states = nvml.counter("linkStateCalls");

        // When
        assertThat(source.sample()).hasSize(2);

        // Then
        assertThat(nvml.counter("linkStateCalls") - states).isEqualTo(2 * 36);
    }

    @ParameterizedTest
    @CsvSource({
        "0x1aa, UP",
        "0x000, UP",
        "0x1a9, BANDWIDTH_DEGRADED",
        "0x1a6, RECOVERING",
        "0x16a, RECOVERING",
        "0x19a, ROUTE_UNHEALTHY",
        "0x2aa, MISCONFIGURED",
        "0x5aa, MISCONFIGURED",
        "0x59a, ROUTE_UNHEALTHY"
    })
    void healthOfTheFabricIsTheWorstOfItsMask(String mask, FabricState fabric) {
        nvml.gpu(0, "fabricState", 3).gpu(0, "fabricHealth", Integer.decode(mask));

        assertThat(health().fabric()).isEqualTo(new Known<>(fabric));
    }

    @Test
    void driverThatKnowsTheFirstFabricStructIsAskedWithThat() {
        nvml.gpu(0, "fabricHealth", FakeNvml.UNSUPPORTED).fabric(0, UUID.randomUUID(), 7);
        assertThat(health().fabric()).isEqualTo(new Known<>(FabricState.UP));

        nvml.gpu(0, "fabricStatus", 999);
        assertThat(health().fabric()).isEqualTo(new Known<>(FabricState.FAILED));
    }

    @ParameterizedTest
    @CsvSource({"1, 0, NOT_STARTED", "2, 0, IN_PROGRESS", "3, 0, UP", "3, 999, FAILED"})
    void stateOfTheFabricIsRead(int state, int status, FabricState fabric) {
        // When
        nvml.gpu(0, "fabricState", state).gpu(0, "fabricStatus", status);

        // Then
        assertThat(health().fabric()).isEqualTo(new Known<>(fabric));
    }
}
