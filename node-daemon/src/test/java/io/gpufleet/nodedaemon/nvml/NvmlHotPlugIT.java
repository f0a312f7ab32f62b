package io.gpufleet.nodedaemon.nvml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.PciAddress;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import io.gpufleet.nodedaemon.model.fault.FaultCode.Xid;
import io.gpufleet.nodedaemon.model.fault.FaultOrigin;
import io.gpufleet.nodedaemon.sysfs.FakePciBus;
import io.gpufleet.nodedaemon.sysfs.SysfsPciDevices;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** GPUs that come and go while NVML is open, with a library whose sessions see only what was there at their begin. */
class NvmlHotPlugIT {
    private static final int UNBIND = 1;
    private static final int BIND = 2;
    private static final int GPUS = 8;

    @TempDir
    private Path root;

    private final List<DeviceEvent> events = new ArrayList<>();
    private FakePciBus bus;
    private FakeNvml nvml;
    private NvmlSource source;

    @BeforeEach
    void install() {
        bus = new FakePciBus(root.resolve("sys"));
        nvml = FakeNvml.install(root, GPUS);
        for (int i = 0; i < GPUS; i++) {
            bus.bind(address(i), "nvidia");
        }
        source = open(nvml.driverRoot());
        assertThat(scan().gpus()).hasSize(GPUS);
    }

    private NvmlSource open(Path driverRoot) {
        return new NvmlSource(
                new NvmlSettings("", driverRoot, root, Duration.ofMinutes(10), Duration.ofHours(1)),
                new SysfsPciDevices(root.resolve("sys")));
    }

    @AfterEach
    void close() {
        nvml.clearRules();
        source.close();
        assertThat(nvml.counter("staleHandles")).isZero();
        nvml.close();
    }

    private static String address(int gpu) {
        return PciAddress.parse(FakeNvml.busId(gpu)).orElseThrow().sysfs();
    }

    private DeviceScan.ScanSucceeded scan() {
        return (DeviceScan.ScanSucceeded) source.scan();
    }

    private void removeFromDriver(int gpu, int of) {
        for (int i = gpu; i < of - 1; i++) {
            nvml.gpu(i, "uuid", FakeNvml.uuid(i + 1)).gpu(i, "busId", FakeNvml.busId(i + 1));
        }
        nvml.gpus(of - 1);
    }

    @Test
    void gpuThatWasBoundIsSeenByTheScanThatItsEventRequests() {
        // When
        nvml.gpus(GPUS + 1).systemEvent(BIND);
        assertThat(source.sample()).hasSize(GPUS);

        // Then
        awaitEvent(new DeviceEvent.RescanRequested("the driver was bound to a GPU or unbound from one"));
        assertThat(scan().gpus()).hasSize(GPUS + 1);
        assertThat(source.sample()).hasSize(GPUS + 1);
        nvml.xid(GPUS, 48);
        awaitEvent(new DeviceEvent.FaultDetected(
                FakeNvml.uuid(GPUS), "", new Xid(48), FaultOrigin.NVML_EVENT, "XID 48: Double Bit ECC Error"));
    }

    @Test
    void gpuThatWasBoundWithoutAnEventIsSeenByTheNextScan() {
        // When
        nvml.gpus(GPUS + 1);
        bus.bind(address(GPUS), "nvidia");

        // Then
        assertThat(scan().gpus()).hasSize(GPUS + 1);
        assertThat(nvml.counter("generations")).isEqualTo(2);
    }

    @Test
    void gpuOfAnotherDriverIsNoReasonForAnotherSession() {
        // When
        bus.bind(address(GPUS), "vfio-pci").plug(address(GPUS + 1));

        // Then
        assertThat(scan().gpus()).hasSize(GPUS);
        assertThat(nvml.counter("generations")).isEqualTo(1);
    }

    @Test
    void gpuThatTheDriverNeverListsCostsOneMoreSessionAndNoneAtTheNextScans() {
        // When
        bus.bind(address(GPUS), "nvidia");
        IntStream.range(0, 10).forEach(_ -> assertThat(scan().gpus()).hasSize(GPUS));

        // Then
        assertThat(nvml.counter("generations")).isEqualTo(2);
    }

    @Test
    void removedGpuIsGoneAndTheOthersKeepTheirIdentity() {
        // When
        removeFromDriver(3, GPUS);
        bus.remove(address(3));

        // Then
        DeviceScan.ScanSucceeded after = scan();
        assertThat(after.gpus())
                .extracting(Gpu::uuid)
                .containsExactly(IntStream.range(0, GPUS)
                        .filter(i -> i != 3)
                        .mapToObj(FakeNvml::uuid)
                        .toArray(String[]::new));
        assertThat(after.lost()).isEmpty();
    }

    @Test
    void gpuThatIsLostAfterAnotherOneWasRemovedIsNotTakenForThatOne() {
        // Given GPU 1 is taken out, so that GPU 2 has its index in the next session
        removeFromDriver(1, GPUS);
        bus.remove(address(1));
        nvml.lost(1, true);

        // Then
        assertThat(scan().lost()).containsExactly(new DeviceScan.LostGpu(1, FakeNvml.busId(2), "GPU_IS_LOST"));
    }

    @Test
    void reloadOfEightGpusIsOneMoreSessionAndItsSixteenEventsAreTaken() {
        // When
        IntStream.range(0, GPUS).forEach(_ -> nvml.systemEvent(UNBIND));
        IntStream.range(0, GPUS).forEach(_ -> nvml.systemEvent(BIND));
        assertThat(source.sample()).hasSize(GPUS);
        assertThat(scan().gpus()).hasSize(GPUS);

        // Then
        assertThat(source.sample()).hasSize(GPUS);
        assertThat(scan().gpus()).hasSize(GPUS);
        assertThat(nvml.counter("generations")).isEqualTo(2);
    }

