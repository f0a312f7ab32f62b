package io.gpufleet.nodedaemon.nvml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.model.FaultCode.Kind;
import io.gpufleet.nodedaemon.model.FaultCode.Plain;
import io.gpufleet.nodedaemon.model.FaultCode.Xid;
import io.gpufleet.nodedaemon.model.FaultOrigin;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Look.DriverTrouble;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Sign;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever is wrong with the driver is a value, and ends without a restart. */
class NvmlTroubleIT {
    private static final int DRIVER_NOT_LOADED = 9;
    private static final int VERSION_MISMATCH = 18;

    @TempDir
    private Path root;

    private NvmlSource open(String library) {
        return open(library, Duration.ofSeconds(30));
    }

    private NvmlSource open(String library, Duration deadline) {
        return new NvmlSource(
                new NvmlSettings(library, root, root, root, deadline, Duration.ofMillis(50), Duration.ofHours(1)));
    }

    @Test
    void aDriverThatIsNotLoadedIsWaitedFor() {
        try (StandInNvml nvml = StandInNvml.install(root, 2);
                NvmlSource source = open("")) {
            // Given
            nvml.fail("nvmlInit_v2", -1, DRIVER_NOT_LOADED);
            assertThat(source.look())
                    .isEqualTo(new Look.Blind(
                            DriverTrouble.NOT_LOADED,
                            "nvmlInit: DRIVER_NOT_LOADED: no NVIDIA kernel driver is loaded"));

            // When
            nvml.clearRules();

            // Then
            assertThat(((Look.Seen) source.look()).gpus()).hasSize(2);
        }
    }

    @Test
    void aDriverThatGoesAwayLeavesNothingOpen() {
        try (StandInNvml nvml = StandInNvml.install(root, 2);
                NvmlSource source = open("")) {
            // Given
            assertThat(source.look()).isInstanceOf(Look.Seen.class);

            // When
            nvml.metric(0, 1, 50);
            assertThat(source.vitals()).hasSize(2);
            nvml.fail("nvmlDeviceGetCount_v2", -1, 1).fail("nvmlInit_v2", -1, DRIVER_NOT_LOADED);

            // Then
            assertThat(((Look.Blind) source.look()).trouble()).isEqualTo(DriverTrouble.NOT_LOADED);
            assertThat(nvml.counter("openSessions")).isZero();
            assertThat(nvml.counter("eventSets")).isZero();

            // When
            nvml.clearRules();

            // Then
            assertThat(source.look()).isInstanceOf(Look.Seen.class);
        }
    }

    @Test
    void aFailureAmongTheGpusClosesWhatWasOpened() {
        try (StandInNvml nvml = StandInNvml.install(root, 2);
                NvmlSource source = open("")) {
            // Given
            nvml.fail("nvmlSystemGetDriverVersion", -1, 999);

            // Then
            assertThat(source.look())
                    .isEqualTo(new Look.Blind(DriverTrouble.FAILED, "nvmlSystemGetDriverVersion: UNKNOWN"));
            assertThat(nvml.counter("openSessions")).isZero();
        }
    }

    @Test
    void anUpgradedDriverIsOpenedThroughItsNewLibrary() throws IOException {
        try (StandInNvml nvml = StandInNvml.install(root, 2);
                NvmlSource source = open("")) {
            // Given
            assertThat(((Look.Seen) source.look()).driverVersion()).isEqualTo("570.124.06");
            nvml.fail("nvmlDeviceGetCount_v2", -1, VERSION_MISMATCH).fail("nvmlInit_v2", -1, VERSION_MISMATCH);
            assertThat(((Look.Blind) source.look()).trouble()).isEqualTo(DriverTrouble.VERSION_MISMATCH);

            // When
            nvml.clearRules().upgrade("575.57.08");

            // Then
            assertThat(((Look.Seen) source.look()).driverVersion()).isEqualTo("575.57.08");
            assertThat(OwnProcess.mapped(nvml.library()
                            .resolveSibling("libnvidia-ml.so.575.57.08")
                            .toString()))
                    .isTrue();
            assertThat(OwnProcess.mapped(nvml.library()
                            .resolveSibling("libnvidia-ml.so.570.124.06")
                            .toString()))
                    .isFalse();
            nvml.xid(1, 48);
            awaitSign(
                    source,
                    new Sign.FaultSeen(
                            StandInNvml.uuid(1),
                            "",
                            new Xid(48),
                            FaultOrigin.NVML_EVENT,
                            "XID 48: Double Bit ECC Error"));
        }
    }

    @Test
    void whatIsLetGoIsClosedToTheLastDescriptorAndOpensAgain() throws IOException {
        try (StandInNvml nvml = StandInNvml.install(root, 2);
                NvmlSource source = open("")) {
            // Given
            assertThat(source.look()).isInstanceOf(Look.Seen.class);
            assertThat(source.vitals()).hasSize(2);
            assertThat(OwnProcess.descriptors()).anyMatch(path -> path.endsWith("/nvidiactl"));
            assertThat(OwnProcess.mapped(nvml.library().toRealPath().toString()))
                    .isTrue();

            // When
            source.release();

            // Then
            assertThat(OwnProcess.descriptors()).noneMatch(path -> path.endsWith("/nvidiactl"));
            assertThat(nvml.counter("openSessions")).isZero();
            assertThat(nvml.counter("eventSets")).isZero();
            assertThat(nvml.counter("samples")).isZero();
            assertThat(nvml.counter("systemSets")).isZero();
            assertThat(nvml.counter("initCalls")).isEqualTo(nvml.counter("shutdownCalls"));
            assertThat(OwnProcess.mapped(nvml.library().toRealPath().toString()))
                    .isFalse();

            // When
            assertThat(source.look()).isInstanceOf(Look.Seen.class);

            // Then
            assertThat(OwnProcess.descriptors()).anyMatch(path -> path.endsWith("/nvidiactl"));
            assertThat(OwnProcess.mapped(nvml.library().toRealPath().toString()))
                    .isTrue();
        }
    }

