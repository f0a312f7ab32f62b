package io.gpufleet.nodedaemon.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.app.DoctorFinding;
import io.gpufleet.nodedaemon.app.DoctorFinding.Status;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checks of kernel files, good and bad. */
class KernelCheckTest {
    private static final DeviceScan SCAN_FAILED = new DeviceScan.ScanFailed(DeviceScan.DriverProblem.NOT_LOADED, "");

    @TempDir
    private Path root;

    private KernelCheck check;

    @BeforeEach
    void createCheck() {
        check = new KernelCheck(root);
    }

    private void file(String name, String content) throws IOException {
        Path file = root.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, content);
    }

    private static DeviceScan scan(String driver) {
        return new DeviceScan.ScanSucceeded(driver, "12.8", List.of(TestGpus.gpu(0)), List.of());
    }

    @Test
    void driverIsNamedByItsVersionAndComparedWithTheLibrary() throws IOException {
        assertThat(check.driver(SCAN_FAILED).status()).isEqualTo(Status.FAIL);
        file(
                "proc/driver/nvidia/version",
                "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.124.06  Release Build\nGCC version: 12.3.0\n");

        assertThat(check.driver(scan("570.124.06"))).isEqualTo(DoctorFinding.ok("kernel driver", "570.124.06"));
        assertThat(check.driver(scan("580.65.06")).status()).isEqualTo(Status.WARN);
        assertThat(check.driver(scan("580.65.06")).found()).contains("570.124.06", "580.65.06");
    }

    @Test
    void missingDeviceNodesAreNamed() throws IOException {
        file("dev/nvidiactl", "");
        file("dev/nvidia0", "");
        assertThat(check.nodes(List.of(TestGpus.gpu(0), TestGpus.gpu(1))).found())
                .isEqualTo("missing: /dev/nvidia-uvm, /dev/nvidia1");

        file("dev/nvidia-uvm", "");
        assertThat(check.nodes(List.of(TestGpus.gpu(0))).status()).isEqualTo(Status.OK);
    }

    @Test
    void gpusOnTheBusAreCountedWithoutADriver() throws IOException {
        assertThat(check.pciDevices(root.resolve("sys"))).isEqualTo(-1);
        file("sys/bus/pci/devices/0000:07:00.0/vendor", "0x10de\n");
        file("sys/bus/pci/devices/0000:07:00.0/class", "0x030200\n");
        file("sys/bus/pci/devices/0000:07:00.1/vendor", "0x10de\n");
        file("sys/bus/pci/devices/0000:07:00.1/class", "0x068000\n");
        file("sys/bus/pci/devices/0000:00:02.0/vendor", "0x8086\n");
        file("sys/bus/pci/devices/0000:00:02.0/class", "0x030000\n");

        assertThat(check.pciDevices(root.resolve("sys"))).isEqualTo(1);
    }

    @Test
    void inotifyThatIsNearlyUsedUpIsAWarningWithTheCommandThatHelps() throws IOException {
        file("proc/sys/fs/inotify/max_user_instances", "4\n");
        Files.createDirectories(root.resolve("proc/17/fd"));
        for (int descriptor = 0; descriptor < 3; descriptor++) {
            Files.createSymbolicLink(root.resolve("proc/17/fd/" + descriptor), Path.of("anon_inode:inotify"));
        }
        assertThat(check.inotify()).isEqualTo(DoctorFinding.ok("inotify", "3 of 4 instances used"));

        Files.createSymbolicLink(root.resolve("proc/17/fd/3"), Path.of("anon_inode:inotify"));

        assertThat(check.inotify().status()).isEqualTo(Status.WARN);
        assertThat(check.inotify().remedy()).startsWith("sysctl fs.inotify.max_user_instances=8");
    }

    @Test
    void privilegesAreReadFromTheCapabilityMask() throws IOException {
        file("proc/self/status", "Name:\tjava\nCapEff:\t00000000a80425fb\n");
        assertThat(check.privileges().status()).isEqualTo(Status.WARN);
        file("proc/self/status", "Name:\tjava\nCapEff:\t000001ffffffffff\n");
        assertThat(check.privileges().status()).isEqualTo(Status.OK);
    }

    @Test
    void podWithItsOwnProcessesOnlyIsAWarning() throws IOException {
        file("proc/1/comm", "java\n");
        assertThat(check.processView().status()).isEqualTo(Status.WARN);
        file("proc/1/comm", "systemd\n");
        assertThat(check.processView().status()).isEqualTo(Status.OK);
    }

    @Test
    void kernelLogMustBeReadable() throws IOException {
        assertThat(check.kernelLog(Path.of("/dev/kmsg")).status()).isEqualTo(Status.WARN);
        file("dev/kmsg", "");
        assertThat(check.kernelLog(Path.of("/dev/kmsg")).status()).isEqualTo(Status.OK);
    }

    @Test
    void directoryMayBeMissingIfItCanBeCreated() throws IOException {
        file("file", "");

        assertThat(DirectoryCheck.writable("state", "X", root.resolve("new/deep"), 1, "loss")
                        .status())
                .isEqualTo(Status.OK);
        assertThat(DirectoryCheck.writable("state", "X", root, Long.MAX_VALUE, "loss")
                        .remedy())
                .endsWith("or set X; loss");
        DoctorFinding inTheWay = DirectoryCheck.writable("state", "X", root.resolve("file/below"), 1, "loss");
        assertThat(inTheWay.status()).isEqualTo(Status.WARN);
        assertThat(inTheWay.found()).contains(root.resolve("file") + " is in the way");
    }
}
