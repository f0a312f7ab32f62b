package io.gpufleet.nodedaemon.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.allocation.HostDeviceNodes;
import io.gpufleet.nodedaemon.model.allocation.HostPaths;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DevRootDeviceNodeFinderTest {
    @TempDir
    Path host;

    private void put(String... paths) throws IOException {
        for (String path : paths) {
            Path there = host.resolve(path);
            Files.createDirectories(there.getParent());
            Files.createFile(there);
        }
    }

    private HostDeviceNodes find(String devRoot, String driverRoot) {
        return new DevRootDeviceNodeFinder(new HostPaths(host.toString(), devRoot), (_, _, _, _) -> "not asked for")
                .find(driverRoot);
    }

    @Test
    void onlyExistingNodesAreFound() throws Exception {
        put(
                "dev/nvidiactl",
                "dev/nvidia-uvm",
                "dev/nvidia0",
                "dev/nvidia-fs1",
                "dev/nvidia-fs0",
                "dev/gdrdrv",
                "dev/infiniband/uverbs0",
                "dev/infiniband/rdma_cm",
                "dev/infiniband/umad0",
                "dev/nvidia-caps-imex-channels/channel0");

        HostDeviceNodes found = find("", "/");

        assertThat(found.control()).containsExactly("/dev/nvidiactl", "/dev/nvidia-uvm");
        assertThat(found.gds()).containsExactly("/dev/nvidia-fs0", "/dev/nvidia-fs1");
        assertThat(found.gdrcopy()).containsExactly("/dev/gdrdrv");
        assertThat(found.mofed()).containsExactly("/dev/infiniband/rdma_cm", "/dev/infiniband/uverbs0");
        assertThat(found.imex()).containsExactly("/dev/nvidia-caps-imex-channels/channel0");
        assertThat(found.hostPath("/dev/nvidia0")).isEqualTo("/dev/nvidia0");
    }

    @Test
    void nodeThatAppearsIsFoundNextTime() throws Exception {
        assertThat(find("", "/").control()).isEmpty();

        put("dev/nvidiactl");

        assertThat(find("", "/").control()).containsExactly("/dev/nvidiactl");
    }

    @Test
    void nodesAreThoseOfTheDriverRootWhereItHasThem() throws Exception {
        put("run/nvidia/driver/dev/nvidiactl", "dev/nvidiactl");

        assertThat(find("", "/run/nvidia/driver").hostPath("/dev/nvidia0")).isEqualTo("/run/nvidia/driver/dev/nvidia0");
        assertThat(find("/", "/run/nvidia/driver").hostPath("/dev/nvidia0")).isEqualTo("/dev/nvidia0");
        assertThat(find("", "/home/kubernetes/bin/nvidia").hostPath("/dev/nvidia0"))
                .isEqualTo("/dev/nvidia0");
    }

    @Test
    void vulkanDescriptionOfTheDriverIsFound() throws Exception {
        put("home/kubernetes/bin/nvidia/vulkan/icd.d/nvidia_icd.json");

        assertThat(find("", "/home/kubernetes/bin/nvidia").driver().vulkan())
                .isEqualTo("/home/kubernetes/bin/nvidia/vulkan/icd.d/nvidia_icd.json");
        assertThat(find("", "/").driver().vulkan()).isEmpty();
    }
}
