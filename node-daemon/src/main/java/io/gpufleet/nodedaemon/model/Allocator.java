package io.gpufleet.nodedaemon.model;

import io.gpufleet.nodedaemon.model.AllocationAnswer.DeviceNode;
import io.gpufleet.nodedaemon.model.AllocationAnswer.Grant;
import io.gpufleet.nodedaemon.model.AllocationAnswer.Mount;
import io.gpufleet.nodedaemon.model.AllocationAnswer.Refusal;
import io.gpufleet.nodedaemon.model.AllocationAnswer.Refused;
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
 * @param strategies how devices are made visible, at least one
 * @param driverRoot directory of the driver on the host; {@code /} means that images find it otherwise
 * @param controlNodes device nodes that every CUDA program needs, as found on the host
 */
public record Allocator(Set<Strategy> strategies, String driverRoot, List<String> controlNodes) {
    /** How devices are made visible to a container. */
    public enum Strategy {
        /** {@code NVIDIA_VISIBLE_DEVICES}, read by NVIDIA's container runtime. */
        ENVVAR("envvar"),
        /** Device nodes, and the driver's directory at {@code /usr/local/nvidia}; needs no special runtime. */
        HOST_MOUNTS("host-mounts");

        private final String word;

        Strategy(String word) {
            this.word = word;
        }

        /** The word in settings and events. */
        public String word() {
            return word;
        }
    }

    /** Copies. */
    public Allocator {
        strategies = Set.copyOf(strategies);
        controlNodes = List.copyOf(controlNodes);
    }

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
    public static Optional<Refused> refusal(DeviceList list, List<String> ids, Set<String> taken) {
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
        }
        return Optional.empty();
    }

    private Grant grant(DeviceList list, List<String> ids) {
        List<Offer> offers = list.devices().stream()
                .filter(offer -> ids.contains(offer.id()))
                .toList();
        Map<String, String> environment = new LinkedHashMap<>();
        var mounts = new ArrayList<Mount>();
        var nodes = new ArrayList<DeviceNode>();
        if (strategies.contains(Strategy.ENVVAR)) {
            environment.put(
                    "NVIDIA_VISIBLE_DEVICES",
                    String.join(",", offers.stream().map(o -> o.gpu().uuid()).toList()));
        }
        if (strategies.contains(Strategy.HOST_MOUNTS)) {
            if (!driverRoot.equals("/")) {
                mounts.add(new Mount(driverRoot, "/usr/local/nvidia"));
            }
            controlNodes.forEach(node -> nodes.add(new DeviceNode(node, "rw")));
            offers.forEach(offer ->
                    nodes.add(new DeviceNode("/dev/nvidia" + offer.gpu().minor(), "rw")));
        }
        return new Grant(environment, mounts, nodes);
    }

    private static String shown(String untrusted) {
        return untrusted.length() <= 80 ? untrusted : untrusted.substring(0, 80) + "…";
    }
}
