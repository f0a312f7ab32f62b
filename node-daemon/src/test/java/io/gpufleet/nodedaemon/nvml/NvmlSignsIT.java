package io.gpufleet.nodedaemon.nvml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.model.FaultCode;
import io.gpufleet.nodedaemon.model.FaultCode.Kind;
import io.gpufleet.nodedaemon.model.FaultCode.Plain;
import io.gpufleet.nodedaemon.model.FaultCode.RecoveryAsked;
import io.gpufleet.nodedaemon.model.FaultCode.Xid;
import io.gpufleet.nodedaemon.model.FaultOrigin;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.RecoveryAction;
import io.gpufleet.nodedaemon.model.Sign;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Faults are noticed through a real library, and so is their end. */
class NvmlSignsIT {
    private static final int GPU_RESET = 1;

    @TempDir
    private Path root;

    private final List<Sign> signs = new CopyOnWriteArrayList<>();
    private StandInNvml nvml;
    private NvmlSource source;

    @BeforeEach
    void install() {
        nvml = StandInNvml.install(root, 3);
        open(Duration.ofSeconds(30));
    }

    private void open(Duration deadline) {
        source = new NvmlSource(
                new NvmlSettings("", root, root, root, deadline, Duration.ofMillis(50), Duration.ofHours(1)));
        assertThat(source.look()).isInstanceOf(Look.Seen.class);
    }

    @AfterEach
    void close() {
        source.close();
        nvml.close();
    }

    @Test
    void anXidIsAFaultOfItsGpuAndNamedFromTheCatalogue() {
        // When
        nvml.xid(1, 79);

        // Then
        awaitSign(new Sign.FaultSeen(
                StandInNvml.uuid(1), "", new Xid(79), FaultOrigin.NVML_EVENT, "XID 79: GPU has fallen off the bus"));
    }

    @Test
    void anXidOfAMigInstanceSaysWhichOne() {
        // Given
        nvml.gpu(0, "migMode", 1).mig(0, 0, "1g.10gb", 7).mig(0, 1, "2g.20gb", 2);
        assertThat(source.look()).isInstanceOf(Look.Seen.class);

        // When
        nvml.event(0, 0x8, 31, 2);

        // Then
        awaitSign(new Sign.FaultSeen(
                StandInNvml.uuid(0),
                StandInNvml.migUuid(0, 2),
                new Xid(31),
                FaultOrigin.NVML_EVENT,
                "XID 31: GPU memory page fault, GPU instance 2, compute instance 0"));
    }

    @Test
    void everyEventIsReportedInItsOrder() {
        // When
        for (int i = 0; i < 100; i++) {
            nvml.xid(i % 3, 1000 + i);
        }

        // Then
        await().untilAsserted(() -> {
            signs.addAll(source.await(Duration.ofMillis(50)));
            assertThat(signs)
                    .filteredOn(Sign.FaultSeen.class::isInstance)
                    .extracting(sign -> ((Sign.FaultSeen) sign).fault())
                    .containsExactlyElementsOf(IntStream.range(1000, 1100)
                            .<FaultCode>mapToObj(Xid::new)
                            .toList());
        });
    }

    @Test
    void theDriversRecoveryActionIsAskedAfterAnXidAndItsEndEndsTheXidToo() {
        // Given
        nvml.gpu(1, "recoveryAction", GPU_RESET).xid(1, 119);
        FaultCode asked = new RecoveryAsked(RecoveryAction.GPU_RESET);
        awaitSign(seen(1, asked, "the driver asks for GPU_RESET"));
        assertThat(signs).noneMatch(Sign.CauseGone.class::isInstance);

        // When
        nvml.gpu(1, "recoveryAction", 0);

        // Then
        awaitSign(new Sign.CauseGone(StandInNvml.uuid(1), asked, "recovery action NONE"));
        awaitSign(new Sign.CauseGone(
                StandInNvml.uuid(1), new Xid(119), "the handle answers, recovery action NONE, no remap pending"));
    }

    @Test
    void aPendingRemapKeepsTheXidStanding() {
        // Given
        nvml.gpu(0, "remapPending", 1).xid(0, 64).xid(2, 64);

        // When
        awaitSign(new Sign.CauseGone(
                StandInNvml.uuid(2), new Xid(64), "the handle answers, recovery action NONE, no remap pending"));

        // Then
        assertThat(signs)
                .noneMatch(sign ->
                        sign instanceof Sign.CauseGone gone && gone.gpuUuid().equals(StandInNvml.uuid(0)));
    }

    @Test
    void aDriverThatTellsNoRecoveryActionProvesOnlyWhatNeedsNoRepair() {
        // Given
        nvml.gpu(0, "recoveryAction", StandInNvml.UNSUPPORTED);

        // When
        nvml.xid(0, 79).xid(0, 13);

        // Then
        awaitSign(new Sign.CauseGone(
                StandInNvml.uuid(0), new Xid(13), "the handle answers, and the XID asks for no repair"));
        assertThat(signs)
                .noneMatch(sign ->
                        sign instanceof Sign.CauseGone gone && gone.fault().equals(new Xid(79)));
    }

