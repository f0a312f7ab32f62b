package io.gpufleet.testbed.fakekubelet;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** The devices of all resources and their holders. Safe for use by several threads. */
final class DeviceInventory {
    /** A resource with a registered plugin, now or before. */
    private static final class ResourceEntry {
        private boolean connected = true;
        private List<AdvertisedResource.Device> devices = List.of();
    }

    private record Holder(PodKey pod, String container, String resource) {}

    private final Map<String, ResourceEntry> resources = new TreeMap<>();
    private final Map<Holder, DeviceAllocation> byHolder = new LinkedHashMap<>();
    private final Map<String, Set<String>> reserved = new TreeMap<>();

    /** Adds a registered plugin; known devices stay unhealthy until its list arrives. */
    synchronized void pluginConnected(String resource) {
        resources.computeIfAbsent(resource, name -> new ResourceEntry()).connected = true;
    }

    /** Replaces the devices by a list; duplicate ids count once. */
    synchronized void setDevices(String resource, List<AdvertisedResource.Device> devices) {
        var byId = new TreeMap<String, AdvertisedResource.Device>();
        devices.forEach(device -> byId.put(device.id(), device));
        resources.computeIfAbsent(resource, name -> new ResourceEntry()).devices = List.copyOf(byId.values());
    }

    /** Marks every device unhealthy after the end of the stream; capacity stays. */
    synchronized void pluginDisconnected(String resource) {
        ResourceEntry entry = resources.get(resource);
        if (entry != null) {
            entry.connected = false;
            entry.devices = entry.devices.stream()
                    .map(device -> new AdvertisedResource.Device(device.id(), false, device.numa()))
                    .toList();
        }
    }

    /** Removes a resource whose plugin did not return; false when there was none. */
    synchronized boolean dropIfDisconnected(String resource) {
        ResourceEntry entry = resources.get(resource);
        return entry != null && !entry.connected && resources.remove(resource) != null;
    }

    /** Clears the devices; a kubelet that starts reports checkpointed resources with capacity 0. */
    synchronized void clearDevices() {
        resources.values().forEach(entry -> {
            entry.connected = false;
            entry.devices = List.of();
        });
    }

    /** Healthy devices, neither allocated nor reserved. */
    synchronized List<AdvertisedResource.Device> free(String resource) {
        Set<String> taken = taken(resource);
        ResourceEntry entry = resources.get(resource);
        return entry == null
                ? List.of()
                : entry.devices.stream()
                        .filter(device -> device.healthy() && !taken.contains(device.id()))
                        .toList();
    }

    /** True when a plugin for the resource is known, connected or not. */
    synchronized boolean isKnown(String resource) {
        return resources.containsKey(resource);
    }

    /** Reserves devices during Allocate. */
    synchronized void reserve(String resource, List<String> ids) {
        reserved.computeIfAbsent(resource, name -> new HashSet<>()).addAll(ids);
    }

    /** Ends a reservation. */
    synchronized void unreserve(String resource, List<String> ids) {
        ids.forEach(reserved.getOrDefault(resource, new HashSet<>())::remove);
    }

    /** The allocation of a container. */
    synchronized Optional<DeviceAllocation> find(PodKey pod, String container, String resource) {
        return Optional.ofNullable(byHolder.get(new Holder(pod, container, resource)));
    }

    /** Adds an allocation. */
    synchronized void add(DeviceAllocation allocation) {
        byHolder.put(new Holder(allocation.pod(), allocation.container(), allocation.resource()), allocation);
    }

    /** Removes the allocations of a pod; false when it had none. */
    synchronized boolean release(String namespace, String name) {
        return byHolder.keySet()
                .removeIf(holder -> holder.pod().namespace().equals(namespace)
                        && holder.pod().name().equals(name));
    }

    /** All allocations, in order. */
    synchronized List<DeviceAllocation> allocations() {
        return List.copyOf(byHolder.values());
    }

    /** All resources, by name. */
    synchronized Map<String, AdvertisedResource> views() {
        var views = new TreeMap<String, AdvertisedResource>();
        resources.forEach((name, entry) -> views.put(
                name,
                new AdvertisedResource(
                        name,
                        entry.connected,
                        entry.devices.stream()
                                .sorted(Comparator.comparing(AdvertisedResource.Device::id))
                                .toList(),
                        new ArrayList<>(new TreeSet<>(heldIds(name))))));
        return views;
    }

    private Set<String> taken(String resource) {
        Set<String> taken = heldIds(resource);
        taken.addAll(reserved.getOrDefault(resource, Set.of()));
        return taken;
    }

    private Set<String> heldIds(String resource) {
        var ids = new HashSet<String>();
        byHolder.values().stream()
                .filter(allocation -> allocation.resource().equals(resource))
                .forEach(allocation -> ids.addAll(allocation.deviceIds()));
        return ids;
    }
}
