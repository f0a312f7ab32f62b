package io.gpufleet.nodedaemon.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.DeviceScan.LostGpu;
import io.gpufleet.nodedaemon.model.device.DeviceScan.ScanSucceeded;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SessionRenewalPolicyTest {
    private static final Reading<List<String>> TWO = new Known<>(List.of("0000:07:00.0", "0000:0f:00.0"));
    private static final Reading<List<String>> THREE =
            new Known<>(List.of("0000:07:00.0", "0000:0f:00.0", "0000:17:00.0"));

    private long nanos;
    private final SessionRenewalPolicy renewal = new SessionRenewalPolicy(() -> nanos);

    /** A session with GPUs at these addresses, all of them lost: only their addresses count. */
    private static ScanSucceeded session(String... busIds) {
        List<LostGpu> lost = new ArrayList<>();
        for (String busId : busIds) {
            lost.add(new LostGpu(lost.size(), busId, "GPU_IS_LOST"));
        }
        return new ScanSucceeded("570.124.06", "12.8", List.of(), lost);
    }

    private static final ScanSucceeded BOTH = session("00000000:07:00.0", "00000000:0F:00.0");

    @Test
    void sessionWithTheGpusOfTheKernelIsKept() {
        assertThat(renewal.isDue(TWO, BOTH)).isFalse();
    }

    @Test
    void sessionIsKeptWhereTheKernelTellsNothing() {
        assertThat(renewal.isDue(new Unavailable<>("no sysfs"), BOTH)).isFalse();
    }

    @Test
    void differenceIsActedOnAtOnce() {
        assertThat(renewal.isDue(THREE, BOTH)).isTrue();
    }

    @Test
    void anotherGpuInAnotherSlotIsADifferenceThoughTheNumberIsTheSame() {
        assertThat(renewal.isDue(TWO, session("00000000:07:00.0", "00000000:17:00.0")))
                .isTrue();
    }

    @Test
    void onlyNumbersAreComparedWhileTheAddressOfALostGpuIsUnknown() {
        assertThat(renewal.isDue(TWO, session("00000000:07:00.0", ""))).isFalse();
        assertThat(renewal.isDue(THREE, session("00000000:07:00.0", ""))).isTrue();
    }

    @Test
    void attemptsThatChangeNothingBecomeRarer() {
        List<Long> attempts = new ArrayList<>();
        for (;
                nanos < Duration.ofHours(1).toNanos();
                nanos += Duration.ofSeconds(1).toNanos()) {
            if (renewal.isDue(THREE, BOTH)) {
                renewal.attempt(THREE, BOTH);
                attempts.add(Duration.ofNanos(nanos).toSeconds());
            }
        }

        assertThat(attempts).containsExactly(0L, 5L, 15L, 35L, 75L, 155L, 315L, 635L, 1235L, 1835L, 2435L, 3035L);
    }

    @Test
    void anotherDifferenceIsActedOnAtOnce() {
        renewal.attempt(THREE, BOTH);
        assertThat(renewal.isDue(THREE, BOTH)).isFalse();

        assertThat(renewal.isDue(THREE, session("00000000:07:00.0"))).isTrue();
    }

    @Test
    void differenceThatCameBackIsActedOnAtOnce() {
        renewal.attempt(THREE, BOTH);
        assertThat(renewal.isDue(TWO, BOTH)).isFalse();

        assertThat(renewal.isDue(THREE, BOTH)).isTrue();
    }
}
