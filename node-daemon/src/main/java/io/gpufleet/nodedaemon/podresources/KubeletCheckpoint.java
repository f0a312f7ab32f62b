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
 * What the kubelet's device checkpoint says of our resources. Only a hint, since it may be older or newer than the
 * answer of podresources.
 *
 * @param entries one a container and resource
 * @param readable whether there was a checkpoint to read
 */
record KubeletCheckpoint(List<Entry> entries, boolean readable) {
    private static final long MAX_BYTES = 8L * 1024 * 1024;
    private static final KubeletCheckpoint NONE = new KubeletCheckpoint(List.of(), false);

    /** What one container was given, ordinary init containers among them. */
    record Entry(String podUid, String container, String resource, Set<String> deviceIds) {}

    /** Every device that was given to somebody. */
    Set<String> deviceIds() {
        return entries.stream().flatMap(entry -> entry.deviceIds().stream()).collect(Collectors.toSet());
    }

    /** What an earlier reading says, too. */
    List<Entry> alsoIn(KubeletCheckpoint earlier) {
        return entries.stream().filter(earlier.entries::contains).toList();
    }

    static KubeletCheckpoint read(Path file, Predicate<String> ours) {
        try {
            return Files.exists(file) && Files.size(file) <= MAX_BYTES
                    ? parse(new JsonObject(Files.readString(file)), ours)
                    : NONE;
        } catch (IOException | RuntimeException unreadable) {
            return NONE;
        }
    }

    private static KubeletCheckpoint parse(JsonObject checkpoint, Predicate<String> ours) {
        var entries = new ArrayList<Entry>();
        JsonArray all =
                checkpoint.getJsonObject("Data", new JsonObject()).getJsonArray("PodDeviceEntries", new JsonArray());
        for (Object element : all == null ? new JsonArray() : all) {
            if (element instanceof JsonObject entry && ours.test(entry.getString("ResourceName", ""))) {
                entries.add(new Entry(
                        entry.getString("PodUID", ""),
                        entry.getString("ContainerName", ""),
                        entry.getString("ResourceName", ""),
                        ids(entry)));
            }
        }
        return new KubeletCheckpoint(entries, true);
    }

    /** Device ids stand by NUMA node since checkpoints of version 2, in one list before. */
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
