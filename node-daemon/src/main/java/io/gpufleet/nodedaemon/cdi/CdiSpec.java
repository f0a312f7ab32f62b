package io.gpufleet.nodedaemon.cdi;

import io.gpufleet.nodedaemon.app.device.CdiSpecWriter.Devices;
import io.gpufleet.nodedaemon.model.allocation.CdiNames;
import io.gpufleet.nodedaemon.model.allocation.GpuPartition;
import io.gpufleet.nodedaemon.model.allocation.HostDeviceNodes;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.DeviceIdStrategy;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.KernelInterface;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** The JSON of our CDI spec; equal devices give equal text. */
final class CdiSpec {
    /** The first version that allows names starting with a digit, and host paths; later features are not used. */
    private static final String CDI_VERSION = "0.5.0";

    private static final String VULKAN_ICD = "/etc/vulkan/icd.d/nvidia_icd.json";
    private static final List<String> FILE = List.of("ro", "nosuid", "nodev", "rbind", "rprivate");
    private static final List<String> SOCKET = List.of("ro", "nosuid", "nodev", "noexec", "rbind", "rprivate");

    private final Devices devices;
    private final DriverFiles driver;
    private final DrmNodes drm;
    private final Map<String, Set<String>> nodesByName = new LinkedHashMap<>();

    CdiSpec(Devices devices, DriverFiles driver, DrmNodes drm) {
        this.devices = devices;
        this.driver = driver;
        this.drm = drm;
        devices.gpus().forEach(this::name);
        HostDeviceNodes nodes = devices.nodes();
        add(CdiNames.of(KernelInterface.GDRCOPY), nodes.gdrcopy());
        add(CdiNames.of(KernelInterface.GDS), nodes.gds());
        add(CdiNames.of(KernelInterface.MOFED), nodes.mofed());
        add(CdiNames.IMEX, nodes.imex());
    }

    /** Names of the devices in the spec. */
    Set<String> names() {
        return nodesByName.keySet();
    }

    /** The spec as JSON; a spec without devices is not valid and must not be written. */
    String text() {
        var described = new JsonArray();
        nodesByName.forEach((name, nodes) -> described.add(new JsonObject()
                .put("name", name)
                .put("containerEdits", new JsonObject().put("deviceNodes", deviceNodes(nodes)))));
        return new JsonObject()
                .put("cdiVersion", CDI_VERSION)
                .put("kind", CdiNames.KIND)
                .put("containerEdits", common())
                .put("devices", described)
                .encodePrettily();
    }

    private void name(Gpu gpu) {
        name(gpu, new GpuPartition.FullGpu());
        var all = new ArrayList<>(nodes(gpu, new GpuPartition.FullGpu()));
        for (MigInstance instance : gpu.instances()) {
            name(gpu, new GpuPartition.Mig(instance));
            all.addAll(instance.capabilityNodes());
        }
        nodesByName.computeIfAbsent(CdiNames.ALL, _ -> new LinkedHashSet<>()).addAll(all);
    }

    private void name(Gpu gpu, GpuPartition partition) {
        for (DeviceIdStrategy names : DeviceIdStrategy.values()) {
            nodesByName.put(CdiNames.of(gpu, partition, names), new LinkedHashSet<>(nodes(gpu, partition)));
        }
    }

    /** A MIG instance has no graphics, so only a whole GPU has its DRM nodes. */
    private List<String> nodes(Gpu gpu, GpuPartition partition) {
        var nodes = new ArrayList<>(HostDeviceNodes.of(gpu, partition));
        if (partition instanceof GpuPartition.FullGpu) {
            nodes.addAll(drm.of(gpu.pciBusId()));
        }
        return nodes;
    }

    private void add(String name, List<String> nodes) {
        if (!nodes.isEmpty()) {
            nodesByName.put(name, new LinkedHashSet<>(nodes));
        }
    }

    private JsonObject common() {
        // Void prevents NVIDIA's runtime, if the node has it as well, from injecting devices of its own.
        var edits = new JsonObject().put("env", new JsonArray().add("NVIDIA_VISIBLE_DEVICES=void"));
        var control = deviceNodes(devices.nodes().control());
        if (!control.isEmpty()) {
            edits.put("deviceNodes", control);
        }
        var mounts = new JsonArray();
        Stream.concat(driver.libraries().stream(), driver.others().stream())
                .forEach(file -> mounts.add(mount(file, FILE)));
        boolean vulkanFound =
                driver.others().stream().anyMatch(file -> file.containerPath().equals(VULKAN_ICD));
        if (!devices.nodes().driver().vulkan().isEmpty() && !vulkanFound) {
            mounts.add(mount(new CdiMount(devices.nodes().driver().vulkan(), VULKAN_ICD), FILE));
        }
        driver.sockets().forEach(socket -> mounts.add(mount(socket, SOCKET)));
        if (!mounts.isEmpty()) {
            edits.put("mounts", mounts);
        }
        return edits;
    }

    private static JsonObject mount(CdiMount file, List<String> options) {
        return new JsonObject()
                .put("hostPath", file.hostPath())
                .put("containerPath", file.containerPath())
                .put("options", new JsonArray(options));
    }

    private JsonArray deviceNodes(Collection<String> paths) {
        var nodes = new JsonArray();
        for (String path : paths) {
            var node = new JsonObject().put("path", path);
            String onHost = devices.nodes().hostPath(path);
            if (!onHost.equals(path)) {
                node.put("hostPath", onHost);
            }
            nodes.add(node.put("permissions", "rw"));
        }
        return nodes;
    }
}
