package io.gpufleet.nodedaemon.simulated;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.GpuMetric;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.device.MigInstanceSample;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import io.gpufleet.nodedaemon.model.fault.FaultOrigin;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Faults of simulated GPUs follow files. */
class SimulatedSourceTest {
    private static final Instant NOW = Instant.parse("2026-11-20T12:00:00Z");
    private static final Duration LONG = Duration.ofSeconds(20);

    @TempDir
    private Path directory;

    private SimulatedSource source;
    private List<Gpu> gpus;

    @BeforeEach
    void open() {
        source = open(NOW);
        gpus = ((DeviceScan.ScanSucceeded) source.scan()).gpus();
    }

    @AfterEach
    void close() {
        source.close();
    }

    private SimulatedSource open(Instant now) {
        return SimulatedSource.open(
                "node-1", "simulated:4xH100", Optional.of(directory), Clock.fixed(now, ZoneOffset.UTC));
    }

    @Test
    void fileIsAFaultAndItsRemovalResolvesTheCause() throws IOException {
        // When
        inject(2, "79\n");

        // Then
        DeviceEvent.FaultDetected fault = (DeviceEvent.FaultDetected) events(1).getFirst();
        assertThat(fault.gpuUuid()).isEqualTo(gpus.get(2).uuid());
        assertThat(fault.fault()).isEqualTo(new FaultCode.Xid(79));
        assertThat(fault.origin()).isEqualTo(FaultOrigin.SIMULATION);
        assertThat(fault.message()).isEqualTo("simulated XID 79: GPU has fallen off the bus");

        // When
        Files.delete(directory.resolve("2.xid"));

        // Then
        assertThat(events(1)).containsExactly(gone(2, 79));
    }

    @Test
    void faultThatStandsAtTheStartIsReportedAtTheStart() throws IOException {
        // Given
        inject(0, "48");
        inject(3, "95");

        // When
        try (SimulatedSource later = open(NOW)) {
            // Then
            assertThat(later.await(Duration.ZERO))
                    .extracting(SimulatedSourceTest::code)
                    .containsExactly(48, 95);
        }
    }

    @Test
    void sameXidWrittenTwiceIsTwoFaults() throws IOException {
        // Given
        inject(1, "48");
        assertThat(events(1)).extracting(SimulatedSourceTest::code).containsExactly(48);

        // When
        inject(1, "48");

        // Then
        assertThat(events(1)).extracting(SimulatedSourceTest::code).containsExactly(48);
    }

    @Test
    void anotherXidInTheSameFileReplacesTheFirst() throws IOException {
        // Given
        inject(1, "48");
        assertThat(events(1)).hasSize(1);

        // When
        inject(1, "79");

        // Then
        List<DeviceEvent> events = events(2);
        assertThat(events.getFirst()).isEqualTo(gone(1, 48));
        assertThat(code(events.get(1))).isEqualTo(79);
    }

    @Test
    void filesThatAreNoFaultsAreIgnored() throws IOException {
        // Given
        Files.writeString(directory.resolve("README"), "79");
        inject(1, "seventy-nine");
        inject(9, "79");

        // When
        inject(0, "31");

        // Then
        assertThat(events(1)).extracting(SimulatedSourceTest::code).containsExactly(31);
    }

    @Test
    void faultsEndWithTheirDirectoryWhichIsCreatedAgain() throws IOException {
        // Given
        inject(1, "48");
        assertThat(events(1)).hasSize(1);

        // When
        Files.delete(directory.resolve("1.xid"));
        Files.delete(directory);

        // Then
        assertThat(events(1)).containsExactly(gone(1, 48));
        await().until(() -> {
            assertThat(source.await(Duration.ofMillis(50))).isEmpty();
            return Files.isDirectory(directory);
        });
        inject(2, "79");
        assertThat(events(1)).extracting(SimulatedSourceTest::code).containsExactly(79);
    }

    @Test
    void closeEndsARunningWait() throws Exception {
        for (SimulatedSource waiting :
                List.of(source, SimulatedSource.open("n", "simulated:1xT4", Optional.empty(), Clock.systemUTC()))) {
            // Given
            CompletableFuture<List<DeviceEvent>> wait = CompletableFuture.supplyAsync(() -> waiting.await(LONG));

            // When
            waiting.close();

            // Then
            assertThat(wait.get(10, TimeUnit.SECONDS)).isEmpty();
        }
    }

