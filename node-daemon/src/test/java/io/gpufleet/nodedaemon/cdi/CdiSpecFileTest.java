package io.gpufleet.nodedaemon.cdi;

import static io.gpufleet.nodedaemon.model.device.TestGpus.gpu;
import static io.gpufleet.nodedaemon.model.device.TestGpus.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion.VersionFlag;
import io.gpufleet.nodedaemon.app.device.CdiSpecWriter.Devices;
import io.gpufleet.nodedaemon.model.allocation.CdiNames;
import io.gpufleet.nodedaemon.model.allocation.HostDeviceNodes;
import io.gpufleet.nodedaemon.model.allocation.HostDriver;
import io.gpufleet.nodedaemon.model.allocation.HostPaths;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.device.PciAddress;
import io.gpufleet.nodedaemon.model.device.Reading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CdiSpecFileTest {
    private static final String VERSION = "570.124.06";
    private static final String LIBRARIES = "usr/lib/x86_64-linux-gnu";

    /** The host's root directory as mounted in a pod. */
    @TempDir
    Path host;

    @TempDir
    Path cdi;

    private CdiSpecFile file;

    @BeforeEach
    void open() {
        file = new CdiSpecFile(cdi, new HostPaths(host.toString(), ""), host.resolve("sys"));
    }

    private Path put(String path) throws IOException {
        Path there = host.resolve(path);
        Files.createDirectories(there.getParent());
        return Files.writeString(there, path);
    }

    private void link(String path, String target) throws IOException {
        Files.createDirectories(host.resolve(path).getParent());
        Files.createSymbolicLink(host.resolve(path), Path.of(target));
    }

    private static Devices devices(HostDeviceNodes nodes, Gpu... gpus) {
        return new Devices(List.of(gpus), VERSION, "/", nodes);
    }

    private JsonNode spec() throws IOException {
        return new ObjectMapper().readTree(cdi.resolve("gpufleet.io-gpu.json").toFile());
    }

    private List<String> names() throws IOException {
        return spec().get("devices").findValuesAsText("name");
    }

    private List<String> texts(String field) throws IOException {
        return spec().get("containerEdits").findValuesAsText(field);
    }

    private String hostPathOf(String containerPath) throws IOException {
        for (JsonNode mount : spec().get("containerEdits").get("mounts")) {
            if (mount.get("containerPath").asText().equals(containerPath)) {
                return mount.get("hostPath").asText();
            }
        }
        return "";
    }

    private List<String> nodesOf(String name) throws IOException {
        var paths = new ArrayList<String>();
        for (JsonNode device : spec().get("devices")) {
            if (device.get("name").asText().equals(name)) {
                device.findValues("path").forEach(path -> paths.add(path.asText()));
            }
        }
        return paths;
    }

    private static Gpu split(int index) {
        var instance = new MigInstance(
                "MIG-GPU-1/7/0",
                "1g.10gb",
                0,
                7,
                0,
                new MigInstance.Attributes(
                        10L << 30, 16, new MigInstance.Slices(1, 1), new MigInstance.Engines(1, 0, 0, 0, 0)),
                List.of("/dev/nvidia-caps/nvidia-cap66"),
                new Reading.Unavailable<>("not read"));
        return gpu(index).withMig(new Reading.Known<>(true), List.of(instance));
    }

    @Test
    void specIsValidAndHasEveryDeviceWithEveryName() throws Exception {
        // Given
        put(LIBRARIES + "/libcuda.so." + VERSION);
        put("usr/bin/nvidia-smi");
        put("run/nvidia-persistenced/socket");
        var nodes = new HostDeviceNodes(
                "/dev-root",
                List.of("/dev/nvidiactl"),
                List.of("/dev/gdrdrv"),
                List.of("/dev/nvidia-fs0"),
                List.of("/dev/infiniband/uverbs0"),
                List.of("/dev/nvidia-caps-imex-channels/channel0"),
                HostDriver.ofVulkan("/usr/share/vulkan/icd.d/nvidia_icd.json"),
                CdiNames.NOT_WRITTEN);

        // When
        CdiNames written = file.write(devices(nodes, gpu(0), split(1)));

        // Then
        var schema = JsonSchemaFactory.getInstance(VersionFlag.V7)
                .getSchema(getClass().getResourceAsStream("/cdi-0.5.0.schema.json"));
        assertThat(schema.validate(spec())).isEmpty();
        assertThat(names())
                .doesNotHaveDuplicates()
                .containsExactlyInAnyOrder(
                        uuid(0),
                        "0",
                        uuid(1),
                        "1",
                        "MIG-GPU-1_7_0",
                        "1:0",
                        "all",
                        "gdrcopy",
                        "gds",
                        "mofed",
                        "imex-channel-0")
                .containsExactlyInAnyOrderElementsOf(written.written());
        assertThat(written.problem()).isEmpty();
        assertThat(spec().get("kind").asText()).isEqualTo("gpufleet.io/gpu");
        assertThat(spec().get("containerEdits").get("env").get(0).asText()).isEqualTo("NVIDIA_VISIBLE_DEVICES=void");
    }

    @Test
    void devicesHaveTheirNodesAndInstancesTheirParents() throws Exception {
        file.write(devices(HostDeviceNodes.NONE, gpu(0), split(1)));

        assertThat(nodesOf("0")).containsExactly("/dev/nvidia0");
        assertThat(nodesOf("1:0")).containsExactly("/dev/nvidia1", "/dev/nvidia-caps/nvidia-cap66");
        assertThat(nodesOf("all")).containsExactly("/dev/nvidia0", "/dev/nvidia1", "/dev/nvidia-caps/nvidia-cap66");
    }

    @Test
    void librariesAreMountedInLibraryPathsUnderTheirSonames() throws Exception {
        // Given
        put(LIBRARIES + "/libcuda.so." + VERSION);
        link(LIBRARIES + "/libcuda.so.1", "libcuda.so." + VERSION);
        link(LIBRARIES + "/libcuda.so", "libcuda.so.1");
        put(LIBRARIES + "/libnvidia-glcore.so." + VERSION);
        put(LIBRARIES + "/libcuda.so.535.1.1");
        put(LIBRARIES + "/libc.so.6");

        // When
        file.write(devices(HostDeviceNodes.NONE, gpu(0)));

        // Then
        String cuda = "/" + LIBRARIES + "/libcuda.so." + VERSION;
        String directory = DriverFiles.linkerDirectories().getLast();
        assertThat(hostPathOf("/usr/local/nvidia/lib64/libcuda.so.1")).isEqualTo(cuda);
        assertThat(hostPathOf("/usr/lib64/libcuda.so.1")).isEqualTo(cuda);
        assertThat(hostPathOf(directory + "/libcuda.so")).isEqualTo(cuda);
        assertThat(hostPathOf(directory + "/libnvidia-glcore.so." + VERSION))
                .isEqualTo("/" + LIBRARIES + "/libnvidia-glcore.so." + VERSION);
        assertThat(texts("containerPath")).noneMatch(path -> path.contains("535") || path.contains("libc.so"));
    }

    @Test
    void graphicsLibrariesAndTheLoadersFilesAreMounted() throws Exception {
        // Given what an installation of the driver with graphics has
        put(LIBRARIES + "/libnvidia-allocator.so." + VERSION);
        put(LIBRARIES + "/libnvidia-vulkan-producer.so." + VERSION);
        link(LIBRARIES + "/libnvidia-vulkan-producer.so", "libnvidia-vulkan-producer.so." + VERSION);
        put(LIBRARIES + "/libnvidia-egl-gbm.so.1.1.2");
        link(LIBRARIES + "/libnvidia-egl-gbm.so.1", "libnvidia-egl-gbm.so.1.1.2");
        put(LIBRARIES + "/libnvidia-egl-wayland.so.1.1.19");
        link(LIBRARIES + "/libnvidia-egl-wayland.so.1", "libnvidia-egl-wayland.so.1.1.19");
        put(LIBRARIES + "/libnvidia-nvvm70.so.4");
        put("usr/share/glvnd/egl_vendor.d/10_nvidia.json");
        put("usr/share/egl/egl_external_platform.d/15_nvidia_gbm.json");
        put("usr/share/egl/egl_external_platform.d/10_nvidia_wayland.json");
        put("usr/share/nvidia/nvoptix.bin");
        put("etc/OpenCL/vendors/nvidia.icd");
        put("usr/share/vulkan/icd.d/nvidia_icd.json");
        put("usr/share/vulkan/icd.d/nvidia_icd." + machine() + ".json");
        put("etc/vulkan/implicit_layer.d/nvidia_layers.json");

        // When
        file.write(devices(HostDeviceNodes.NONE, gpu(0)));

        // Then
        String directory = DriverFiles.linkerDirectories().getLast();
        assertThat(texts("containerPath"))
                .contains(
                        directory + "/libnvidia-egl-gbm.so.1",
                        directory + "/libnvidia-egl-wayland.so.1",
                        directory + "/libnvidia-nvvm70.so.4",
                        directory + "/libnvidia-vulkan-producer.so",
                        directory + "/gbm/nvidia-drm_gbm.so",
                        "/usr/share/glvnd/egl_vendor.d/10_nvidia.json",
                        "/usr/share/egl/egl_external_platform.d/15_nvidia_gbm.json",
                        "/usr/share/egl/egl_external_platform.d/10_nvidia_wayland.json",
                        "/usr/share/nvidia/nvoptix.bin",
                        "/etc/OpenCL/vendors/nvidia.icd",
                        "/etc/vulkan/icd.d/nvidia_icd.json",
                        "/etc/vulkan/icd.d/nvidia_icd." + machine() + ".json",
                        "/etc/vulkan/implicit_layer.d/nvidia_layers.json")
                .doesNotHaveDuplicates();
        assertThat(hostPathOf(directory + "/gbm/nvidia-drm_gbm.so"))
                .isEqualTo("/" + LIBRARIES + "/libnvidia-allocator.so." + VERSION);
    }

    private static String machine() {
        return System.getProperty("os.arch").equals("aarch64") ? "aarch64" : "x86_64";
    }

    @Test
    void vulkanFilesInTheRootOfAnInstallerAreMountedOnce() throws Exception {
        put("home/kubernetes/bin/nvidia/vulkan/icd.d/nvidia_icd.json");
        var nodes = new HostDeviceNodes(
                "",
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                HostDriver.ofVulkan("/home/kubernetes/bin/nvidia/vulkan/icd.d/nvidia_icd.json"),
                CdiNames.NOT_WRITTEN);

        file.write(new Devices(List.of(gpu(0)), VERSION, "/home/kubernetes/bin/nvidia", nodes));

        assertThat(texts("containerPath")).containsExactly("/etc/vulkan/icd.d/nvidia_icd.json");
    }

    @Test
    void wholeGpuHasItsDrmNodesAndAnInstanceHasNone() throws Exception {
        String address = PciAddress.parse(gpu(1).pciBusId()).orElseThrow().sysfs();
        put("sys/bus/pci/devices/" + address + "/drm/card2/dev");
        put("sys/bus/pci/devices/" + address + "/drm/renderD129/dev");
        put("sys/bus/pci/devices/" + address + "/drm/version");

        file.write(devices(HostDeviceNodes.NONE, gpu(0), split(1)));

        assertThat(nodesOf("0")).containsExactly("/dev/nvidia0");
        assertThat(nodesOf("1")).containsExactly("/dev/nvidia1", "/dev/dri/card2", "/dev/dri/renderD129");
        assertThat(nodesOf("1:0")).containsExactly("/dev/nvidia1", "/dev/nvidia-caps/nvidia-cap66");
        assertThat(nodesOf("all")).contains("/dev/dri/card2", "/dev/dri/renderD129");
    }

    @Test
    void programsAreFoundThroughLinksRelativeToTheDriverRoot() throws Exception {
        // Given
        put("run/nvidia/driver/usr/lib/nvidia/current/nvidia-smi");
        link("run/nvidia/driver/etc/alternatives/nvidia-smi", "/usr/lib/nvidia/current/nvidia-smi");
        link("run/nvidia/driver/usr/bin/nvidia-smi", "/etc/alternatives/nvidia-smi");
        put("run/nvidia/driver/lib/firmware/nvidia/" + VERSION + "/gsp_ga10x.bin");

        // When
        file.write(new Devices(List.of(gpu(0)), VERSION, "/run/nvidia/driver", HostDeviceNodes.NONE));

        // Then
        assertThat(hostPathOf("/usr/bin/nvidia-smi")).isEqualTo("/run/nvidia/driver/usr/lib/nvidia/current/nvidia-smi");
        assertThat(hostPathOf("/lib/firmware/nvidia/" + VERSION))
                .isEqualTo("/run/nvidia/driver/lib/firmware/nvidia/" + VERSION);
    }

    @Test
    void socketsOfServicesAreFoundBelowTheDriverRootAndTheHostRoot() throws Exception {
        put("run/nvidia-fabricmanager/socket");
        put("run/nvidia/driver/run/nvidia-persistenced/socket");

        file.write(new Devices(List.of(gpu(0)), VERSION, "/run/nvidia/driver", HostDeviceNodes.NONE));

        assertThat(hostPathOf("/run/nvidia-fabricmanager/socket")).isEqualTo("/run/nvidia-fabricmanager/socket");
        assertThat(hostPathOf("/run/nvidia-persistenced/socket"))
                .isEqualTo("/run/nvidia/driver/run/nvidia-persistenced/socket");
    }

    @Test
    void anotherDriverVersionReplacesEveryLibrary() throws Exception {
        // Given
        put(LIBRARIES + "/libcuda.so." + VERSION);
        file.write(devices(HostDeviceNodes.NONE, gpu(0)));
        assertThat(texts("hostPath")).isNotEmpty();

        // When
        Files.delete(host.resolve(LIBRARIES + "/libcuda.so." + VERSION));
        put(LIBRARIES + "/libcuda.so.580.1.1");
        file.write(new Devices(List.of(gpu(0)), "580.1.1", "/", HostDeviceNodes.NONE));

        // Then
        assertThat(texts("hostPath")).isNotEmpty().allMatch(path -> path.endsWith("580.1.1"));
    }

    @Test
    void removedDeviceLeavesTheSpecAndWithoutDevicesThereIsNoFile() throws Exception {
        file.write(devices(HostDeviceNodes.NONE, gpu(0), gpu(1)));

        CdiNames fewer = file.write(devices(HostDeviceNodes.NONE, gpu(0)));

        assertThat(names()).containsExactly(uuid(0), "0", "all");
        assertThat(fewer.written()).doesNotContain(uuid(1));
        assertThat(file.write(devices(HostDeviceNodes.NONE)).written()).isEmpty();
        assertThat(cdi).isEmptyDirectory();
    }

    @Test
    void sameDevicesKeepTheFileAndADeletedFileIsRewritten() throws Exception {
        Path written = cdi.resolve("gpufleet.io-gpu.json");
        file.write(devices(HostDeviceNodes.NONE, gpu(0)));
        Object first = Files.getAttribute(written, "unix:ino");

        file.write(devices(HostDeviceNodes.NONE, gpu(0)));
        assertThat(Files.getAttribute(written, "unix:ino")).isEqualTo(first);

        Files.delete(written);
        file.write(devices(HostDeviceNodes.NONE, gpu(0)));
        assertThat(written).isRegularFile();
    }

    @Test
    void unwritableDirectoryIsReportedWithARemedy() throws Exception {
        Path occupied = Files.writeString(cdi.resolve("occupied"), "");
        var refused = new CdiSpecFile(occupied.resolve("cdi"), new HostPaths("/", ""));

        CdiNames names = refused.write(devices(HostDeviceNodes.NONE, gpu(0)));

        assertThat(names.written()).isEmpty();
        assertThat(names.problem())
                .contains("occupied", "GPUFLEET_CDI_DIR", "cdi-cri")
                .doesNotContain("\n");
    }

    @Test
    void temporaryFileHasANameThatRuntimesIgnore() throws Exception {
        // Given a target that cannot be replaced by a rename
        put("x");
        Files.createDirectories(cdi.resolve("gpufleet.io-gpu.json/full"));

        // When
        CdiNames names = file.write(devices(HostDeviceNodes.NONE, gpu(0)));

        // Then
        assertThat(names.problem()).isNotEmpty();
        try (var left = Files.list(cdi).filter(Files::isRegularFile)) {
            assertThat(left).allMatch(path -> !path.toString().matches(".*\\.(json|ya?ml)"));
        }
    }
}