    @Test
    void aLibraryInWhichACallHangsStaysMappedAndWhatItWritesToStaysThere() throws IOException {
        try (StandInNvml nvml = StandInNvml.install(root, 2);
                NvmlSource source = open("", Duration.ofMillis(500))) {
            // Given
            assertThat(source.look()).isInstanceOf(Look.Seen.class);
            nvml.metric(0, 1, 50).metric(1, 1, 50).hang("nvmlGpmSampleGet", 1);
            assertThat(source.vitals().get(1).answers()).isEqualTo(new Reading.Unavailable<>("HUNG"));

            assertThat(((Look.Seen) source.look()).gpus()).hasSize(1);

            // When
            source.release();

            // Then
            assertThat(OwnProcess.mapped(nvml.library().toRealPath().toString()))
                    .isTrue();
            assertThat(nvml.counter("samples")).isEqualTo(4);
            nvml.clearRules();
            await().until(() -> nvml.counter("hanging") == 0);
        }
    }

    @Test
    void anInitialisationThatHangsIsAFactOfTheNodeUntilItReturns() {
        try (StandInNvml nvml = StandInNvml.install(root, 2);
                NvmlSource source = open("", Duration.ofSeconds(1))) {
            // Given
            nvml.hang("nvmlInit_v2", -1);

            // Then
            assertThat(source.look()).isEqualTo(new Look.Blind(DriverTrouble.FAILED, "nvmlInit: HUNG"));
            assertThat(source.look()).isEqualTo(new Look.Blind(DriverTrouble.FAILED, "nvmlInit: HUNG"));
            assertThat(nvml.counter("hanging")).isEqualTo(1);
            awaitSign(
                    source, new Sign.FaultSeen("", "", new Plain(Kind.NVML_HUNG), FaultOrigin.POLL, "nvmlInit: HUNG"));

            // When
            nvml.clearRules();

            // Then
            await().until(() -> source.look() instanceof Look.Seen);
            awaitSign(source, new Sign.CauseGone("", new Plain(Kind.NVML_HUNG), "NVML answers again"));
            assertThat(nvml.counter("openSessions")).isEqualTo(1);
        }
    }

    @Test
    void aDriverThatHungAndCameBackIsLetGoInFull() throws IOException {
        try (StandInNvml nvml = StandInNvml.install(root, 2);
                NvmlSource source = open("", Duration.ofSeconds(1))) {
            // Given
            assertThat(source.look()).isInstanceOf(Look.Seen.class);
            nvml.hang("nvmlDeviceGetCount_v2", -1);
            assertThat(source.look()).isEqualTo(new Look.Blind(DriverTrouble.FAILED, "nvmlInit: HUNG"));
            nvml.clearRules();
            await().until(() -> source.look() instanceof Look.Seen);

            // When
            source.release();

            // Then
            assertThat(nvml.counter("openSessions")).isZero();
            assertThat(OwnProcess.descriptors()).noneMatch(path -> path.endsWith("/nvidiactl"));
        }
    }

    @Test
    void anInitialisationThatComesWhileTheDriverIsLetGoIsLetGoToo() throws IOException {
        try (StandInNvml nvml = StandInNvml.install(root, 2);
                NvmlSource source = open("", Duration.ofSeconds(1))) {
            // Given an initialisation that hangs, and somebody who wants the driver
            nvml.hang("nvmlInit_v2", -1);
            assertThat(source.look()).isInstanceOf(Look.Blind.class);
            source.release();

            // When it comes after all
            nvml.clearRules();
            await().until(() -> nvml.counter("openSessions") == 1);

            // Then letting go once more ends it
            await().until(() -> {
                source.release();
                return nvml.counter("openSessions") == 0;
            });
            assertThat(OwnProcess.descriptors()).noneMatch(path -> path.endsWith("/nvidiactl"));
        }
    }

    @Test
    void aDriverWithoutEventsIsPolled() {
        try (StandInNvml nvml = StandInNvml.install(root, 2);
                NvmlSource source = open("")) {
            // Given
            nvml.fail("nvmlEventSetCreate", -1, 3);
            assertThat(source.look()).isInstanceOf(Look.Seen.class);

            // When
            nvml.lost(0, true);

            // Then
            awaitSign(
                    source,
                    new Sign.FaultSeen(
                            StandInNvml.uuid(0),
                            "",
                            new Plain(Kind.GPU_LOST),
                            FaultOrigin.POLL,
                            "nvmlDeviceGetUUID: GPU_IS_LOST"));
            assertThat(nvml.counter("waitCalls")).isZero();
        }
    }

    private static void awaitSign(NvmlSource source, Sign wanted) {
        List<Sign> signs = new ArrayList<>();
        await().untilAsserted(() -> {
            signs.addAll(source.await(Duration.ofMillis(20)));
            assertThat(signs).contains(wanted);
        });
    }
}