    @Test
    void moreSystemEventsThanRoomAreTakenWithoutWaiting() {
        // When
        IntStream.range(0, 40).forEach(_ -> nvml.systemEvent(BIND));
        assertThat(source.sample()).hasSize(GPUS);

        // Then
        awaitEvent(new DeviceEvent.RescanRequested("the driver was bound to a GPU or unbound from one"));
        events.clear();
        assertThat(source.sample()).hasSize(GPUS);
        events.addAll(source.await(Duration.ZERO));
        assertThat(events).isEmpty();
        assertThat(nvml.counter("systemSleeps")).isZero();
    }

    @Test
    void anotherSessionEndsWhatTheFirstOneOpened() {
        // When
        nvml.gpus(GPUS + 1);
        bus.bind(address(GPUS), "nvidia");
        int validations = nvml.counter("validations");
        assertThat(source.sample()).hasSize(GPUS);
        assertThat(scan().gpus()).hasSize(GPUS + 1);

        // Then
        assertThat(nvml.counter("eventSets")).isEqualTo(1);
        assertThat(nvml.counter("systemSets")).isEqualTo(1);
        assertThat(nvml.counter("shutdownCalls")).isEqualTo(nvml.counter("initCalls") / 2);
        assertThat(source.sample()).hasSize(GPUS + 1);
        assertThat(nvml.counter("validations"))
                .as("the InfoROMs that were validated are not read again")
                .isEqualTo(validations + GPUS + 1);
    }

    @Test
    void sessionOutlivesACallThatHangsAndTheNewGpuIsSeenWhenItReturns() {
        // Given
        nvml.hang("nvmlDeviceGetUUID", 1);
        assertThat(source.sample()).hasSize(GPUS);

        // When
        nvml.gpus(GPUS + 1);
        bus.bind(address(GPUS), "nvidia");

        // Then the others stay served by the session that they are in
        assertThat(scan().gpus()).hasSize(GPUS);
        nvml.xid(2, 48);
        awaitEvent(new DeviceEvent.FaultDetected(
                FakeNvml.uuid(2), "", new Xid(48), FaultOrigin.NVML_EVENT, "XID 48: Double Bit ECC Error"));
        assertThat(nvml.counter("generations")).isEqualTo(1);

        // When
        nvml.clearRules();

        // Then
        await().until(() -> scan().gpus().size() == GPUS + 1);
        assertThat(nvml.counter("shutdownsDuringCalls")).isZero();
    }

    @Test
    void restartIsRequestedOnceWhereACallThatHangsHidesANewGpu() {
        // Given
        source.close();
        source = new NvmlSource(
                new NvmlSettings("", nvml.driverRoot(), root, Duration.ofSeconds(3), Duration.ofHours(1)),
                new SysfsPciDevices(root.resolve("sys")));
        assertThat(scan().gpus()).hasSize(GPUS);
        nvml.hang("nvmlDeviceGetUUID", 1);
        assertThat(source.sample()).hasSize(GPUS);
        // When
        nvml.gpus(GPUS + 1);
        bus.bind(address(GPUS), "nvidia");
        List<DeviceEvent> restarts = new ArrayList<>();
        await().until(() -> {
            source.scan();
            source.await(Duration.ZERO).stream()
                    .filter(DeviceEvent.RestartRequested.class::isInstance)
                    .forEach(restarts::add);
            return !restarts.isEmpty();
        });
        // Then
        source.scan();
        assertThat(source.await(Duration.ZERO)).noneMatch(DeviceEvent.RestartRequested.class::isInstance);
        assertThat(restarts)
                .containsExactly(new DeviceEvent.RestartRequested(
                        "GPUs came or went, and no session begins while a call hangs"));
    }

    @Test
    void callThatReturnsAfterItsSessionUsesNoHandleOfIt() {
        // Given
        nvml.hang("nvmlDeviceGetMemoryInfo_v2", 1);
        assertThat(source.sample()).hasSize(GPUS);

        // When the driver ends the session and another one begins
        nvml.fail("nvmlDeviceGetCount_v2", -1, 1).fail("nvmlInitWithFlags", -1, 9);
        nvml.fail("nvmlInit_v2", -1, 9);
        assertThat(source.scan()).isInstanceOf(DeviceScan.ScanFailed.class);
        nvml.clearRules();
        await().until(() -> source.scan() instanceof DeviceScan.ScanSucceeded);

        // Then
        await().until(() -> nvml.counter("hanging") == 0);
        await().until(() -> source.sample().size() == GPUS);
        assertThat(nvml.counter("staleHandles")).isZero();
    }

    @Test
    void driverWithoutSystemEventsIsReadAgainWhenTheKernelHasAnotherGpu(@TempDir Path oldRoot) {
        try (FakeNvml old = FakeNvml.installOld(oldRoot, GPUS);
                NvmlSource oldSource = open(oldRoot)) {
            // Given
            assertThat(((DeviceScan.ScanSucceeded) oldSource.scan()).gpus()).hasSize(GPUS);

            // When
            old.gpus(GPUS + 1);
            bus.bind(address(GPUS), "nvidia");

            // Then
            assertThat(((DeviceScan.ScanSucceeded) oldSource.scan()).gpus()).hasSize(GPUS + 1);
        }
    }

    private void awaitEvent(DeviceEvent wanted) {
        await().untilAsserted(() -> {
            events.addAll(source.await(Duration.ofMillis(20)));
            assertThat(events).contains(wanted);
        });
    }
}
