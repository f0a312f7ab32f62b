package io.gpufleet.nodedaemon.podresources;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * What the kubelet's device checkpoint says of one resource: which pod UID has which device. Only a hint, since it may
 * be older or newer than the answer of podresources.
 *
 * @param uidByDevice pod UID by device id
 * @param readable whether there was a checkpoint to read
 */
record KubeletCheckpoint(Map<String, String> uidByDevice, boolean readable) {
    private static final long MAX_BYTES = 8L * 1024 * 1024;

    /** The pod UID that the checkpoint names for all of these devices; empty when it does not agree. */
    String podUid(Iterable<String> deviceIds) {
        Set<String> uids = new HashSet<>();
        deviceIds.forEach(id -> uids.add(uidByDevice.getOrDefault(id, "")));
        return uids.size() == 1 ? uids.iterator().next() : "";
    }

    static KubeletCheckpoint read(Path file, Predicate<String> ours) {
        try {
            if (!Files.exists(file) || Files.size(file) > MAX_BYTES) {
                return new KubeletCheckpoint(Map.of(), false);
            }
            return parse(new JsonObject(Files.readString(file)), ours);
        } catch (IOException | RuntimeException unreadable) {
            return new KubeletCheckpoint(Map.of(), false);
        }
    }

    /** Device ids stand by NUMA node since checkpoints of version 2, in one list before. */
    private static KubeletCheckpoint parse(JsonObject checkpoint, Predicate<String> ours) {
        var uids = new HashMap<String, String>();
        JsonArray entries =
                checkpoint.getJsonObject("Data", new JsonObject()).getJsonArray("PodDeviceEntries", new JsonArray());
        for (Object element : entries == null ? new JsonArray() : entries) {
            if (element instanceof JsonObject entry && ours.test(entry.getString("ResourceName", ""))) {
                String uid = entry.getString("PodUID", "");
                switch (entry.getValue("DeviceIDs")) {
                    case JsonObject byNode ->
                        byNode.forEach(node -> {
                            if (node.getValue() instanceof JsonArray ids) {
                                ids.forEach(id -> uids.put(String.valueOf(id), uid));
                            }
                        });
                    case JsonArray ids -> ids.forEach(id -> uids.put(String.valueOf(id), uid));
                    case null, default -> {}
                }
            }
        }
        return new KubeletCheckpoint(uids, true);
    }
}
