package io.gpufleet.nodedaemon.model;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The list that the kubelet is told; immutable, so that an RPC answers from it without waiting for anybody. */
public final class DeviceList {
    private final long version;
    private final List<Offer> devices;
    private final Map<String, Offer> byId = new HashMap<>();

    /** A list; versions count up with every change. */
    public DeviceList(long version, List<Offer> devices) {
        this.version = version;
        this.devices = List.copyOf(devices);
        devices.forEach(offer -> byId.put(offer.id(), offer));
    }

    /** Counts up with every change. */
    public long version() {
        return version;
    }

    /** Every device, by index. */
    public List<Offer> devices() {
        return devices;
    }

    /** The device with the id. */
    public Optional<Offer> find(String id) {
        return Optional.ofNullable(byId.get(id));
    }

    /** Number of devices that are offered Healthy. */
    public int healthy() {
        return (int) devices.stream().filter(Offer::healthy).count();
    }
}
