package io.gpufleet.nodedaemon.simulated;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.nodedaemon.model.FaultCode;
import io.gpufleet.nodedaemon.model.FaultOrigin;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Meter;
import io.gpufleet.nodedaemon.model.MigInstance;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.model.SliceVitals;
import io.gpufleet.nodedaemon.model.Vitals;
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

/** Faults of simulated GPUs come and go with files. */
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
        gpus = ((Look.Seen) source.look()).gpus();
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
    void aFileIsAFaultAndItsRemovalTheEndOfTheCause() throws IOException {
        // When
        inject(2, "79\n");

        // Then
        Sign.FaultSeen fault = (Sign.FaultSeen) signs(1).getFirst();
        assertThat(fault.gpuUuid()).isEqualTo(gpus.get(2).uuid());
        assertThat(fault.fault()).isEqualTo(new FaultCode.Xid(79));
        assertThat(fault.source()).isEqualTo(FaultOrigin.SIMULATION);
        assertThat(fault.message()).isEqualTo("simulated XID 79: GPU has fallen off the bus");

        // When
        Files.delete(directory.resolve("2.xid"));

        // Then
        assertThat(signs(1)).containsExactly(gone(2, 79));
    }

    @Test
    void aFaultThatStandsAtTheStartIsReportedAtTheStart() throws IOException {
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
    void theSameXidWrittenTwiceIsTwoFaults() throws IOException {
        // Given
        inject(1, "48");
        assertThat(signs(1)).extracting(SimulatedSourceTest::code).containsExactly(48);

        // When
        inject(1, "48");

        // Then
        assertThat(signs(1)).extracting(SimulatedSourceTest::code).containsExactly(48);
    }

    @Test
    void anotherXidInTheSameFileReplacesTheFirst() throws IOException {
        // Given
        inject(1, "48");
        assertThat(signs(1)).hasSize(1);

        // When
        inject(1, "79");

        // Then
        List<Sign> signs = signs(2);
        assertThat(signs.getFirst()).isEqualTo(gone(1, 48));
        assertThat(code(signs.get(1))).isEqualTo(79);
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
        assertThat(signs(1)).extracting(SimulatedSourceTest::code).containsExactly(31);
    }

    @Test
    void aDirectoryThatGoesTakesItsFaultsWithItAndIsMadeAgain() throws IOException {
        // Given
        inject(1, "48");
        assertThat(signs(1)).hasSize(1);

        // When
        Files.delete(directory.resolve("1.xid"));
        Files.delete(directory);

        // Then
        assertThat(signs(1)).containsExactly(gone(1, 48));
        await().until(() -> {
            assertThat(source.await(Duration.ofMillis(50))).isEmpty();
            return Files.isDirectory(directory);
        });
        inject(2, "79");
        assertThat(signs(1)).extracting(SimulatedSourceTest::code).containsExactly(79);
    }

    @Test
    void closingEndsAWaitThatIsUnderWay() throws Exception {
        for (SimulatedSource waiting :
                List.of(source, SimulatedSource.open("n", "simulated:1xT4", Optional.empty(), Clock.systemUTC()))) {
            // Given
            CompletableFuture<List<Sign>> wait = CompletableFuture.supplyAsync(() -> waiting.await(LONG));

            // When
            waiting.close();

            // Then
            assertThat(wait.get(10, TimeUnit.SECONDS)).isEmpty();
        }
    }

    @Test
    void aDirectoryThatCanNotBeWatchedIsRefusedInOneLine() throws IOException {
        // Given
        Path file = Files.writeString(directory.resolve("file"), "");

        // Then
        assertThatThrownBy(() -> SimulatedSource.open("n", "simulated:1xT4", Optional.of(file), Clock.systemUTC()))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageStartingWith("GPUFLEET_SIMULATION_DIR=" + file + " can not be watched");
    }

    @Test
    void partitionedGpuSpeaksThroughItsInstances() {
        try (SimulatedSource split = SimulatedSource.open(
                "node-1",
                "simulated:1xH100:mig=1x3g.40gb+1x1g.10gb",
                Optional.empty(),
                Clock.fixed(NOW, ZoneOffset.UTC))) {
            Gpu gpu = ((Look.Seen) split.look()).gpus().getFirst();
            Vitals vitals = split.vitals().getFirst();

            assertThat(vitals.gpuUtilizationPercent()).isEqualTo(new Reading.Unavailable<>("NOT_SUPPORTED"));
            assertThat(vitals.slices())
                    .extracting(SliceVitals::migUuid)
                    .isEqualTo(gpu.instances().stream().map(MigInstance::uuid).toList());
            assertThat(vitals.slices())
                    .extracting(slice -> slice.meters()
                            .of(Meter.MEMORY_TOTAL_BYTES)
                            .orElse(0.0)
                            .longValue())
                    .isEqualTo(gpu.instances().stream()
                            .map(instance -> instance.attributes().memoryBytes())
                            .toList());
            assertThat(vitals.slices().getFirst().meters().of(Meter.SM_ACTIVE_RATIO))
                    .isInstanceOf(Reading.Known.class);
        }
    }

    @Test
    void vitalsMoveButTheSameSecondSaysTheSame() {
        // When
        List<Vitals> vitals = source.vitals();

        // Then
        assertThat(vitals)
                .extracting(Vitals::gpuUuid)
                .isEqualTo(gpus.stream().map(Gpu::uuid).toList());
        try (SimulatedSource same = open(NOW);
                SimulatedSource later = open(NOW.plusSeconds(60))) {
            assertThat(same.vitals()).isEqualTo(vitals);
            assertThat(later.vitals()).isNotEqualTo(vitals);
            for (int i = 0; i < 4; i++) {
                Vitals now = vitals.get(i);
                assertThat(now.gpuUtilizationPercent().orElse(-1)).isBetween(0, 100);
                assertThat(now.powerMilliwatts().orElse(-1)).isBetween(50_000, 700_000);
                assertThat(now.memoryUsedBytes().orElse(-1L)).isBetween(1L, 85_520_809_984L);
                assertThat(later.vitals().get(i).energyMillijoules().orElse(0L))
                        .isGreaterThan(now.energyMillijoules().orElse(0L));
            }
        }
    }

    private Sign gone(int index, int xid) {
        return new Sign.CauseGone(gpus.get(index).uuid(), new FaultCode.Xid(xid), "fault file removed");
    }

    private List<Sign> signs(int atLeast) {
        List<Sign> signs = new ArrayList<>();
        while (signs.size() < atLeast) {
            List<Sign> more = source.await(LONG);
            assertThat(more).as("signs within %s", LONG).isNotEmpty();
            signs.addAll(more);
        }
        return signs;
    }

    private void inject(int index, String text) throws IOException {
        Path partial = Files.writeString(directory.resolve(".partial-" + index), text);
        Files.move(partial, directory.resolve(index + ".xid"), StandardCopyOption.ATOMIC_MOVE);
    }

    private static int code(Sign sign) {
        return sign instanceof Sign.FaultSeen fault && fault.fault() instanceof FaultCode.Xid(int code) ? code : -1;
    }
}
