package io.gpufleet.nodedaemon.nvml.reader;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.nvml.call.Nvml;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class InfoRomValidatorTest {
    private static final Nvml.Handle FIRST = new Nvml.Handle(1);
    private static final Nvml.Handle SECOND = new Nvml.Handle(2);

    private final List<Nvml.Handle> validated = new ArrayList<>();
    private long nanos;
    private final InfoRomValidator reader = new InfoRomValidator(() -> nanos);

    private void read(String uuid, Nvml.Handle device) {
        assertThat(reader.read(uuid, () -> {
                    validated.add(device);
                    return new Reading.Known<>(true);
                }))
                .isEqualTo(new Reading.Known<>(true));
    }

    private void pollEveryTenSeconds(Duration time) {
        long end = nanos + time.toNanos();
        for (; nanos < end; nanos += Duration.ofSeconds(10).toNanos()) {
            read("a", FIRST);
            read("b", SECOND);
        }
    }

    @Test
    void eachInfoRomIsValidatedOnceAnHour() {
        pollEveryTenSeconds(Duration.ofHours(3));

        assertThat(validated).containsExactly(FIRST, SECOND, FIRST, SECOND, FIRST, SECOND);
    }

    @Test
    void requestedValidationIsMadeOnce() {
        pollEveryTenSeconds(Duration.ofMinutes(1));
        reader.request("b");
        pollEveryTenSeconds(Duration.ofMinutes(1));

        assertThat(validated).containsExactly(FIRST, SECOND, SECOND);
    }

    @Test
    void anotherGpuInThePlaceIsValidated() {
        pollEveryTenSeconds(Duration.ofMinutes(1));

        reader.retainOnly(Set.of("b"));
        pollEveryTenSeconds(Duration.ofMinutes(1));

        assertThat(validated).containsExactly(FIRST, SECOND, FIRST);
    }
}
