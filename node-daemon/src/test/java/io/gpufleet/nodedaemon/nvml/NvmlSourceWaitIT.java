package io.gpufleet.nodedaemon.nvml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import io.gpufleet.nodedaemon.model.fault.FaultCode.WithoutCode;
import io.gpufleet.nodedaemon.model.fault.FaultCode.Xid;
import io.gpufleet.nodedaemon.model.fault.FaultOrigin;
import io.gpufleet.nodedaemon.sysfs.SysfsPciDevices;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Waits for events that fail, and calls that hang: they cost no event of another GPU. */
class NvmlSourceWaitIT {
    private static final int GPU_IS_LOST = 15;

    @TempDir
    private Path root;

    private final List<DeviceEvent> events = new CopyOnWriteArrayList<>();

    private FakeNvml nvml;
    private NvmlSource source;

    @BeforeEach
    void install() {
        nvml = FakeNvml.install(root, 3);
        open(Duration.ofSeconds(30));
    }

    private void open(Duration deadline) {
        source = new NvmlSource(
                new NvmlSettings("", root, root, deadline, Duration.ofHours(1)), new SysfsPciDevices(root));
        assertThat(source.scan()).isInstanceOf(DeviceScan.ScanSucceeded.class);
    }

    @AfterEach
    void close() {
        source.close();
        nvml.close();
    }

    @Test
    void callThatHangsIsAFaultOfItsGpuAloneAndEndsWhenItReturns() {
        // Given
        source.close();
        open(Duration.ofSeconds(1));

        // When
        nvml.hang("nvmlDeviceGetUUID", 1);
        assertThat(source.sample()).hasSize(3);

        // Then
        awaitEvent(faultDetected(1, new WithoutCode(FaultKind.NVML_HUNG), "nvmlDeviceGetUtilizationRates: HUNG"));
        DeviceScan.ScanSucceeded scan = (DeviceScan.ScanSucceeded) source.scan();
        assertThat(scan.gpus()).hasSize(2);
        assertThat(scan.lost()).containsExactly(new DeviceScan.LostGpu(1, FakeNvml.busId(1), "HUNG"));
        assertThat(source.sample()).hasSize(2);
        assertThat(nvml.counter("hanging")).isEqualTo(1);

        // When
        nvml.clearRules();

        // Then
        await().until(() -> source.scan() instanceof DeviceScan.ScanSucceeded again
                && again.gpus().size() == 3);
        awaitEvent(
                new DeviceEvent.CauseResolved(FakeNvml.uuid(1), new WithoutCode(FaultKind.NVML_HUNG), "calls return"));
    }

    @Test
    void repeatedWaitFailuresAreOneFault() {
        // When
        long start = System.nanoTime();
        nvml.fail("nvmlEventSetWait_v2", -1, 999);

        // Then
        awaitEvent(new DeviceEvent.FaultDetected(
                "",
                "",
                new WithoutCode(FaultKind.EVENT_WAIT),
                FaultOrigin.POLL,
                "wait for NVML events failed: nvmlEventSetWait: UNKNOWN"));
        // There is a pause between two waits; those of before the failure took longer.
        assertThat((long) nvml.counter("waitCalls"))
                .isLessThan((System.nanoTime() - start) / NvmlEventWaiter.PAUSE_AFTER_FAILURE.toNanos() + 20);

        // When
        nvml.clearRules();

        // Then
        awaitEvent(new DeviceEvent.CauseResolved(
                "", new WithoutCode(FaultKind.EVENT_WAIT), "wait for NVML events recovered"));
    }

    @Test
    void xidAfterManyFailedWaitsIsReported() {
        // Given
        int before = nvml.counter("waitCalls");
        nvml.fail("nvmlEventSetWait_v2", -1, GPU_IS_LOST);
        await().until(() -> nvml.counter("waitCalls") >= before + 20);

        // When
        nvml.clearRules();
        nvml.xid(2, 48);

        // Then
        awaitEvent(xidDetected(2, 48, "XID 48: Double Bit ECC Error"));
    }

    @Test
    void gpuThatMakesEachWaitFailCostsNoEventOfTheOthers() {
        // Given
        nvml.gpu(1, "waitFails", GPU_IS_LOST);
        awaitEvent(new DeviceEvent.RescanRequested("nvmlEventSetWait: GPU_IS_LOST"));

        // When the scan that was requested is made
        assertThat(((DeviceScan.ScanSucceeded) source.scan()).gpus()).hasSize(3);
        nvml.xid(2, 48).xid(1, 48);

        // Then the others are heard while this GPU still fails, and this one is known to be only polled
        awaitEvent(xidDetected(2, 48, "XID 48: Double Bit ECC Error"));
        awaitEvent(faultDetected(
                1,
                new WithoutCode(FaultKind.EVENT_WAIT),
                "each wait for NVML events of the GPU fails, it is only polled: nvmlEventSetWait: GPU_IS_LOST"));
        assertThat(events).doesNotContain(xidDetected(1, 48, "XID 48: Double Bit ECC Error"));
        assertThat(nvml.counter("eventSets")).isEqualTo(1);
        assertThat(source.sample()).hasSize(3);

        // When
        nvml.gpu(1, "waitFails", 0);

        // Then a later scan registers it again
        await().untilAsserted(() -> {
            assertThat(source.scan()).isInstanceOf(DeviceScan.ScanSucceeded.class);
            nvml.xid(1, 48);
            events.addAll(source.await(Duration.ofMillis(200)));
            assertThat(events).contains(xidDetected(1, 48, "XID 48: Double Bit ECC Error"));
        });
        awaitEvent(new DeviceEvent.CauseResolved(
                FakeNvml.uuid(1), new WithoutCode(FaultKind.EVENT_WAIT), "wait for NVML events of the GPU recovered"));
    }

