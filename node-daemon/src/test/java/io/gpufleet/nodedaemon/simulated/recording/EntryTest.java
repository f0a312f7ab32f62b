package io.gpufleet.nodedaemon.simulated.recording;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.nodedaemon.model.ComputeProcess;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Meter;
import io.gpufleet.nodedaemon.model.ProcessOwner;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.model.SomeVitals;
import io.gpufleet.nodedaemon.model.Vitals;
import java.time.Duration;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EntryTest {
    @Property(tries = 300)
    void whateverASourceSaysIsReadAsItWasSaid(@ForAll long seed) {
        var chance = new SomeValue(seed);
        var at = Duration.ofMillis(Math.floorMod(seed, 1_000_000));
        Look look = chance.of(Look.class);
        List<Vitals> vitals = List.of(chance.of(Vitals.class), chance.of(Vitals.class));
        Sign sign = chance.of(Sign.class);

        assertThat(Entry.parse(Entry.of(at, look).line()).look()).isEqualTo(look);
        assertThat(Entry.parse(Entry.of(at, vitals).line()).vitals()).isEqualTo(vitals);
        Entry read = Entry.parse(Entry.of(at, sign).line());
        assertThat(read.sign()).isEqualTo(sign);
        assertThat(read.at()).isEqualTo(at);
        assertThat(read.line()).doesNotContain("\n");
    }

    @Test
    void processesAndTheirOwnersAreRecorded() {
        Vitals vitals = SomeVitals.well(0)
                .processes(new Reading.Known<>(List.of(
                        new ComputeProcess(7, "MIG-1", new Reading.Known<>(5L), new ProcessOwner.Pod("uid-a")),
                        new ComputeProcess(
                                8, "GPU-1", new Reading.Unavailable<>("NOT_AVAILABLE"), new ProcessOwner.Host()))))
                .now();

        assertThat(Entry.parse(Entry.of(Duration.ZERO, List.of(vitals)).line()).vitals())
                .containsExactly(vitals);
    }

    @Test
    void whatAnOlderRecordingDoesNotSayIsSaidNotToBeRecorded() {
        Vitals vitals = Entry.parse("{\"at\":5,\"vitals\":[{\"gpuUuid\":\"GPU-1\",\"powerMilliwatts\":7}]}")
                .vitals()
                .getFirst();

        assertThat(vitals.powerMilliwatts()).isEqualTo(new Reading.Known<>(7));
        assertThat(vitals.temperatureCelsius()).isEqualTo(new Reading.Unavailable<>("not recorded"));
        assertThat(vitals.conditions().remapFailed()).isEqualTo(new Reading.Unavailable<>("not recorded"));
        assertThat(vitals.meters().of(Meter.MEMORY_USED_BYTES)).isInstanceOf(Reading.Unavailable.class);
        assertThat(vitals.processes()).isEqualTo(new Reading.Unavailable<>("not recorded"));
        assertThat(vitals.slices()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "7", "{}", "{\"at\":1}", "{\"look\":{}}", "[]"})
    void whatIsNoEntryIsRefused(String line) {
        assertThatThrownBy(() -> Entry.parse(line).look()).isInstanceOf(RuntimeException.class);
    }
}
