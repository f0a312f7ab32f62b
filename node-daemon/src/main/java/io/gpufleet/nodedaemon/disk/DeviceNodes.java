package io.gpufleet.nodedaemon.disk;

import io.gpufleet.nodedaemon.app.HostSurvey;
import io.gpufleet.nodedaemon.model.CdiNames;
import io.gpufleet.nodedaemon.model.HostNodes;
import io.gpufleet.nodedaemon.model.HostPlaces;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Finds device nodes below the dev root; a driver that is loaded later brings them later. */
public final class DeviceNodes implements HostSurvey {
    private static final String CONTROL = "/dev/nvidiactl";
    private static final List<String> CONTROL_NODES =
            List.of(CONTROL, "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset");
    private static final List<String> VULKAN = List.of(
            "/vulkan/icd.d/nvidia_icd.json",
            "/etc/vulkan/icd.d/nvidia_icd.json",
            "/usr/share/vulkan/icd.d/nvidia_icd.json");

    private final HostPlaces places;

    /** Looks where the host's files are seen. */
    public DeviceNodes(HostPlaces places) {
        this.places = places;
    }

    /** Nodes as a node with a driver has them, for devices that are simulated. */
    public static HostNodes usual() {
        return HostNodes.of(CONTROL_NODES.subList(0, 2));
    }

    @Override
    public HostNodes find(String driverRoot) {
        String root = devRoot(driverRoot);
        return new HostNodes(
                root,
                present(root, CONTROL_NODES),
                present(root, List.of("/dev/gdrdrv")),
                matching(root, "/dev", "nvidia-fs*"),
                // No umad: with it a container could speak to the fabric's manager.
                matching(root, "/dev/infiniband", "{uverbs*,rdma_cm}"),
                present(root, List.of("/dev/nvidia-caps-imex-channels/channel0")),
                VULKAN.stream()
                        .map(file -> HostPlaces.below(driverRoot, file))
                        .filter(file -> Files.isRegularFile(Path.of(places.seen(file))))
                        .findFirst()
                        .orElse(""),
                CdiNames.NOT_WRITTEN);
    }

    private String devRoot(String driverRoot) {
        if (!places.devRoot().isEmpty()) {
            return places.devRoot().equals("/") ? "" : places.devRoot();
        }
        boolean own = !driverRoot.equals("/") && there(driverRoot, CONTROL);
        return own ? driverRoot : "";
    }

    private boolean there(String root, String node) {
        return Files.exists(Path.of(places.seen(root + node)));
    }

    private List<String> present(String root, List<String> nodes) {
        return nodes.stream().filter(node -> there(root, node)).toList();
    }

    private List<String> matching(String root, String directory, String glob) {
        Path seen = Path.of(places.seen(root + directory));
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
