package io.gpufleet.nodedaemon.nvml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.RecoveryAction;
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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Events of the fake library, and what follows from them. */
class NvmlSourceEventsIT {
    private static final int GPU_RESET = 1;
    private static final int GPU_IS_LOST = 15;

    @TempDir
    private Path root;

    private final List<DeviceEvent> events = new CopyOnWriteArrayList<>();
    private static final int BIND = 2;

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
    void xidIsAFaultOfItsGpuAndNamedFromTheCatalogue() {
        // When
        nvml.xid(1, 79);

        // Then
        awaitEvent(new DeviceEvent.FaultDetected(
                FakeNvml.uuid(1), "", new Xid(79), FaultOrigin.NVML_EVENT, "XID 79: GPU has fallen off the bus"));
    }

    @Test
    void xidOfAMigInstanceNamesIt() {
        // Given
        nvml.gpu(0, "migMode", 1).mig(0, 0, "1g.10gb", 7).mig(0, 1, "2g.20gb", 2);
        assertThat(source.scan()).isInstanceOf(DeviceScan.ScanSucceeded.class);

        // When
        nvml.event(0, 0x8, 31, 2);

        // Then
        awaitEvent(new DeviceEvent.FaultDetected(
                FakeNvml.uuid(0),
                FakeNvml.migUuid(0, 2),
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
            events.addAll(source.await(Duration.ofMillis(50)));
            assertThat(events)
                    .filteredOn(DeviceEvent.FaultDetected.class::isInstance)
                    .extracting(event -> ((DeviceEvent.FaultDetected) event).fault())
                    .containsExactlyElementsOf(IntStream.range(1000, 1100)
                            .<FaultCode>mapToObj(Xid::new)
                            .toList());
        });
    }

    @Test
    void defectThatMeetsAnEventCostsNoLaterOne() {
        // Given a receiver with a defect at the first event
        var failed = new AtomicBoolean();
        source.deliverTo(event -> {
            if (failed.compareAndSet(false, true)) {
                throw new IllegalStateException("a defect");
            }
            events.add(event);
        });
        nvml.xid(1, 79);
        await().until(failed::get);

        // When
        nvml.xid(2, 79);

        // Then
        await().untilAsserted(
                        () -> assertThat(events).contains(xidDetected(2, 79, "XID 79: GPU has fallen off the bus")));
    }

    @Test
    void recoveryActionIsReadByThePollAndNotReportedAsAFault() {
        // Given
        nvml.gpu(1, "recoveryAction", GPU_RESET).xid(1, 119);
        awaitEvent(xidDetected(1, 119, "XID 119: GSP RPC Timeout"));

        // Then
        assertThat(source.sample().get(1).recoveryAction()).isEqualTo(new Known<>(RecoveryAction.GPU_RESET));

        // When
        nvml.gpu(1, "recoveryAction", 0);

        // Then
        assertThat(source.sample().get(1).recoveryAction()).isEqualTo(new Known<>(RecoveryAction.NONE));
        events.addAll(source.await(Duration.ofMillis(200)));
        assertThat(events).hasSize(1);
    }

    @Test
    void everyRecoveryActionOfTheLibraryIsReadByItsNumber() {
        for (RecoveryAction action : RecoveryAction.values()) {
            nvml.gpu(1, "recoveryAction", action.ordinal());

            assertThat(source.sample().get(1).recoveryAction()).isEqualTo(new Known<>(action));
        }
        nvml.gpu(1, "recoveryAction", 99);
        assertThat(source.sample().get(1).recoveryAction()).isEqualTo(new Known<>(RecoveryAction.UNKNOWN));
    }

    @Test
    void changedRecoveryActionRequestsAPoll() {
        // When
        nvml.event(1, 0x8000, 0, -1).event(2, 0x4000, 0, -1);

        // Then
        awaitEvent(new DeviceEvent.PollRequested("readings of " + FakeNvml.uuid(1) + " changed"));
        awaitEvent(new DeviceEvent.PollRequested("readings of " + FakeNvml.uuid(2) + " changed"));
    }

