package io.gpufleet.nodedaemon.nvml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.DeviceScan.DriverProblem;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import io.gpufleet.nodedaemon.model.fault.FaultCode.WithoutCode;
import io.gpufleet.nodedaemon.model.fault.FaultCode.Xid;
import io.gpufleet.nodedaemon.model.fault.FaultOrigin;
import io.gpufleet.nodedaemon.sysfs.SysfsPciDevices;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Failures of the driver are values and end without a restart. */
class NvmlSourceFailureIT {
    /** Of one session: the one without GPUs, for system events, and the one that lists them. */
    private static final int INITIALISATIONS = 2;

    private static final int DRIVER_NOT_LOADED = 9;
    private static final int VERSION_MISMATCH = 18;

    @TempDir
    private Path root;

    private NvmlSource open(String library) {
        return open(library, Duration.ofSeconds(30));
    }

    private NvmlSource open(String library, Duration deadline) {
        return new NvmlSource(
                new NvmlSettings(library, root, root, deadline, Duration.ofHours(1)), new SysfsPciDevices(root));
    }

    @Test
    void driverThatIsNotLoadedIsWaitedFor() {
        try (FakeNvml nvml = FakeNvml.install(root, 2);
                NvmlSource source = open("")) {
            // Given
            nvml.fail("nvmlInit_v2", -1, DRIVER_NOT_LOADED);
            assertThat(source.scan())
                    .isEqualTo(new DeviceScan.ScanFailed(
                            DriverProblem.NOT_LOADED,
                            "nvmlInit: DRIVER_NOT_LOADED: no NVIDIA kernel driver is loaded"));

            // When
            nvml.clearRules();

            // Then
            assertThat(((DeviceScan.ScanSucceeded) source.scan()).gpus()).hasSize(2);
        }
    }

    @Test
    void driverThatGoesAwayLeavesNothingOpen() {
        try (FakeNvml nvml = FakeNvml.install(root, 2);
                NvmlSource source = open("")) {
            // Given
            assertThat(source.scan()).isInstanceOf(DeviceScan.ScanSucceeded.class);

            // When
            nvml.metric(0, 1, 50);
            assertThat(source.sample()).hasSize(2);
            nvml.fail("nvmlDeviceGetCount_v2", -1, 1).fail("nvmlInit_v2", -1, DRIVER_NOT_LOADED);

            // Then
            assertThat(((DeviceScan.ScanFailed) source.scan()).problem()).isEqualTo(DriverProblem.NOT_LOADED);
            assertThat(nvml.counter("openSessions")).isZero();
            assertThat(nvml.counter("eventSets")).isZero();

            // When
            nvml.clearRules();

            // Then
            assertThat(source.scan()).isInstanceOf(DeviceScan.ScanSucceeded.class);
        }
    }

    @Test
    void failureAmongTheGpusClosesWhatWasOpened() {
        try (FakeNvml nvml = FakeNvml.install(root, 2);
                NvmlSource source = open("")) {
            // Given
            nvml.fail("nvmlSystemGetDriverVersion", -1, 999);

            // Then
            assertThat(source.scan())
                    .isEqualTo(new DeviceScan.ScanFailed(DriverProblem.FAILED, "nvmlSystemGetDriverVersion: UNKNOWN"));
            assertThat(nvml.counter("openSessions")).isZero();
        }
    }

    @Test
    void upgradedDriverIsOpenedThroughItsNewLibrary() throws IOException {
        try (FakeNvml nvml = FakeNvml.install(root, 2);
                NvmlSource source = open("")) {
            // Given
            assertThat(((DeviceScan.ScanSucceeded) source.scan()).driverVersion())
                    .isEqualTo("570.124.06");
            nvml.fail("nvmlDeviceGetCount_v2", -1, VERSION_MISMATCH).fail("nvmlInit_v2", -1, VERSION_MISMATCH);
            assertThat(((DeviceScan.ScanFailed) source.scan()).problem()).isEqualTo(DriverProblem.VERSION_MISMATCH);

            // When
            nvml.clearRules().upgrade("575.57.08");

            // Then
            assertThat(((DeviceScan.ScanSucceeded) source.scan()).driverVersion())
                    .isEqualTo("575.57.08");
            assertThat(OwnProcessFiles.mapped(nvml.library()
                            .resolveSibling("libnvidia-ml.so.575.57.08")
                            .toString()))
                    .isTrue();
            assertThat(OwnProcessFiles.mapped(nvml.library()
                            .resolveSibling("libnvidia-ml.so.570.124.06")
                            .toString()))
                    .isFalse();
            nvml.xid(1, 48);
            awaitEvent(
                    source,
                    new DeviceEvent.FaultDetected(
                            FakeNvml.uuid(1), "", new Xid(48), FaultOrigin.NVML_EVENT, "XID 48: Double Bit ECC Error"));
        }
    }