    @Test
    void directoryThatCannotBeWatchedIsRejectedWithOneLine() throws IOException {
        // Given
        Path file = Files.writeString(directory.resolve("file"), "");

        // Then
        assertThatThrownBy(() -> SimulatedSource.open("n", "simulated:1xT4", Optional.of(file), Clock.systemUTC()))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageStartingWith("GPUFLEET_SIMULATION_DIR=" + file + " cannot be watched");
    }

    @Test
    void partitionedGpuReportsThroughItsInstances() {
        try (SimulatedSource split = SimulatedSource.open(
                "node-1",
                "simulated:1xH100:mig=1x3g.40gb+1x1g.10gb",
                Optional.empty(),
                Clock.fixed(NOW, ZoneOffset.UTC))) {
            Gpu gpu = ((DeviceScan.ScanSucceeded) split.scan()).gpus().getFirst();
            GpuSample sample = split.sample().getFirst();

            assertThat(sample.device().utilization().gpu()).isEqualTo(new Reading.Unavailable<>("NOT_SUPPORTED"));
            assertThat(sample.migInstances())
                    .extracting(MigInstanceSample::migUuid)
                    .isEqualTo(gpu.instances().stream().map(MigInstance::uuid).toList());
            assertThat(sample.migInstances())
                    .extracting(slice -> slice.metrics()
                            .of(GpuMetric.MEMORY_TOTAL_BYTES)
                            .orElse(0.0)
                            .longValue())
                    .isEqualTo(gpu.instances().stream()
                            .map(instance -> instance.attributes().memoryBytes())
                            .toList());
            assertThat(sample.migInstances().getFirst().metrics().of(GpuMetric.SM_ACTIVE_RATIO))
                    .isInstanceOf(Reading.Known.class);
        }
    }

    @Test
    void samplesVaryButTheSameSecondGivesTheSameSample() {
        // When
        List<GpuSample> samples = source.sample();

        // Then
        assertThat(samples)
                .extracting(GpuSample::gpuUuid)
                .isEqualTo(gpus.stream().map(Gpu::uuid).toList());
        try (SimulatedSource same = open(NOW);
                SimulatedSource later = open(NOW.plusSeconds(60))) {
            assertThat(same.sample()).isEqualTo(samples);
            assertThat(later.sample()).isNotEqualTo(samples);
            for (int i = 0; i < 4; i++) {
                GpuSample now = samples.get(i);
                assertThat(now.device().utilization().gpu().orElse(-1)).isBetween(0, 100);
                assertThat(now.device().power().milliwatts().orElse(-1)).isBetween(50_000, 700_000);
                assertThat(now.device().memoryUsedBytes().orElse(-1L)).isBetween(1L, 85_520_809_984L);
                assertThat(later.sample()
                                .get(i)
                                .device()
                                .power()
                                .energyMillijoules()
                                .orElse(0L))
                        .isGreaterThan(now.device().power().energyMillijoules().orElse(0L));
            }
        }
    }

    private DeviceEvent gone(int index, int xid) {
        return new DeviceEvent.CauseResolved(gpus.get(index).uuid(), new FaultCode.Xid(xid), "fault file removed");
    }

    private List<DeviceEvent> events(int atLeast) {
        List<DeviceEvent> events = new ArrayList<>();
        while (events.size() < atLeast) {
            List<DeviceEvent> more = source.await(LONG);
            assertThat(more).as("events within %s", LONG).isNotEmpty();
            events.addAll(more);
        }
        return events;
    }

    private void inject(int index, String text) throws IOException {
        Path partial = Files.writeString(directory.resolve(".partial-" + index), text);
        Files.move(partial, directory.resolve(index + ".xid"), StandardCopyOption.ATOMIC_MOVE);
    }

    private static int code(DeviceEvent event) {
        return event instanceof DeviceEvent.FaultDetected fault && fault.fault() instanceof FaultCode.Xid(int code)
                ? code
                : -1;
    }
}
