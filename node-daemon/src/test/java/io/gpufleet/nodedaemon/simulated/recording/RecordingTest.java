package io.gpufleet.nodedaemon.simulated.recording;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.nodedaemon.app.device.DeviceSource;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
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

/** Recording and replay. */
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

    private ReplaySource play(Path file, String suffix) {
        return ReplaySource.open("recording:" + file + suffix, nanos::get);
    }

    /** Records a scan and samples at 0 s, a fault after 2 s, samples after 3 s. */
    private List<GpuSample> recorded(Path file, boolean anonymous) throws IOException {
        try (RecordingSource source = record(file, simulated(), anonymous)) {
            source.scan();
            source.sample();
            pass(Duration.ofSeconds(2));
            Files.writeString(directory.resolve("faults/1.xid"), "79");
            assertThat(source.await(Duration.ofSeconds(20))).hasSize(1);
            pass(Duration.ofSeconds(1));
            source.scan();
            List<GpuSample> samples = source.sample();
            assertThat(source.lines()).isEqualTo(4);
            return samples;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain.jsonl", "small.jsonl.gz"})
    void recordingIsPlayedAtThePaceAtWhichItWasMade(String name) throws IOException {
        // Given
        Path file = directory.resolve(name);
        List<GpuSample> samples = recorded(file, false);
        DeviceScan scan = simulated().scan();

        try (ReplaySource player = play(file, "")) {
            // Then
            assertThat(player.scan()).isEqualTo(scan);
            assertThat(player.sample()).isEqualTo(samples);
            assertThat(player.await(Duration.ZERO)).isEmpty();
            pass(Duration.ofSeconds(2));
            assertThat(player.await(Duration.ZERO))
                    .singleElement()
                    .isInstanceOfSatisfying(
                            DeviceEvent.FaultDetected.class,
                            fault -> assertThat(fault.fault()).isEqualTo(new FaultCode.Xid(79)));

            // When it is at its end, it stops
            pass(Duration.ofHours(1));
            assertThat(player.await(Duration.ZERO)).isEmpty();
            assertThat(player.scan()).isEqualTo(scan);
        }
    }

    @Test
    void loopBeginsAgainWithItsEvents() throws IOException {
        Path file = directory.resolve("loop.jsonl");
        recorded(file, false);

        try (ReplaySource player = play(file, ":loop")) {
            pass(Duration.ofSeconds(2));
            assertThat(player.await(Duration.ZERO)).hasSize(1);
            pass(Duration.ofMillis(3001));
            assertThat(player.await(Duration.ZERO)).hasSize(1);
            assertThat(player.scan()).isInstanceOf(DeviceScan.ScanSucceeded.class);
            pass(Duration.ofMillis(2 * 3001));
            assertThat(player.await(Duration.ZERO)).hasSize(2);
        }
    }

    @Test
    void closeEndsARunningWait() throws Exception {
        Path file = directory.resolve("wait.jsonl");
        recorded(file, false);
        ReplaySource player = play(file, "");
        CompletableFuture<List<DeviceEvent>> wait =
                CompletableFuture.supplyAsync(() -> player.await(Duration.ofMinutes(5)));

        player.close();

        assertThat(wait.get(10, TimeUnit.SECONDS)).isEmpty();
    }

    @Test
    void anonymousRecordingHidesIdentitiesAndKeepsTheirRelations() throws IOException {
        // Given
        Path file = directory.resolve("anonymous.jsonl");
        recorded(file, true);
        List<Gpu> real = ((DeviceScan.ScanSucceeded) simulated().scan()).gpus();

        // Then
        String text = Files.readString(file);
        for (Gpu gpu : real) {
            assertThat(text)
                    .doesNotContain(gpu.uuid().substring(4))
                    .doesNotContain(gpu.identifiers().serial().orElse("none"));
            gpu.instances().forEach(instance -> assertThat(text).doesNotContain(instance.uuid()));
        }
        try (ReplaySource player = play(file, "")) {
            List<Gpu> gpus = ((DeviceScan.ScanSucceeded) player.scan()).gpus();
            assertThat(gpus).extracting(Gpu::uuid).doesNotHaveDuplicates().allMatch(uuid -> uuid.startsWith("GPU-"));
            assertThat(gpus).extracting(gpu -> gpu.identifiers().serial()).doesNotHaveDuplicates();
            assertThat(player.sample())
                    .extracting(GpuSample::gpuUuid)
                    .isEqualTo(gpus.stream().map(Gpu::uuid).toList());
            pass(Duration.ofSeconds(5));
            assertThat(((DeviceEvent.FaultDetected) player.await(Duration.ZERO).getFirst()).gpuUuid())
                    .isEqualTo(gpus.get(1).uuid());
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '%',
            value = {
                "{\"recording\":1} | its first line has no \"recording\":2",
                "%% | its first line has no \"recording\":2",
                "no JSON | line 1 is not an entry",
                "{\"recording\":2} | it has no entries",
            })
    void fileThatIsNoRecordingIsRejectedWithOneLine(String content, String why) throws IOException {
        Path file = Files.writeString(directory.resolve("bad"), content);

        assertThatThrownBy(() -> play(file, ""))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageStartingWith("GPUFLEET_DEVICES=recording:" + file + " is not usable, " + why)
                .hasMessageNotContaining("\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '%',
            value = {
                "{\"at\":1,\"samples\":[{\"gpuUuid\":\"GPU-1\",\"meters\":{}}]} | unknown key meters in a GpuSample",
                "{\"at\":1,\"samples\":[{\"device\":{\"power\":{\"watts\":1}}}]} | unknown key watts in a Power",
                "{\"at\":1,\"event\":{\"is\":\"FaultSeen\"}} | FaultSeen is no DeviceEvent",
                "{\"at\":1,\"vitals\":[]} | neither scan, samples nor event",
            })
    void keyThatTheFormatDoesNotHaveIsRejected(String line, String why) throws IOException {
        Path file = Files.writeString(directory.resolve("bad"), "{\"recording\":2}\n" + line + "\n");

        assertThatThrownBy(() -> play(file, ""))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("line 2 is not an entry: " + why);
    }

    @Test
    void missingRecordingIsReported() {
        assertThatThrownBy(() -> play(directory.resolve("nowhere"), ":loop"))
                .hasMessageContaining("there is no such file; make one with 'node-daemon record FILE'");
        assertThatThrownBy(() -> ReplaySource.open("recording:", nanos::get)).hasMessageContaining("names no file");
    }

    @Test
    void committedRecordingCanStillBePlayed() {
        try (ReplaySource player = play(FIXTURE, "")) {
            pass(Duration.ofMinutes(1));
            List<Gpu> gpus = ((DeviceScan.ScanSucceeded) player.scan()).gpus();
            assertThat(gpus)
                    .hasSize(2)
                    .allSatisfy(gpu -> assertThat(gpu.instances()).hasSize(5));
            assertThat(player.sample()).hasSize(2).allSatisfy(sample -> {
                assertThat(sample.device().power().milliwatts()).isInstanceOf(Reading.Known.class);
                assertThat(sample.health().pcie().maxWidth()).isEqualTo(new Reading.Known<>(16));
                assertThat(sample.migInstances()).hasSize(5);
            });
            assertThat(player.await(Duration.ZERO))
                    .extracting(event -> event.getClass().getSimpleName())
                    .containsExactly("FaultDetected", "CauseResolved");
        }
    }
}
