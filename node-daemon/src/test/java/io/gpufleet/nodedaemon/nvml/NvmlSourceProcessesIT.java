package io.gpufleet.nodedaemon.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.ComputeProcess;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.gpufleet.nodedaemon.sysfs.SysfsPciDevices;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compute processes read through the fake library. */
class NvmlSourceProcessesIT {
    private static final int NO_PERMISSION = 4;
    private static final int NOT_SUPPORTED = 3;
    private static final int UNSIGNED_PID = 4_194_303;

    @TempDir
    private Path root;

    private FakeNvml nvml;
    private NvmlSource source;

    @BeforeEach
    void install() {
        nvml = FakeNvml.install(root, 2);
        source = new NvmlSource(NvmlSettings.of("", root), new SysfsPciDevices(Path.of("/sys")));
    }

    @AfterEach
    void close() {
        source.close();
        nvml.close();
    }

    private Reading<List<ComputeProcess>> processes(int gpu) {
        assertThat(source.scan()).isInstanceOf(DeviceScan.ScanSucceeded.class);
        return source.sample().get(gpu).processes();
    }

    private static ComputeProcess process(int pid, String device, Reading<Long> bytes) {
        return new ComputeProcess(pid, device, bytes, ComputeProcess.NOT_ASKED);
    }

    @Test
    void processesAreListedWithTheirMemoryWhereItIsKnown() {
        nvml.process(1, 4242, 3L << 30).process(1, UNSIGNED_PID, -1);

        assertThat(processes(0)).isEqualTo(new Known<>(List.of()));
        assertThat(processes(1))
                .isEqualTo(new Known<>(List.of(
                        process(4242, FakeNvml.uuid(1), new Known<>(3L << 30)),
                        process(UNSIGNED_PID, FakeNvml.uuid(1), new Unavailable<>("NOT_AVAILABLE")))));
    }

    @Test
    void moreProcessesThanTheBufferHoldsAreAllListed() {
        IntStream.rangeClosed(1, 50).forEach(pid -> nvml.process(0, pid, pid));

        assertThat(processes(0))
                .isInstanceOfSatisfying(
                        Known.class,
                        known -> assertThat((List<?>) known.value()).hasSize(50));
    }

    @Test
    void clientsOfMpsAreListedOnce() {
        nvml.process(0, 1, 10).process(0, 2, 20, -1, true).process(0, 1, 10, -1, true);

        assertThat(processes(0))
                .isEqualTo(new Known<>(List.of(
                        process(1, FakeNvml.uuid(0), new Known<>(10L)),
                        process(2, FakeNvml.uuid(0), new Known<>(20L)))));
    }

    @Test
    void processOnAnInstanceIsListedWithIt() {
        nvml.gpu(1, "migMode", 1).mig(1, 0, "1g.10gb", 7).mig(1, 1, "1g.10gb", 8);
        nvml.process(1, 1, 10, 8, false).process(1, 1, 5, 7, false).process(1, 2, 20, 9, false);

        assertThat(processes(1))
                .isEqualTo(new Known<>(List.of(
                        process(1, FakeNvml.migUuid(1, 8), new Known<>(10L)),
                        process(1, FakeNvml.migUuid(1, 7), new Known<>(5L)),
                        process(2, "", new Known<>(20L)))));
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 32})
    void driverWhoseEntriesAreLongerOrShorterThanTheHeadersIsUnderstood(int size) {
        nvml.gpu(0, "processSize", size).gpu(1, "processSize", size);
        nvml.gpu(1, "migMode", 1).mig(1, 0, "1g.10gb", 7).process(1, 9, 90, 7, false);
        IntStream.rangeClosed(1, 40).forEach(pid -> nvml.process(0, pid, pid));

        assertThat(processes(0))
                .isEqualTo(new Known<>(IntStream.rangeClosed(1, 40)
                        .mapToObj(pid -> process(pid, FakeNvml.uuid(0), new Known<>((long) pid)))
                        .toList()));
        String instance = size == 16 ? "" : FakeNvml.migUuid(1, 7);
        assertThat(processes(1)).isEqualTo(new Known<>(List.of(process(9, instance, new Known<>(90L)))));
    }

    @Test
    void missingPermissionIsNotAnEmptyList() {
        nvml.fail("nvmlDeviceGetComputeRunningProcesses_v3", 0, NO_PERMISSION)
                .fail("nvmlDeviceGetMPSComputeRunningProcesses_v3", 1, NO_PERMISSION);

        assertThat(processes(0)).isEqualTo(new Unavailable<>("NO_PERMISSION"));
        assertThat(processes(1)).isEqualTo(new Unavailable<>("NO_PERMISSION"));
    }

    @Test
    void boardWithoutMpsListsTheOtherProcesses() {
        nvml.process(0, 1, 10).fail("nvmlDeviceGetMPSComputeRunningProcesses_v3", 0, NOT_SUPPORTED);

        assertThat(processes(0)).isEqualTo(new Known<>(List.of(process(1, FakeNvml.uuid(0), new Known<>(10L)))));
    }

    @Test
    void driverThatKnowsOnlyTheOldNameListsThemToo(@TempDir Path oldRoot) {
        try (FakeNvml old = FakeNvml.installOld(oldRoot, 1);
                var older = new NvmlSource(NvmlSettings.of("", oldRoot), new SysfsPciDevices(Path.of("/sys")))) {
            old.process(0, 7, 70);
            assertThat(older.scan()).isInstanceOf(DeviceScan.ScanSucceeded.class);

            assertThat(older.sample().getFirst().processes())
                    .isEqualTo(new Known<>(List.of(process(7, FakeNvml.uuid(0), new Known<>(70L)))));
        }
    }
}