    @Test
    void gpuThatIsLostWithoutAnEventIsNoticedAndSoIsItsReturn() {
        // When
        nvml.lost(2, true);

        // Then
        assertThat(source.sample().get(2).answers()).isEqualTo(new Known<>(false));
        awaitEvent(new DeviceEvent.RescanRequested(
                FakeNvml.uuid(2) + " does not respond: nvmlDeviceGetUUID: GPU_IS_LOST"));
        assertThat(((DeviceScan.ScanSucceeded) source.scan()).lost()).hasSize(1);

        // When
        nvml.lost(2, false);

        // Then
        assertThat(((DeviceScan.ScanSucceeded) source.scan()).gpus()).hasSize(3);
        assertThat(source.sample().get(2).answers()).isEqualTo(new Known<>(true));
    }

    @Test
    void gpuWhoseMemoryIsLostDoesNotRespond() {
        // When
        nvml.fail("nvmlDeviceGetMemoryInfo_v2", 1, GPU_IS_LOST).fail("nvmlDeviceGetMemoryInfo", 1, GPU_IS_LOST);

        // Then
        assertThat(source.sample().get(1).answers()).isEqualTo(new Known<>(false));
        assertThat(((DeviceScan.ScanSucceeded) source.scan()).lost()).hasSize(1);
    }

    @Test
    void gpuThatCameBackReportsEventsAgain() {
        // Given
        nvml.lost(1, true);
        assertThat(((DeviceScan.ScanSucceeded) source.scan()).gpus()).hasSize(2);
        nvml.lost(1, false);
        assertThat(((DeviceScan.ScanSucceeded) source.scan()).gpus()).hasSize(3);

        // When
        nvml.xid(1, 48);

        // Then
        awaitEvent(new DeviceEvent.FaultDetected(
                FakeNvml.uuid(1), "", new Xid(48), FaultOrigin.NVML_EVENT, "XID 48: Double Bit ECC Error"));
        assertThat(nvml.counter("eventSets")).isEqualTo(1);
    }

    @Test
    void gpuThatAppearedLaterReportsEventsToo() {
        // Given
        nvml.gpus(4).systemEvent(BIND);
        assertThat(source.sample()).hasSize(3);
        assertThat(((DeviceScan.ScanSucceeded) source.scan()).gpus()).hasSize(4);

        // When
        nvml.xid(3, 48);

        // Then
        awaitEvent(new DeviceEvent.FaultDetected(
                FakeNvml.uuid(3), "", new Xid(48), FaultOrigin.NVML_EVENT, "XID 48: Double Bit ECC Error"));
        assertThat(nvml.counter("eventSets")).isEqualTo(1);
    }

    @Test
    void otherEventsAreMappedToDeviceEvents() {
        // When
        nvml.event(0, 0x2, 0, -1).event(1, 0x100, 0, -1);

        // Then
        awaitEvent(new DeviceEvent.FaultDetected(
                FakeNvml.uuid(0),
                "",
                new WithoutCode(FaultKind.ECC_UNCORRECTABLE),
                FaultOrigin.NVML_EVENT,
                "uncorrectable ECC error"));
        awaitEvent(new DeviceEvent.RescanRequested("MIG configuration of " + FakeNvml.uuid(1) + " changed"));
    }

    @Test
    void driverThatIsBoundOrUnboundIsScannedAgain() {
        // When
        nvml.systemEvent(1);
        assertThat(source.sample()).hasSize(3);

        // Then
        awaitEvent(new DeviceEvent.RescanRequested("the driver was bound to a GPU or unbound from one"));
        assertThat(nvml.counter("systemSets")).isEqualTo(1);
    }

    @Test
    void gpuPutInThePlaceOfAnotherReportsItsOwnEvents() {
        // Given
        nvml.gpu(1, "uuid", FakeNvml.uuid(9)).systemEvent(BIND);
        assertThat(source.sample()).hasSize(3);
        assertThat(source.scan()).isInstanceOf(DeviceScan.ScanSucceeded.class);

        // When
        nvml.xid(1, 48);

        // Then
        awaitEvent(new DeviceEvent.FaultDetected(
                FakeNvml.uuid(9), "", new Xid(48), FaultOrigin.NVML_EVENT, "XID 48: Double Bit ECC Error"));
    }

    private static DeviceEvent xidDetected(int gpu, int code, String message) {
        return new DeviceEvent.FaultDetected(FakeNvml.uuid(gpu), "", new Xid(code), FaultOrigin.NVML_EVENT, message);
    }

    private void awaitEvent(DeviceEvent wanted) {
        await().untilAsserted(() -> {
            events.addAll(source.await(Duration.ofMillis(20)));
            assertThat(events).contains(wanted);
        });
    }
}
