package io.gpufleet.compose.kubelet;

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

/** What the kubelet remembers of devices and of who holds them. Safe for use by several threads. */
final class DeviceBook {
    /** A resource whose plugin is, or was, registered. */
    private static final class Entry {
        private boolean connected = true;
        private List<ResourceView.Device> devices = List.of();
    }

    private record Holder(PodKey pod, String container, String resource) {}

    private final Map<String, Entry> resources = new TreeMap<>();
    private final Map<Holder, Allocation> held = new LinkedHashMap<>();
    private final Map<String, Set<String>> reserved = new TreeMap<>();

    /** A plugin registered; its list is still to come, what was known of it stays unhealthy until then. */
    synchronized void connected(String resource) {
        resources.computeIfAbsent(resource, name -> new Entry()).connected = true;
    }

    /** The list replaces what was known; ids that stand twice collapse. */
    synchronized void listed(String resource, List<ResourceView.Device> devices) {
        var byId = new TreeMap<String, ResourceView.Device>();
        devices.forEach(device -> byId.put(device.id(), device));
        resources.computeIfAbsent(resource, name -> new Entry()).devices = List.copyOf(byId.values());
    }

    /** The stream ended: capacity stays, nothing is healthy. */
    synchronized void disconnected(String resource) {
        Entry entry = resources.get(resource);
        if (entry != null) {
            entry.connected = false;
            entry.devices = entry.devices.stream()
                    .map(device -> new ResourceView.Device(device.id(), false, device.numa()))
                    .toList();
        }
    }

    /** Forgets a resource whose plugin stayed away; tells whether there was anything to forget. */
    synchronized boolean dropIfDisconnected(String resource) {
        Entry entry = resources.get(resource);
        return entry != null && !entry.connected && resources.remove(resource) != null;
    }

    /** A kubelet that starts knows of its checkpointed resources only that they were there: capacity 0. */
    synchronized void forgetDevices() {
        resources.values().forEach(entry -> {
            entry.connected = false;
            entry.devices = List.of();
        });
    }

    /** Healthy devices that nobody holds and nobody is being given. */
    synchronized List<ResourceView.Device> free(String resource) {
        Set<String> taken = taken(resource);
        Entry entry = resources.get(resource);
        return entry == null
                ? List.of()
                : entry.devices.stream()
                        .filter(device -> device.healthy() && !taken.contains(device.id()))
                        .toList();
    }

    /** Whether a plugin for the resource is known, connected or not. */
    synchronized boolean knows(String resource) {
        return resources.containsKey(resource);
    }

    /** Keeps devices from others while Allocate is under way. */
    synchronized void reserve(String resource, List<String> ids) {
        reserved.computeIfAbsent(resource, name -> new HashSet<>()).addAll(ids);
    }

    /** Ends a reservation, whether or not it became an allocation. */
    synchronized void unreserve(String resource, List<String> ids) {
        reserved.getOrDefault(resource, new HashSet<>()).removeAll(ids);
    }

    /** What a container already holds. */
    synchronized Optional<Allocation> find(PodKey pod, String container, String resource) {
        return Optional.ofNullable(held.get(new Holder(pod, container, resource)));
    }

    /** A container holds devices from now on. */
    synchronized void hold(Allocation allocation) {
        held.put(new Holder(allocation.pod(), allocation.container(), allocation.resource()), allocation);
    }

    /** The pod holds nothing any more; tells whether it held something. */
    synchronized boolean release(String namespace, String name) {
        return held.keySet()
                .removeIf(holder -> holder.pod().namespace().equals(namespace)
                        && holder.pod().name().equals(name));
    }

    /** All that is held, in the order of allocation. */
    synchronized List<Allocation> allocations() {
        return List.copyOf(held.values());
    }

    /** All resources, by name. */
    synchronized Map<String, ResourceView> views() {
        var views = new TreeMap<String, ResourceView>();
        resources.forEach((name, entry) -> views.put(
                name,
                new ResourceView(
                        name,
                        entry.connected,
                        entry.devices.stream()
                                .sorted(Comparator.comparing(ResourceView.Device::id))
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
        held.values().stream()
                .filter(allocation -> allocation.resource().equals(resource))
                .forEach(allocation -> ids.addAll(allocation.deviceIds()));
        return ids;
    }
}
