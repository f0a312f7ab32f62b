package io.gpufleet.nodedaemon.podresources;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Entries of our resources in the kubelet's device checkpoint. It may be older or newer than a podresources response.
 *
 * @param entries one per container and resource
 * @param readable whether the checkpoint could be read
 */
record KubeletCheckpoint(List<PodDevicesEntry> entries, boolean readable) {
    private static final long MAX_BYTES = 8L * 1024 * 1024;
    private static final KubeletCheckpoint NONE = new KubeletCheckpoint(List.of(), false);

    /** Devices of one resource that are allocated to a container, which may be an ordinary init container. */
    record PodDevicesEntry(String podUid, String container, String resource, Set<String> deviceIds) {}

    /** Every allocated device. */
    Set<String> deviceIds() {
        return entries.stream().flatMap(entry -> entry.deviceIds().stream()).collect(Collectors.toSet());
    }

    /** Entries that are also in an earlier checkpoint. */
    List<PodDevicesEntry> entriesAlsoIn(KubeletCheckpoint earlier) {
        return entries.stream().filter(earlier.entries::contains).toList();
    }

    static KubeletCheckpoint read(Path file, Predicate<String> resourceFilter) {
        try {
            return Files.exists(file) && Files.size(file) <= MAX_BYTES
                    ? parse(new JsonObject(Files.readString(file)), resourceFilter)
                    : NONE;
        } catch (IOException | RuntimeException unreadable) {
            return NONE;
        }
    }

    private static KubeletCheckpoint parse(JsonObject checkpoint, Predicate<String> resourceFilter) {
        var entries = new ArrayList<PodDevicesEntry>();
        JsonArray all =
                checkpoint.getJsonObject("Data", new JsonObject()).getJsonArray("PodDeviceEntries", new JsonArray());
        for (Object element : all == null ? new JsonArray() : all) {
            if (element instanceof JsonObject entry && resourceFilter.test(entry.getString("ResourceName", ""))) {
                entries.add(new PodDevicesEntry(
                        entry.getString("PodUID", ""),
                        entry.getString("ContainerName", ""),
                        entry.getString("ResourceName", ""),
                        ids(entry)));
            }
        }
        return new KubeletCheckpoint(entries, true);
    }

    /** Device ids are grouped by NUMA node since version 2 of the checkpoint; before that they are one list. */
    private static Set<String> ids(JsonObject entry) {
        var ids = new HashSet<String>();
        switch (entry.getValue("DeviceIDs")) {
            case JsonObject byNode -> {
                for (Map.Entry<String, Object> node : byNode) {
                    if (node.getValue() instanceof JsonArray some) {
                        some.forEach(id -> ids.add(String.valueOf(id)));
                    }
                }
            }
            case JsonArray some -> some.forEach(id -> ids.add(String.valueOf(id)));
            case null, default -> {}
        }
        return Set.copyOf(ids);
    }
}
