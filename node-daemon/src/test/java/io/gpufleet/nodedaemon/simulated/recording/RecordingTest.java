package io.gpufleet.nodedaemon.simulated.recording;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.nodedaemon.app.DeviceSource;
import io.gpufleet.nodedaemon.model.FaultCode;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.model.Vitals;
import io.gpufleet.nodedaemon.simulated.SimulatedSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is recorded is what is played. */
class RecordingTest {
    private static final Instant NOW = Instant.parse("2026-11-20T12:00:00Z");
    private static final Path FIXTURE = Path.of("src/test/recordings/simulated-2xA100-mig.jsonl.gz");

    @TempDir
    private Path directory;

    private final AtomicLong nanos = new AtomicLong();

    private void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
    }

    private RecordingSource record(Path file, DeviceSource source, boolean anonymous) throws IOException {
        return RecordingSource.begin(source, file, anonymous, NOW, nanos::get);
    }

    private SimulatedSource simulated() {
        return SimulatedSource.open(
                "node-1",
                "simulated:2xA100:mig=1x3g.20gb+4x1g.5gb",
                Optional.of(directory.resolve("faults")),
                Clock.fixed(NOW, ZoneOffset.UTC));
    }

    private RecordedSource play(Path file, String suffix) {
        return RecordedSource.open("recording:" + file + suffix, nanos::get);
    }

    /** A look and vitals at 0 s, a fault after 2 s, vitals after 3 s. */
    private List<Vitals> recorded(Path file, boolean anonymous) throws IOException {
        try (RecordingSource source = record(file, simulated(), anonymous)) {
            source.look();
            source.vitals();
            pass(Duration.ofSeconds(2));
            Files.writeString(directory.resolve("faults/1.xid"), "79");
            assertThat(source.await(Duration.ofSeconds(20))).hasSize(1);
            pass(Duration.ofSeconds(1));
            source.look();
            List<Vitals> vitals = source.vitals();
            assertThat(source.lines()).isEqualTo(4);
            return vitals;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain.jsonl", "small.jsonl.gz"})
    void aRecordingIsPlayedAtThePaceAtWhichItWasMade(String name) throws IOException {
        // Given
        Path file = directory.resolve(name);
        List<Vitals> vitals = recorded(file, false);
        Look look = simulated().look();

        try (RecordedSource player = play(file, "")) {
            // Then
            assertThat(player.look()).isEqualTo(look);
            assertThat(player.vitals()).isEqualTo(vitals);
            assertThat(player.await(Duration.ZERO)).isEmpty();
            pass(Duration.ofSeconds(2));
            assertThat(player.await(Duration.ZERO))
                    .singleElement()
                    .isInstanceOfSatisfying(
                            Sign.FaultSeen.class,
                            fault -> assertThat(fault.fault()).isEqualTo(new FaultCode.Xid(79)));

            // When it is at its end, it holds
            pass(Duration.ofHours(1));
            assertThat(player.await(Duration.ZERO)).isEmpty();
            assertThat(player.look()).isEqualTo(look);
        }
    }

    @Test
    void aLoopBeginsAnewWithItsSigns() throws IOException {
        Path file = directory.resolve("loop.jsonl");
        recorded(file, false);

        try (RecordedSource player = play(file, ":loop")) {
            pass(Duration.ofSeconds(2));
            assertThat(player.await(Duration.ZERO)).hasSize(1);
            pass(Duration.ofMillis(3001));
            assertThat(player.await(Duration.ZERO)).hasSize(1);
            assertThat(player.look()).isInstanceOf(Look.Seen.class);
            pass(Duration.ofMillis(2 * 3001));
            assertThat(player.await(Duration.ZERO)).hasSize(2);
        }
    }

    @Test
    void closingEndsAWaitThatIsUnderWay() throws Exception {
        Path file = directory.resolve("wait.jsonl");
        recorded(file, false);
        RecordedSource player = play(file, "");
        CompletableFuture<List<Sign>> wait = CompletableFuture.supplyAsync(() -> player.await(Duration.ofMinutes(5)));

        player.close();

        assertThat(wait.get(10, TimeUnit.SECONDS)).isEmpty();
    }

    @Test
    void anAnonymousRecordingHidesWhoItWasAndKeepsWhatBelongsTogether() throws IOException {
        // Given
        Path file = directory.resolve("anonymous.jsonl");
        recorded(file, true);
        List<Gpu> real = ((Look.Seen) simulated().look()).gpus();

        // Then
        String text = Files.readString(file);
        for (Gpu gpu : real) {
            assertThat(text)
                    .doesNotContain(gpu.uuid().substring(4))
                    .doesNotContain(gpu.serial().orElse("none"));
            gpu.instances().forEach(instance -> assertThat(text).doesNotContain(instance.uuid()));
        }
        try (RecordedSource player = play(file, "")) {
            List<Gpu> gpus = ((Look.Seen) player.look()).gpus();
            assertThat(gpus).extracting(Gpu::uuid).doesNotHaveDuplicates().allMatch(uuid -> uuid.startsWith("GPU-"));
            assertThat(gpus).extracting(Gpu::serial).doesNotHaveDuplicates();
            assertThat(player.vitals())
                    .extracting(Vitals::gpuUuid)
                    .isEqualTo(gpus.stream().map(Gpu::uuid).toList());
            pass(Duration.ofSeconds(5));
            assertThat(((Sign.FaultSeen) player.await(Duration.ZERO).getFirst()).gpuUuid())
                    .isEqualTo(gpus.get(1).uuid());
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '%',
            value = {
                "{\"recording\":2} | its first line does not say \"recording\":1",
                "%% | its first line does not say \"recording\":1",
                "no JSON | line 1 is no entry",
                "{\"recording\":1} | nothing is recorded in it",
            })
    void aFileThatIsNoRecordingIsRefusedInOneLine(String content, String why) throws IOException {
        Path file = Files.writeString(directory.resolve("bad"), content);

        assertThatThrownBy(() -> play(file, ""))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageStartingWith("GPUFLEET_DEVICES=recording:" + file + " is not usable, " + why)
                .hasMessageNotContaining("\n");
    }

    @Test
    void aRecordingThatIsNotThereIsSaid() {
        assertThatThrownBy(() -> play(directory.resolve("nowhere"), ":loop"))
                .hasMessageContaining("there is no such file; make one with 'node-daemon record FILE'");
        assertThatThrownBy(() -> RecordedSource.open("recording:", nanos::get)).hasMessageContaining("names no file");
    }

    @Test
    void theRecordingThatIsKeptHereCanStillBePlayed() {
        try (RecordedSource player = play(FIXTURE, "")) {
            pass(Duration.ofMinutes(1));
            List<Gpu> gpus = ((Look.Seen) player.look()).gpus();
            assertThat(gpus)
                    .hasSize(2)
                    .allSatisfy(gpu -> assertThat(gpu.instances()).hasSize(5));
            assertThat(player.vitals()).hasSize(2);
            assertThat(player.await(Duration.ZERO))
                    .extracting(sign -> sign.getClass().getSimpleName())
                    .containsExactly("FaultSeen", "CauseGone");
        }
    }
}
