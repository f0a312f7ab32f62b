package io.gpufleet.nodedaemon.model;

import io.gpufleet.nodedaemon.model.AllocationAnswer.DeviceNode;
import io.gpufleet.nodedaemon.model.AllocationAnswer.Grant;
import io.gpufleet.nodedaemon.model.AllocationAnswer.Mount;
import io.gpufleet.nodedaemon.model.AllocationAnswer.Refusal;
import io.gpufleet.nodedaemon.model.AllocationAnswer.Refused;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.Strategy;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Answers Allocate from a list of devices: a pure function.
 *
 * @param settings how devices are made visible and shared
 * @param host device nodes that the host has
 */
public record Allocator(PluginSettings settings, HostNodes host) {
    /** What each container needs, or why the whole call fails: one bad container request fails all. */
    public AllocationAnswer answer(DeviceList list, List<List<String>> containers) {
        if (containers.isEmpty()) {
            return new Refused(Refusal.INVALID_ARGUMENT, "no container request; ask for at least one device");
        }
        var grants = new ArrayList<Grant>();
        var taken = new HashSet<String>();
        for (List<String> ids : containers) {
            Optional<Refused> refused = refusal(list, ids, taken);
            if (refused.isPresent()) {
                return refused.get();
            }
            grants.add(grant(list, ids));
        }
        return new AllocationAnswer.Granted(grants);
    }

    /** Why these ids can not be given to one container; empty when they can. */
    public Optional<Refused> refusal(DeviceList list, List<String> ids, Set<String> taken) {
        if (ids.isEmpty()) {
            return Optional.of(
                    new Refused(Refusal.INVALID_ARGUMENT, "no device id in the request; ask for at least one device"));
        }
        for (String id : ids) {
            var offer = list.find(id);
            if (offer.isEmpty()) {
                return Optional.of(new Refused(
                        Refusal.INVALID_ARGUMENT,
                        "unknown device '" + shown(id) + "': this node does not offer it; the kubelet's list is older"
                                + " than ours, delete the pod so that it is scheduled again"));
            }
            if (!taken.add(id)) {
                return Optional.of(new Refused(
                        Refusal.INVALID_ARGUMENT, "device '" + id + "' is asked for twice; name each device once"));
            }
            if (!offer.get().healthy()) {
                return Optional.of(new Refused(
                        Refusal.FAILED_PRECONDITION,
                        "device '" + id + "' is unhealthy (" + offer.get().reason()
                                + "); delete the pod so that it gets another device, see this node's /metrics"));
            }
            if (settings.sharing().failGreaterThanOne() && offer.get().replicas() > 1 && ids.size() > 1) {
                return Optional.of(new Refused(
                        Refusal.INVALID_ARGUMENT,
                        "invalid allocation request for '" + offer.get().resource()
                                + "': maximum request size for shared resources is 1; found " + ids.size()
                                + "; two shares are no more than one, ask for 1"));
            }
        }
        return Optional.empty();
    }

    private Grant grant(DeviceList list, List<String> ids) {
        AllocateSettings allocate = settings.allocate();
        List<Offer> offers = list.devices().stream()
                .filter(offer -> ids.contains(offer.id()))
                .toList();
        Map<String, String> environment = new LinkedHashMap<>();
        var mounts = new ArrayList<Mount>();
        var nodes = new ArrayList<DeviceNode>();
        if (allocate.strategies().contains(Strategy.ENVVAR)) {
            environment.put(
                    "NVIDIA_VISIBLE_DEVICES",
                    String.join(
                            ",",
                            offers.stream().map(Offer::deviceUuid).distinct().toList()));
        }
        if (allocate.strategies().contains(Strategy.HOST_MOUNTS)) {
            if (!allocate.driverRoot().equals("/")) {
                mounts.add(new Mount(allocate.driverRoot(), "/usr/local/nvidia"));
            }
            host.control().forEach(node -> nodes.add(new DeviceNode(node, "rw")));
            offers.stream()
                    .map(offer -> "/dev/nvidia" + offer.gpu().minor())
                    .distinct()
                    .forEach(node -> nodes.add(new DeviceNode(node, "rw")));
        }
        return new Grant(environment, mounts, nodes, Map.of(), List.of());
    }

    private static String shown(String untrusted) {
        return untrusted.length() <= 80 ? untrusted : untrusted.substring(0, 80) + "…";
    }
}