    @Test
    void releasedSourceClosesEveryDescriptorAndOpensAgain() throws IOException {
        try (FakeNvml nvml = FakeNvml.install(root, 2);
                NvmlSource source = open("")) {
            // Given
            assertThat(source.scan()).isInstanceOf(DeviceScan.ScanSucceeded.class);
            assertThat(source.sample()).hasSize(2);
            assertThat(OwnProcessFiles.descriptors()).anyMatch(path -> path.endsWith("/nvidiactl"));
            assertThat(OwnProcessFiles.mapped(nvml.library().toRealPath().toString()))
                    .isTrue();

            // When
            source.release();

            // Then
            assertThat(OwnProcessFiles.descriptors()).noneMatch(path -> path.endsWith("/nvidiactl"));
            assertThat(nvml.counter("openSessions")).isZero();
            assertThat(nvml.counter("eventSets")).isZero();
            assertThat(nvml.counter("samples")).isZero();
            assertThat(nvml.counter("systemSets")).isZero();
            assertThat(nvml.counter("initCalls")).isEqualTo(nvml.counter("shutdownCalls"));
            assertThat(OwnProcessFiles.mapped(nvml.library().toRealPath().toString()))
                    .isFalse();

            // When
            assertThat(source.scan()).isInstanceOf(DeviceScan.ScanSucceeded.class);

            // Then
            assertThat(OwnProcessFiles.descriptors()).anyMatch(path -> path.endsWith("/nvidiactl"));
            assertThat(OwnProcessFiles.mapped(nvml.library().toRealPath().toString()))
                    .isTrue();
        }
    }

    @Test
    void libraryInWhichACallHangsStaysMappedAndWhatItWritesToStaysThere() throws IOException {
        try (FakeNvml nvml = FakeNvml.install(root, 2);
                NvmlSource source = open("", Duration.ofMillis(500))) {
            // Given
            assertThat(source.scan()).isInstanceOf(DeviceScan.ScanSucceeded.class);
            nvml.metric(0, 1, 50).metric(1, 1, 50).hang("nvmlGpmSampleGet", 1);
            assertThat(source.sample().get(1).answers()).isEqualTo(new Reading.Unavailable<>("HUNG"));

            assertThat(((DeviceScan.ScanSucceeded) source.scan()).gpus()).hasSize(1);

            // When
            source.release();

            // Then
            assertThat(OwnProcessFiles.mapped(nvml.library().toRealPath().toString()))
                    .isTrue();
            assertThat(nvml.counter("samples")).isEqualTo(4);
            nvml.clearRules();
            await().until(() -> nvml.counter("hanging") == 0);
        }
    }

    @Test
    void initialisationThatHangsIsAFaultOfTheNodeUntilItReturns() {
        try (FakeNvml nvml = FakeNvml.install(root, 2);
                NvmlSource source = open("", Duration.ofSeconds(1))) {
            // Given
            nvml.hang("nvmlInit_v2", -1);

            // Then
            assertThat(source.scan()).isEqualTo(new DeviceScan.ScanFailed(DriverProblem.FAILED, "nvmlInit: HUNG"));
            assertThat(source.scan()).isEqualTo(new DeviceScan.ScanFailed(DriverProblem.FAILED, "nvmlInit: HUNG"));
            assertThat(nvml.counter("hanging")).isEqualTo(1);
            awaitEvent(
                    source,
                    new DeviceEvent.FaultDetected(
                            "", "", new WithoutCode(FaultKind.NVML_HUNG), FaultOrigin.POLL, "nvmlInit: HUNG"));

            // When
            nvml.clearRules();

            // Then
            await().until(() -> source.scan() instanceof DeviceScan.ScanSucceeded);
            awaitEvent(
                    source,
                    new DeviceEvent.CauseResolved("", new WithoutCode(FaultKind.NVML_HUNG), "NVML responds again"));
            assertThat(nvml.counter("openSessions")).isEqualTo(INITIALISATIONS);
        }
    }

