package io.gpufleet.nodedaemon.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.FaultCode.Kind;
import io.gpufleet.nodedaemon.model.FaultCode.Plain;
import io.gpufleet.nodedaemon.model.FaultCode.RecoveryAsked;
import io.gpufleet.nodedaemon.model.FaultCode.Xid;
import io.gpufleet.nodedaemon.model.FaultOrigin;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.RecoveryAction;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.nvml.VitalsReader.Condition;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What stands, and what takes it back. */
class StandingTest {
    private static final Condition WELL =
            new Condition(new Known<>(RecoveryAction.NONE), new Unavailable<>("NOT_SUPPORTED"));
    private static final Condition RESET = new Condition(new Known<>(RecoveryAction.GPU_RESET), new Known<>(false));
    private static final Condition REBOOT = new Condition(new Known<>(RecoveryAction.NODE_REBOOT), new Known<>(false));
    private final NvmlFailure lost = new NvmlFailure("nvmlDeviceGetUUID", 15);

    private final List<Sign> signs = new ArrayList<>();
    private final AtomicLong nanos = new AtomicLong();
    private final Standing standing = new Standing(signs::add, nanos::get, Duration.ofSeconds(5));

    @Test
    void anXidIsNotTakenBackBeforeTheDriverHadTimeToAskForARepair() {
        // Given
        standing.happens("GPU-1", "", new Xid(48), "XID 48");
        signs.clear();

        // When
        nanos.set(Duration.ofSeconds(4).toNanos());
        standing.proves("GPU-1", WELL);

        // Then
        assertThat(signs).isEmpty();

        // When
        nanos.set(Duration.ofSeconds(5).toNanos());
        standing.proves("GPU-1", RESET);
        assertThat(signs).isEmpty();
        standing.proves("GPU-1", WELL);

        // Then
        assertThat(signs)
                .containsExactly(new Sign.CauseGone(
                        "GPU-1", new Xid(48), "the handle answers, recovery action NONE, no remap pending"));
    }

    @Test
    void theSameXidAgainStartsItsTimeAnew() {
        // Given
        standing.happens("GPU-1", "", new Xid(48), "XID 48");
        nanos.set(Duration.ofSeconds(4).toNanos());
        standing.happens("GPU-1", "", new Xid(48), "XID 48");
        assertThat(signs).hasSize(2);
        signs.clear();

        // When
        nanos.set(Duration.ofSeconds(8).toNanos());
        standing.proves("GPU-1", WELL);

        // Then
        assertThat(signs).isEmpty();
    }

    @Test
    void aStateIsNewsOnceAndItsEndIsToo() {
        // When
        standing.silent("GPU-1", lost);
        standing.silent("GPU-1", lost);
        standing.answered("GPU-1", WELL);
        standing.answered("GPU-1", WELL);

        // Then
        assertThat(signs)
                .containsExactly(
                        new Sign.FaultSeen(
                                "GPU-1",
                                "",
                                new Plain(Kind.GPU_LOST),
                                FaultOrigin.POLL,
                                "nvmlDeviceGetUUID: GPU_IS_LOST"),
                        new Sign.LookAgain("GPU_LOST GPU-1"),
                        new Sign.CauseGone("GPU-1", new Plain(Kind.GPU_LOST), "the handle answers"));
    }

    @Test
    void aWaitThatFailsTwentyThousandTimesIsNewsOnce() {
        // When
        for (int i = 0; i < 20_000; i++) {
            standing.begins(Standing.NODE, new Plain(Kind.EVENT_WAIT), "waiting for NVML events fails");
        }

        // Then
        assertThat(signs)
                .containsExactly(new Sign.FaultSeen(
                        "", "", new Plain(Kind.EVENT_WAIT), FaultOrigin.POLL, "waiting for NVML events fails"));
    }

    @Test
    void anotherRecoveryActionReplacesTheFirst() {
        // Given
        standing.answered("GPU-1", RESET);
        signs.clear();

        // When
        standing.answered("GPU-1", REBOOT);

        // Then
        assertThat(signs)
                .containsExactly(
                        new Sign.CauseGone(
                                "GPU-1", new RecoveryAsked(RecoveryAction.GPU_RESET), "recovery action NODE_REBOOT"),
                        new Sign.FaultSeen(
                                "GPU-1",
                                "",
                                new RecoveryAsked(RecoveryAction.NODE_REBOOT),
                                FaultOrigin.POLL,
                                "the driver asks for NODE_REBOOT"));
    }

    @Test
    void oneGpusGoodAnswerProvesNothingOfAnother() {
        // Given
        standing.happens("GPU-1", "", new Xid(79), "XID 79");
        standing.silent("GPU-1", lost);
        signs.clear();
        nanos.set(Duration.ofMinutes(1).toNanos());

        // When
        standing.answered("GPU-2", WELL);
        standing.proves("GPU-2", WELL);

        // Then
        assertThat(signs).isEmpty();
    }

    @Test
    void theThirdCallThatHangsAsksForANewProcessAfterItsFaultWasTold() {
        // Given
        NvmlFailure hung = new NvmlFailure("nvmlDeviceGetUUID", NvmlFailure.HUNG);
        standing.silent("GPU-1", hung);
        standing.silent("GPU-2", hung);
        standing.silent("GPU-1", hung);
        assertThat(signs).noneMatch(Sign.StartAnew.class::isInstance);
        signs.clear();

        // When
        standing.silent("GPU-3", hung);
        standing.silent("GPU-3", hung);

        // Then
        assertThat(signs)
                .containsExactly(
                        new Sign.FaultSeen(
                                "GPU-3", "", new Plain(Kind.NVML_HUNG), FaultOrigin.POLL, "nvmlDeviceGetUUID: HUNG"),
                        new Sign.StartAnew("3 NVML calls did not return, the last one: nvmlDeviceGetUUID: HUNG"),
                        new Sign.LookAgain("NVML_HUNG GPU-3"));
    }

    @Test
    void callsThatReturnInTimeAskForNone() {
        // Given
        NvmlFailure hung = new NvmlFailure("nvmlDeviceGetUUID", NvmlFailure.HUNG);
        standing.silent("GPU-1", hung);
        standing.silent("GPU-2", hung);

        // When
        standing.answered("GPU-2", WELL);
        standing.silent("GPU-3", hung);

        // Then
        assertThat(signs).noneMatch(Sign.StartAnew.class::isInstance);
    }

    @Test
    void aFailureOfTheDriverIsNoFaultOfTheGpu() {
        // When
        standing.silent("GPU-1", new NvmlFailure("nvmlDeviceGetUUID", 18));

        // Then
        assertThat(signs).containsExactly(new Sign.LookAgain("nvmlDeviceGetUUID: LIB_RM_VERSION_MISMATCH"));
    }
}
