package io.gpufleet.nodedaemon.simulated.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * An excerpt of what {@code node-daemon record --anonymous} read from an H200 (driver 580.159.04) while {@code
 * src/test/gpu/check.py} loaded it and ended programs by XIDs: 6 s at rest, 27 s of load, then XIDs 31, 13, 43 and 31.
 */
class RealGpuRecordingTest {
    private static final Path H200 = Path.of("src/test/recordings/h200-load-and-xids.jsonl.gz");

    private final AtomicLong nanos = new AtomicLong();

    private ReplaySource play() {
        return ReplaySource.open("recording:" + H200, nanos::get);
    }

    private void at(Duration time) {
        nanos.set(time.toNanos());
    }

    @Test
    void scanHasWhatTheDriverSaidOfTheGpu() {
        try (ReplaySource source = play()) {
            assertThat(source.scan()).isInstanceOfSatisfying(DeviceScan.ScanSucceeded.class, scan -> {
                assertThat(scan.driverVersion()).isEqualTo("580.159.04");
                assertThat(scan.gpus()).singleElement().satisfies(gpu -> {
                    assertThat(gpu.product().shortModel()).isEqualTo("H200");
                    assertThat(gpu.memoryBytes()).isEqualTo(new Reading.Known<>(150_754_820_096L));
                });
            });
        }
    }

    @Test
    void loadIsSeenInTheSamples() {
        try (ReplaySource source = play()) {
            at(Duration.ofSeconds(2));
            assertThat(source.sample().getFirst().device().temperatureCelsius()).isEqualTo(new Reading.Known<>(34));

            at(Duration.ofSeconds(20));
            assertThat(source.sample()).singleElement().satisfies(sample -> {
                assertThat(sample.answers()).isEqualTo(new Reading.Known<>(true));
                assertThat(sample.device().clocks().smMhz()).isEqualTo(new Reading.Known<>(1980));
                assertThat(sample.processes()).isInstanceOf(Reading.Known.class);
            });
        }
    }

    @Test
    void xidsOfProgramsAreEventsInTheirOrder() {
        try (ReplaySource source = play()) {
            source.scan();
            at(Duration.ofSeconds(40));

            assertThat(source.await(Duration.ZERO))
                    .extracting(event -> ((DeviceEvent.FaultDetected) event).fault())
                    .containsExactly(
                            new FaultCode.Xid(31), new FaultCode.Xid(13), new FaultCode.Xid(43), new FaultCode.Xid(31));
        }
    }
}
