package io.gpufleet.nodedaemon.sysfs;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SysfsPciDevicesTest {
    @TempDir
    private Path sysfs;

    /** Makes a GPU below one bridge, with the link of the bus directory as the kernel makes it. */
    private void gpu(String root, String bridge, String gpu) throws IOException {
        Path device = sysfs.resolve("devices/" + root + "/" + bridge + "/" + gpu);
        Files.createDirectories(device);
        Files.writeString(device.resolve("numa_node"), "1\n");
        Files.writeString(device.resolve("class"), "0x030200\n");
        Files.writeString(device.resolve("vendor"), "0x10de\n");
        Path bus = Files.createDirectories(sysfs.resolve("bus/pci/devices"));
        Files.createSymbolicLink(bus.resolve(gpu), device);
    }

    @ParameterizedTest
    @CsvSource({
        "00000000:3B:00.0, pci0000:3a, 0000:3a:00.0, 0000:3b:00.0",
        "0000000A:E1:00.0, pci000a:e0, 000a:e0:01.0, 000a:e1:00.0",
        // Domains above 0xFFFF: VMD and some hypervisors
        "00010000:E1:00.0, pci10000:e0, 10000:e0:01.0, 10000:e1:00.0",
    })
    void deviceIsFoundByTheAddressThatNvmlPrints(String nvml, String root, String bridge, String gpu)
            throws IOException {
        gpu(root, bridge, gpu);
        var devices = new SysfsPciDevices(sysfs);

        assertThat(devices.numaNode(nvml)).isEqualTo(new Known<>(1));
        assertThat(devices.mode(nvml)).isEqualTo(new Known<>("compute"));
        assertThat(devices.route(nvml)).isEqualTo(new Known<>(List.of(root.substring(3), bridge)));
        assertThat(devices.gpuAddresses()).isEqualTo(new Known<>(List.of(gpu)));
    }

    @Test
    void directoriesThatAreNoPciDevicesAreNoPartOfTheRoute() throws IOException {
        gpu("pci0000:3a", "0000:3a:00.0/3b:00/0000:3B:00.1", "0000:3b:00.0");

        assertThat(new SysfsPciDevices(sysfs).route("00000000:3B:00.0"))
                .isEqualTo(new Known<>(List.of("0000:3a", "0000:3a:00.0")));
    }

    @Test
    void gpuThatTheDriverIsToldToExcludeIsNoneOfNvml() throws IOException {
        // Given
        FakePciBus bus = new FakePciBus(sysfs);
        bus.bind("0000:07:00.0", "nvidia").bind("0000:0f:00.0", "nvidia").bind("0000:17:00.0", "nvidia");
        information("0000:07:00.0", "No");
        information("0000:0f:00.0", "Yes");
        // Then
        assertThat(new SysfsPciDevices(sysfs, sysfs.resolve("proc")).boundGpuAddresses())
                .isEqualTo(new Known<>(List.of("0000:07:00.0", "0000:17:00.0")));
    }

    private void information(String address, String excluded) throws IOException {
        Files.writeString(
                Files.createDirectories(sysfs.resolve("proc/gpus").resolve(address))
                        .resolve("information"),
                "Model: \t\t NVIDIA H100 80GB HBM3\nDevice Minor: \t 3\nGPU Excluded:\t " + excluded + "\n");
    }

    @Test
    void onlyGpusOfNvidiasDriverAreBound() throws IOException {
        // Given one GPU each of NVIDIA's driver, of a virtual machine and of no driver, and a virtual function
        FakePciBus bus = new FakePciBus(sysfs);
        bus.bind("0000:07:00.0", "nvidia").bind("0000:0f:00.0", "vfio-pci").plug("0000:17:00.0");
        bus.bind("0000:07:00.4", "nvidia");
        Files.createSymbolicLink(sysfs.resolve("bus/pci/devices/0000:07:00.4/physfn"), Path.of("../0000:07:00.0"));

        // Then
        var devices = new SysfsPciDevices(sysfs);
        assertThat(devices.boundGpuAddresses()).isEqualTo(new Known<>(List.of("0000:07:00.0")));
        assertThat(devices.gpuAddresses().orElse(List.of())).hasSize(4);
    }

    @Test
    void boundGpusAreUnknownWithoutSysfs() {
        assertThat(new SysfsPciDevices(sysfs.resolve("absent")).boundGpuAddresses())
                .isInstanceOf(Unavailable.class);
    }
}
