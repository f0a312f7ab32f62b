package io.gpufleet.nodedaemon.cdi;

import io.gpufleet.nodedaemon.app.RuntimeSpecs.Devices;
import io.gpufleet.nodedaemon.model.CdiNames;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.HostNodes;
import io.gpufleet.nodedaemon.model.MigInstance;
import io.gpufleet.nodedaemon.model.Part;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.Extra;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.IdNames;
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

/** The text of our CDI spec; the same devices give the same text. */
final class SpecText {
    /** The first that allows names beginning with a digit and another path on the host; nothing later is used. */
    private static final String CDI_VERSION = "0.5.0";

    private static final List<String> FILE = List.of("ro", "nosuid", "nodev", "rbind", "rprivate");
    private static final List<String> SOCKET = List.of("ro", "nosuid", "nodev", "noexec", "rbind", "rprivate");

    private final Devices devices;
    private final DriverFiles driver;
    private final Map<String, Set<String>> nodesByName = new LinkedHashMap<>();

    SpecText(Devices devices, DriverFiles driver) {
        this.devices = devices;
        this.driver = driver;
        devices.gpus().forEach(this::name);
        HostNodes nodes = devices.nodes();
        extra(CdiNames.of(Extra.GDRCOPY), nodes.gdrcopy());
        extra(CdiNames.of(Extra.GDS), nodes.gds());
        extra(CdiNames.of(Extra.MOFED), nodes.mofed());
        extra(CdiNames.IMEX, nodes.imex());
    }

    /** Names that a runtime resolves once the text is written. */
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
        name(gpu, new Part.Whole());
        var all = new ArrayList<>(HostNodes.of(gpu, new Part.Whole()));
        for (MigInstance instance : gpu.instances()) {
            name(gpu, new Part.Slice(instance));
            all.addAll(instance.capabilityNodes());
        }
        nodesByName.computeIfAbsent(CdiNames.ALL, _ -> new LinkedHashSet<>()).addAll(all);
    }

    private void name(Gpu gpu, Part part) {
        for (IdNames names : IdNames.values()) {
            nodesByName.put(CdiNames.of(gpu, part, names), new LinkedHashSet<>(HostNodes.of(gpu, part)));
        }
    }

    private void extra(String name, List<String> nodes) {
        if (!nodes.isEmpty()) {
            nodesByName.put(name, new LinkedHashSet<>(nodes));
        }
    }

    private JsonObject common() {
        // Void keeps NVIDIA's own runtime, where a node has it as well, from adding devices of its own choice.
        var edits = new JsonObject().put("env", new JsonArray().add("NVIDIA_VISIBLE_DEVICES=void"));
        var control = deviceNodes(devices.nodes().control());
        if (!control.isEmpty()) {
            edits.put("deviceNodes", control);
        }
        var mounts = new JsonArray();
        Stream.concat(driver.libraries().stream(), driver.others().stream())
                .forEach(file -> mounts.add(mount(file, FILE)));
        if (!devices.nodes().vulkan().isEmpty()) {
            mounts.add(mount(new HostFile(devices.nodes().vulkan(), "/etc/vulkan/icd.d/nvidia_icd.json"), FILE));
        }
        driver.sockets().forEach(socket -> mounts.add(mount(socket, SOCKET)));
        if (!mounts.isEmpty()) {
            edits.put("mounts", mounts);
        }
        return edits;
    }

    private static JsonObject mount(HostFile file, List<String> options) {
        return new JsonObject()
                .put("hostPath", file.hostPath())
                .put("containerPath", file.containerPath())
                .put("options", new JsonArray(options));
    }

    private JsonArray deviceNodes(Collection<String> paths) {
        var nodes = new JsonArray();
        for (String path : paths) {
            var node = new JsonObject().put("path", path);
            String onHost = devices.nodes().onHost(path);
            if (!onHost.equals(path)) {
                node.put("hostPath", onHost);
            }
            nodes.add(node.put("permissions", "rw"));
        }
        return nodes;
    }
}