    @Test
    void aGpuThatIsLostWithoutAnEventIsNoticedAndSoIsItsReturn() {
        // When
        nvml.lost(2, true);

        // Then
        awaitSign(seen(2, new Plain(Kind.GPU_LOST), "nvmlDeviceGetUUID: GPU_IS_LOST"));
        assertThat(((Look.Seen) source.look()).lost()).hasSize(1);

        // When
        nvml.lost(2, false);

        // Then
        assertThat(((Look.Seen) source.look()).gpus()).hasSize(3);
        awaitSign(new Sign.CauseGone(StandInNvml.uuid(2), new Plain(Kind.GPU_LOST), "the handle answers"));
    }

    @Test
    void aGpuThatCameBackReportsEventsAgain() {
        // Given
        nvml.lost(1, true);
        assertThat(((Look.Seen) source.look()).gpus()).hasSize(2);
        nvml.lost(1, false);
        assertThat(((Look.Seen) source.look()).gpus()).hasSize(3);

        // When
        nvml.xid(1, 48);

        // Then
        awaitSign(new Sign.FaultSeen(
                StandInNvml.uuid(1), "", new Xid(48), FaultOrigin.NVML_EVENT, "XID 48: Double Bit ECC Error"));
        assertThat(nvml.counter("eventSets")).isEqualTo(1);
    }

    @Test
    void aGpuThatAppearedLaterReportsEventsToo() {
        // Given
        nvml.gpus(4);
        assertThat(((Look.Seen) source.look()).gpus()).hasSize(4);

        // When
        nvml.xid(3, 48);

        // Then
        awaitSign(new Sign.FaultSeen(
                StandInNvml.uuid(3), "", new Xid(48), FaultOrigin.NVML_EVENT, "XID 48: Double Bit ECC Error"));
        assertThat(nvml.counter("eventSets")).isEqualTo(1);
    }

    @Test
    void otherEventsBecomeWhatTheyMean() {
        // When
        nvml.event(0, 0x2, 0, -1).event(1, 0x100, 0, -1);

        // Then
        awaitSign(new Sign.FaultSeen(
                StandInNvml.uuid(0),
                "",
                new Plain(Kind.ECC_UNCORRECTABLE),
                FaultOrigin.NVML_EVENT,
                "uncorrectable ECC error"));
        awaitSign(new Sign.LookAgain("MIG configuration of " + StandInNvml.uuid(1) + " changed"));
    }

    @Test
    void aCallThatHangsIsAFaultOfItsGpuAloneAndEndsWhenItReturns() {
        // Given
        source.close();
        open(Duration.ofSeconds(1));

        // When
        nvml.hang("nvmlDeviceGetUUID", 1);

        // Then
        awaitSign(seen(1, new Plain(Kind.NVML_HUNG), "nvmlDeviceGetUUID: HUNG"));
        Look.Seen seen = (Look.Seen) source.look();
        assertThat(seen.gpus()).hasSize(2);
        assertThat(seen.lost()).containsExactly(new Look.LostGpu(1, StandInNvml.busId(1), "HUNG"));
        assertThat(source.vitals()).hasSize(2);
        assertThat(nvml.counter("hanging")).isEqualTo(1);

        // When
        nvml.clearRules();

        // Then
        await().until(() ->
                source.look() instanceof Look.Seen again && again.gpus().size() == 3);
        awaitSign(new Sign.CauseGone(StandInNvml.uuid(1), new Plain(Kind.NVML_HUNG), "calls return"));
    }

    @Test
    void waitsThatKeepFailingAreAFactAndNoFlood() {
        // When
        nvml.fail("nvmlEventSetWait_v2", -1, 999);

        // Then
        awaitSign(new Sign.FaultSeen(
                "",
                "",
                new Plain(Kind.EVENT_WAIT),
                FaultOrigin.POLL,
                "waiting for NVML events fails: nvmlEventSetWait: UNKNOWN"));
        // 100, 200, 400 ms and so on: ten waits would have taken 51 s.
        assertThat(nvml.counter("waitCalls")).isLessThan(60);

        // When
        nvml.clearRules();

        // Then
        awaitSign(new Sign.CauseGone("", new Plain(Kind.EVENT_WAIT), "waiting for NVML events works again"));
    }

    @Test
    void aDriverThatIsBoundOrUnboundIsLookedAtAgain() {
        // When
        nvml.systemEvent(1);

        // Then
        awaitSign(new Sign.LookAgain("the driver was bound to a GPU or unbound from one"));
        assertThat(nvml.counter("systemSets")).isEqualTo(1);
    }

    @Test
    void aGpuPutInThePlaceOfAnotherReportsItsOwnEvents() {
        // Given
        nvml.gpu(1, "uuid", StandInNvml.uuid(9));
        assertThat(source.look()).isInstanceOf(Look.Seen.class);

        // When
        nvml.xid(1, 48);

        // Then
        awaitSign(new Sign.FaultSeen(
                StandInNvml.uuid(9), "", new Xid(48), FaultOrigin.NVML_EVENT, "XID 48: Double Bit ECC Error"));
    }

    private static Sign seen(int gpu, FaultCode fault, String message) {
        return new Sign.FaultSeen(StandInNvml.uuid(gpu), "", fault, FaultOrigin.POLL, message);
    }

    private void awaitSign(Sign wanted) {
        await().untilAsserted(() -> {
            signs.addAll(source.await(Duration.ofMillis(20)));
            assertThat(signs).contains(wanted);
        });
    }
}
