package io.gpufleet.nodedaemon.model.allocation;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The device list of one resource as sent to the kubelet. Immutable, so that an RPC reads it without waiting. */
public final class DeviceList {
    private final long version;
    private final List<OfferedDevice> devices;
    private final Map<String, OfferedDevice> byId = new HashMap<>();

    /** Makes a list; the version increases with every change. */
    public DeviceList(long version, List<OfferedDevice> devices) {
        this.version = version;
        this.devices = List.copyOf(devices);
        devices.forEach(offer -> byId.put(offer.id(), offer));
    }

    /** Version, which increases with every change. */
    public long version() {
        return version;
    }

    /** Returns every device, by index. */
    public List<OfferedDevice> devices() {
        return devices;
    }

    /** Returns the device with the id. */
    public Optional<OfferedDevice> find(String id) {
        return Optional.ofNullable(byId.get(id));
    }

    /** Number of Healthy devices. */
    public int healthy() {
        return (int) devices.stream().filter(OfferedDevice::healthy).count();
    }
}
