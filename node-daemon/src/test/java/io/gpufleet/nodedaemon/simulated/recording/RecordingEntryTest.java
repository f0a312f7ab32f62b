package io.gpufleet.nodedaemon.simulated.recording;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.nodedaemon.model.device.ComputeProcess;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.GpuMetric;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.GpuSampleBuilder;
import io.gpufleet.nodedaemon.model.device.ProcessOwner;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import java.time.Duration;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RecordingEntryTest {
    @Property(tries = 300)
    void everyAnswerOfASourceIsReadAsItWasWritten(@ForAll long seed) {
        var chance = new RandomRecords(seed);
        var at = Duration.ofMillis(Math.floorMod(seed, 1_000_000));
        DeviceScan scan = chance.of(DeviceScan.class);
        List<GpuSample> samples = List.of(chance.of(GpuSample.class), chance.of(GpuSample.class));
        DeviceEvent event = chance.of(DeviceEvent.class);

        assertThat(RecordingEntry.parse(RecordingEntry.of(at, scan).line()).scan())
                .isEqualTo(scan);
        assertThat(RecordingEntry.parse(RecordingEntry.of(at, samples).line()).samples())
                .isEqualTo(samples);
        RecordingEntry read = RecordingEntry.parse(RecordingEntry.of(at, event).line());
        assertThat(read.event()).isEqualTo(event);
        assertThat(read.at()).isEqualTo(at);
        assertThat(read.line()).doesNotContain("\n");
    }

    @Test
    void processesAndTheirOwnersAreRecorded() {
        GpuSample samples = GpuSampleBuilder.healthyGpu(0)
                .processes(new Reading.Known<>(List.of(
                        new ComputeProcess(7, "MIG-1", new Reading.Known<>(5L), new ProcessOwner.Pod("uid-a")),
                        new ComputeProcess(
                                8, "GPU-1", new Reading.Unavailable<>("NOT_AVAILABLE"), new ProcessOwner.Host()))))
                .build();

        assertThat(RecordingEntry.parse(RecordingEntry.of(Duration.ZERO, List.of(samples))
                                .line())
                        .samples())
                .containsExactly(samples);
    }

    @Test
    void missingValueOfAnOlderRecordingIsUnavailable() {
        GpuSample samples = RecordingEntry.parse(
                        "{\"at\":5,\"samples\":[{\"gpuUuid\":\"GPU-1\",\"device\":{\"power\":{\"milliwatts\":7}}}]}")
                .samples()
                .getFirst();

        assertThat(samples.device().power().milliwatts()).isEqualTo(new Reading.Known<>(7));
        assertThat(samples.device().temperatureCelsius()).isEqualTo(new Reading.Unavailable<>("not recorded"));
        assertThat(samples.health().rowRemapping().failed()).isEqualTo(new Reading.Unavailable<>("not recorded"));
        assertThat(samples.metrics().of(GpuMetric.MEMORY_USED_BYTES)).isInstanceOf(Reading.Unavailable.class);
        assertThat(samples.processes()).isEqualTo(new Reading.Unavailable<>("not recorded"));
        assertThat(samples.migInstances()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "7", "{}", "{\"at\":1}", "{\"scan\":{}}", "[]"})
    void whatIsNoEntryIsRefused(String line) {
        assertThatThrownBy(() -> RecordingEntry.parse(line).scan()).isInstanceOf(RuntimeException.class);
    }
}