    @Test
    void gpuThatFailsFromTheStartCostsNoEventOfTheOthers() {
        // Given
        source.close();
        nvml.gpu(0, "waitFails", GPU_IS_LOST);
        open(Duration.ofSeconds(30));
        awaitEvent(new DeviceEvent.RescanRequested("nvmlEventSetWait: GPU_IS_LOST"));

        // When
        assertThat(source.scan()).isInstanceOf(DeviceScan.ScanSucceeded.class);
        nvml.xid(2, 48);

        // Then
        awaitEvent(xidDetected(2, 48, "XID 48: Double Bit ECC Error"));
    }

    @Test
    void allGpusThatFailAreAFaultOfTheNode() {
        // When
        nvml.gpu(0, "waitFails", 999).gpu(1, "waitFails", 999).gpu(2, "waitFails", 999);

        // Then
        awaitEvent(new DeviceEvent.FaultDetected(
                "",
                "",
                new WithoutCode(FaultKind.EVENT_WAIT),
                FaultOrigin.POLL,
                "wait for NVML events failed: nvmlEventSetWait: UNKNOWN"));
        assertThat(source.scan()).isInstanceOf(DeviceScan.ScanSucceeded.class);
        assertThat(events)
                .noneMatch(event -> event instanceof DeviceEvent.FaultDetected fault
                        && !fault.gpuUuid().isEmpty());

        // When
        nvml.gpu(0, "waitFails", 0).gpu(1, "waitFails", 0).gpu(2, "waitFails", 0);
        nvml.xid(2, 48);

        // Then
        awaitEvent(xidDetected(2, 48, "XID 48: Double Bit ECC Error"));
    }

    @Test
    @Timeout(60)
    void gpuThatHangsDelaysNoOther() {
        // Given a deadline that no test waits for
        source.close();
        open(Duration.ofMinutes(10));
        nvml.hang("nvmlDeviceGetUUID", 1);

        // When
        List<GpuSample> samples = source.sample();
        DeviceScan.ScanSucceeded scan = (DeviceScan.ScanSucceeded) source.scan();
        nvml.xid(2, 48);

        // Then the others are sampled, scanned and heard, and this one stays until the deadline
        assertThat(samples)
                .extracting(GpuSample::answers)
                .containsExactly(new Known<>(true), new Unavailable<>("BUSY"), new Known<>(true));
        assertThat(scan.gpus()).hasSize(3);
        awaitEvent(xidDetected(2, 48, "XID 48: Double Bit ECC Error"));
        assertThat(nvml.counter("hanging")).isEqualTo(1);

        // When
        nvml.clearRules();

        // Then
        await().until(() ->
                source.sample().stream().allMatch(sample -> sample.answers().equals(new Known<>(true))));
    }

    @Test
    @Timeout(60)
    void gpuWhoseRegistrationHangsCostsNoEventOfTheOthers() {
        // Given
        source.close();
        nvml.hang("nvmlDeviceRegisterEvents", 1);
        open(Duration.ofMinutes(10));

        // When
        nvml.xid(2, 48);

        // Then
        awaitEvent(xidDetected(2, 48, "XID 48: Double Bit ECC Error"));
        nvml.clearRules();
        await().until(() -> nvml.counter("hanging") == 0);
    }

    @Test
    void waitThatHangsIsSeen() {
        // Given a time that no wait takes that ends by itself
        Duration overdue = NvmlSettings.EVENT_WAIT_TIMEOUT.multipliedBy(2);

        nvml.hang("nvmlEventSetWait_v2", -1);

        await().until(() -> source.eventWaitInFlight().compareTo(overdue) > 0);

        nvml.clearRules();
        await().until(() -> source.eventWaitInFlight().compareTo(overdue) < 0);
    }

    private static DeviceEvent xidDetected(int gpu, int code, String message) {
        return new DeviceEvent.FaultDetected(FakeNvml.uuid(gpu), "", new Xid(code), FaultOrigin.NVML_EVENT, message);
    }

    private static DeviceEvent faultDetected(int gpu, FaultCode fault, String message) {
        return new DeviceEvent.FaultDetected(FakeNvml.uuid(gpu), "", fault, FaultOrigin.POLL, message);
    }

    private void awaitEvent(DeviceEvent wanted) {
        await().untilAsserted(() -> {
            events.addAll(source.await(Duration.ofMillis(20)));
            assertThat(events).contains(wanted);
        });
    }
}