    @Test
    void initialisationThatHangsAndFailsKeepsNoLibraryMapped() throws IOException {
        try (FakeNvml nvml = FakeNvml.install(root, 2);
                NvmlSource source = open("", Duration.ofSeconds(1))) {
            // Given an initialisation that hangs, and fails once it returns
            nvml.hang("nvmlInitWithFlags", -1).fail("nvmlInit_v2", -1, DRIVER_NOT_LOADED);
            assertThat(source.scan()).isInstanceOf(DeviceScan.ScanFailed.class);
            String library = nvml.library().toRealPath().toString();
            assertThat(OwnProcessFiles.mapped(library)).isTrue();

            // When
            nvml.clearRules("nvmlInitWithFlags");

            // Then
            await().until(() -> {
                source.release();
                return !OwnProcessFiles.mapped(library);
            });
            assertThat(nvml.counter("openSessions")).isZero();
        }
    }

    @Test
    void driverThatHungAndCameBackIsReleasedInFull() throws IOException {
        try (FakeNvml nvml = FakeNvml.install(root, 2);
                NvmlSource source = open("", Duration.ofSeconds(1))) {
            // Given
            assertThat(source.scan()).isInstanceOf(DeviceScan.ScanSucceeded.class);
            nvml.hang("nvmlDeviceGetCount_v2", -1);
            assertThat(source.scan()).isEqualTo(new DeviceScan.ScanFailed(DriverProblem.FAILED, "nvmlInit: HUNG"));
            nvml.clearRules();
            await().until(() -> source.scan() instanceof DeviceScan.ScanSucceeded);

            // When
            source.release();

            // Then
            assertThat(nvml.counter("openSessions")).isZero();
            assertThat(OwnProcessFiles.descriptors()).noneMatch(path -> path.endsWith("/nvidiactl"));
        }
    }

    @Test
    void initialisationThatReturnsDuringReleaseIsShutDownToo() throws IOException {
        try (FakeNvml nvml = FakeNvml.install(root, 2);
                NvmlSource source = open("", Duration.ofSeconds(1))) {
            // Given an initialisation that hangs during a release
            nvml.hang("nvmlInit_v2", -1);
            assertThat(source.scan()).isInstanceOf(DeviceScan.ScanFailed.class);
            source.release();

            // When it returns
            nvml.clearRules();
            await().until(() -> nvml.counter("openSessions") == INITIALISATIONS);

            // Then another release shuts it down
            await().until(() -> {
                source.release();
                return nvml.counter("openSessions") == 0;
            });
            assertThat(OwnProcessFiles.descriptors()).noneMatch(path -> path.endsWith("/nvidiactl"));
        }
    }

    @Test
    void driverWithoutEventsIsPolled() {
        try (FakeNvml nvml = FakeNvml.install(root, 2);
                NvmlSource source = open("")) {
            // Given
            nvml.fail("nvmlEventSetCreate", -1, 3);
            assertThat(source.scan()).isInstanceOf(DeviceScan.ScanSucceeded.class);

            // When
            nvml.lost(0, true);

            // Then
            assertThat(source.sample().getFirst().answers()).isEqualTo(new Reading.Known<>(false));
            assertThat(nvml.counter("waitCalls")).isZero();
        }
    }

    private static void awaitEvent(NvmlSource source, DeviceEvent wanted) {
        List<DeviceEvent> events = new ArrayList<>();
        await().untilAsserted(() -> {
            events.addAll(source.await(Duration.ofMillis(20)));
            assertThat(events).contains(wanted);
        });
    }
}
