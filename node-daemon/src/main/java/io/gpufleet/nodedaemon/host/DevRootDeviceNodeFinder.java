package io.gpufleet.nodedaemon.host;

import io.gpufleet.nodedaemon.app.device.HostDeviceNodeFinder;
import io.gpufleet.nodedaemon.model.allocation.CdiNames;
import io.gpufleet.nodedaemon.model.allocation.HostDeviceNodes;
import io.gpufleet.nodedaemon.model.allocation.HostDriver;
import io.gpufleet.nodedaemon.model.allocation.HostPaths;
import io.gpufleet.nodedaemon.model.device.Gpu;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Finds device nodes below the dev root. They may appear later, with the driver. */
public final class DevRootDeviceNodeFinder implements HostDeviceNodeFinder {
    private static final String CONTROL = "/dev/nvidiactl";
    private static final List<String> CONTROL_NODES =
            List.of(CONTROL, "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset");
    private static final List<String> VULKAN = List.of(
            "/vulkan/icd.d/nvidia_icd.json",
            "/etc/vulkan/icd.d/nvidia_icd.json",
            "/usr/share/vulkan/icd.d/nvidia_icd.json");

    private final HostPaths hostPaths;
    private final DeviceNodeCreation creation;

    /** Makes a character device; returns why that failed, empty when it is there. */
    public interface CharacterDeviceMaker {
        /** Makes the node. */
        String make(String path, int permissions, int major, int minor);
    }

    /** Searches below the paths of the host, and makes nodes that are missing. */
    public DevRootDeviceNodeFinder(HostPaths hostPaths, CharacterDeviceMaker devices) {
        this(
                hostPaths,
                new DeviceNodeCreation(
                        hostPaths,
                        Path.of("/proc"),
                        new DeviceNodeCreation.NodeMaker() {
                            @Override
                            public String run(List<String> command) {
                                return HostPrograms.run(command);
                            }

                            @Override
                            public String make(String path, int permissions, int major, int minor) {
                                return devices.make(path, permissions, major, minor);
                            }
                        },
                        System::nanoTime));
    }

    DevRootDeviceNodeFinder(HostPaths hostPaths, DeviceNodeCreation creation) {
        this.hostPaths = hostPaths;
        this.creation = creation;
    }

    /** Makes nodes only beside those of a driver: without {@code nvidiactl} this directory is not the driver's. */
    @Override
    public Map<String, String> ensure(String driverRoot, List<Gpu> gpus) {
        String root = devRoot(driverRoot);
        return exists(root, CONTROL)
                ? creation.ensure(
                        driverRoot,
                        root,
                        gpus.stream()
                                .flatMap(gpu -> gpu.instances().stream())
                                .flatMap(instance -> instance.capabilityNodes().stream())
                                .toList())
                : Map.of();
    }

    /** Device nodes of a node with a driver, for simulated devices. */
    public static HostDeviceNodes defaults() {
        return HostDeviceNodes.of(CONTROL_NODES.subList(0, 2));
    }

    @Override
    public HostDeviceNodes find(String driverRoot) {
        String root = devRoot(driverRoot);
        return new HostDeviceNodes(
                root,
                present(root, CONTROL_NODES),
                present(root, List.of("/dev/gdrdrv")),
                matching(root, "/dev", "nvidia-fs*"),
                // No umad: a container could talk to the subnet manager with it.
                matching(root, "/dev/infiniband", "{uverbs*,rdma_cm}"),
                present(root, List.of("/dev/nvidia-caps-imex-channels/channel0")),
                HostDriver.ofVulkan(VULKAN.stream()
                        .map(file -> HostPaths.resolve(driverRoot, file))
                        .filter(file -> Files.isRegularFile(Path.of(hostPaths.processPath(file))))
                        .findFirst()
                        .orElse("")),
                CdiNames.NOT_WRITTEN);
    }

    private String devRoot(String driverRoot) {
        if (!hostPaths.devRoot().isEmpty()) {
            return hostPaths.devRoot().equals("/") ? "" : hostPaths.devRoot();
        }
        boolean own = !driverRoot.equals("/") && exists(driverRoot, CONTROL);
        return own ? driverRoot : "";
    }

    private boolean exists(String root, String node) {
        return Files.exists(Path.of(hostPaths.processPath(root + node)));
    }

    private List<String> present(String root, List<String> nodes) {
        return nodes.stream().filter(node -> exists(root, node)).toList();
    }

    private List<String> matching(String root, String directory, String glob) {
        Path seen = Path.of(hostPaths.processPath(root + directory));
        var found = new ArrayList<String>();
        if (Files.isDirectory(seen)) {
            try (var nodes = Files.newDirectoryStream(seen, glob)) {
                nodes.forEach(node -> found.add(directory + "/" + node.getFileName()));
            } catch (IOException unreadable) {
                return List.of();
            }
        }
        return found.stream().sorted().toList();
    }
}
