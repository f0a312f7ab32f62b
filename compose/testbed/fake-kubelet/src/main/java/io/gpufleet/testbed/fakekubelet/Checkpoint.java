package io.gpufleet.testbed.fakekubelet;

import com.google.protobuf.InvalidProtocolBufferException;
import io.gpufleet.kit.files.AtomicFile;
import io.gpufleet.proto.kubelet.deviceplugin.ContainerAllocateResponse;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32;

/** The file {@code kubelet_internal_checkpoint}, in the shape of the kubelet's device manager. */
final class Checkpoint {
    static final String FILE = "kubelet_internal_checkpoint";
    /** The kubelet's key for devices without a NUMA node. */
    private static final long NO_NUMA = -1;

    private Checkpoint() {}

    /**
     * The entry of one container.
     *
     * @param podUid metadata.uid of the pod
     * @param container name of the container
     * @param resource extended resource name
     * @param deviceIds ids of its devices
     * @param response the plugin's Allocate response
     */
    record PodDevicesEntry(
            String podUid,
            String container,
            String resource,
            List<String> deviceIds,
            ContainerAllocateResponse response) {}

    /** Writes the file by an atomic rename. */
    static void write(Path directory, List<DeviceAllocation> allocations, Map<String, AdvertisedResource> views)
            throws IOException {
        var entries = new JsonArray();
        allocations.forEach(held -> entries.add(new JsonObject()
                .put("PodUID", held.pod().uid())
                .put("ContainerName", held.container())
                .put("ResourceName", held.resource())
                .put("DeviceIDs", byNuma(held, views))
                .put(
                        "AllocResp",
                        Base64.getEncoder().encodeToString(held.response().toByteArray()))));
        var registered = new JsonObject();
        views.forEach((name, view) -> registered.put(name, healthyIds(view)));
        JsonObject data = new JsonObject().put("PodDeviceEntries", entries).put("RegisteredDevices", registered);
        var checksum = new CRC32();
        checksum.update(data.encode().getBytes(java.nio.charset.StandardCharsets.UTF_8));
        JsonObject checkpoint = new JsonObject().put("Data", data).put("Checksum", checksum.getValue());
        AtomicFile.write(directory.resolve(FILE), checkpoint.toBuffer().getBytes(), AtomicFile.Durability.PROCESS);
    }

    /** Reads the checkpoint of an earlier kubelet; empty without a readable file. */
    static List<PodDevicesEntry> read(Path directory) throws IOException {
        var entries = new ArrayList<PodDevicesEntry>();
        try {
            JsonObject data = new JsonObject(Files.readString(directory.resolve(FILE))).getJsonObject("Data");
            for (Object each : data.getJsonArray("PodDeviceEntries")) {
                entries.add(entry((JsonObject) each));
            }
        } catch (NoSuchFileException none) {
            return List.of();
        } catch (DecodeException | ClassCastException | NullPointerException | InvalidProtocolBufferException broken) {
            // The kubelet, too, starts with no allocations then.
            return List.of();
        }
        return entries;
    }

    private static PodDevicesEntry entry(JsonObject json) throws InvalidProtocolBufferException {
        var ids = new ArrayList<String>();
        json.getJsonObject("DeviceIDs")
                .forEach(numa -> ((JsonArray) numa.getValue()).forEach(id -> ids.add(String.valueOf(id))));
        return new PodDevicesEntry(
                json.getString("PodUID"),
                json.getString("ContainerName"),
                json.getString("ResourceName"),
                ids,
                ContainerAllocateResponse.parseFrom(Base64.getDecoder().decode(json.getString("AllocResp"))));
    }

    private static JsonObject byNuma(DeviceAllocation held, Map<String, AdvertisedResource> views) {
        AdvertisedResource view = views.get(held.resource());
        var numaById = new HashMap<String, List<Long>>();
        if (view != null) {
            view.devices().forEach(device -> numaById.put(device.id(), device.numa()));
        }
        var grouped = new TreeMap<Long, JsonArray>();
        for (String id : held.deviceIds()) {
            List<Long> numa = numaById.getOrDefault(id, List.of());
            (numa.isEmpty() ? List.of(NO_NUMA) : numa)
                    .forEach(node -> grouped.computeIfAbsent(node, none -> new JsonArray())
                            .add(id));
        }
        var json = new JsonObject();
        grouped.forEach((node, ids) -> json.put(Long.toString(node), ids));
        return json;
    }

    private static JsonArray healthyIds(AdvertisedResource view) {
        var ids = new JsonArray();
        view.devices().stream().filter(AdvertisedResource.Device::healthy).forEach(device -> ids.add(device.id()));
        return ids;
    }
}
