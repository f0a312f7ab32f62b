package io.gpufleet.nodedaemon.metrics;

import io.gpufleet.nodedaemon.model.holders.Holder;
import io.gpufleet.nodedaemon.model.holders.Holdings;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Holders by the UUID of the device. */
final class HoldersByDevice {
    private static final String REPLICA_SEPARATOR = "::";

    private final Map<String, List<DeviceHolder>> byDevice = new HashMap<>();

    /**
     * One holder of a device.
     *
     * @param replica number of the replica; empty if the device is not shared
     */
    record DeviceHolder(Holder holder, String replica) {
        String labels(String before) {
            return MetricLabels.after(before)
                    .with("container", holder.container())
                    .with("namespace", holder.namespace())
                    .with("pod", holder.pod())
                    .with("pod_uid", holder.podUid())
                    .with("vgpu", replica)
                    .text();
        }
    }

    HoldersByDevice(Holdings holdings) {
        for (Holder holder : holdings.holders()) {
            for (String id : holder.deviceIds()) {
                int separator = id.indexOf(REPLICA_SEPARATOR);
                String uuid = separator < 0 ? id : id.substring(0, separator);
                String replica = separator < 0 ? "" : id.substring(separator + REPLICA_SEPARATOR.length());
                byDevice.computeIfAbsent(uuid, _ -> new ArrayList<>()).add(new DeviceHolder(holder, replica));
            }
        }
    }

    List<DeviceHolder> of(String deviceUuid) {
        return byDevice.getOrDefault(deviceUuid, List.of());
    }
}
