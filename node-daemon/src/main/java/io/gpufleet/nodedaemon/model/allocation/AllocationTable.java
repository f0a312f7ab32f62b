package io.gpufleet.nodedaemon.model.allocation;

import io.gpufleet.nodedaemon.model.allocation.AllocationResult.ContainerAllocation;
import io.gpufleet.nodedaemon.model.allocation.AllocationResult.RefusalCode;
import io.gpufleet.nodedaemon.model.allocation.AllocationResult.Refused;
import io.gpufleet.nodedaemon.model.allocation.DeviceInjection.InjectedDevice;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Precomputed allocations for one device list; an Allocate call only merges them. A merged one is kept: the same devices are
 * allocated together again and again.
 */
public final class AllocationTable {
    /** All sets of 8 GPUs; of more devices only the first sets are kept. */
    private static final int MAX_MERGED = 256;

    private final boolean failGreaterThanOne;
    private final List<DeviceInjection> injections;
    private final Map<String, Entry> byId = new HashMap<>();
    private final Map<BitSet, ContainerAllocation> merged = new ConcurrentHashMap<>();

    /** A device with its injections, and why it cannot be allocated although it is healthy. */
    private record Entry(int order, OfferedDevice offer, InjectedDevice device, String problem) {}

    AllocationTable(InjectionSelector chosen, String resource, DeviceList list) {
        this.failGreaterThanOne = chosen.sharing().failGreaterThanOne();
        this.injections = chosen.of(resource);
        // Computed once for all replicas of a device: a fault waits while the table is made.
        var handles = new HashMap<String, InjectedDevice>();
        for (OfferedDevice offer : list.devices()) {
            InjectedDevice handle = handles.computeIfAbsent(offer.deviceUuid(), _ -> chosen.injectedDevice(offer));
            byId.put(offer.id(), new Entry(byId.size(), offer, handle, chosen.problem(offer)));
        }
    }

    /** Answers an Allocate call: one bad container request refuses the whole call. */
    public AllocationResult allocate(List<List<String>> containers) {
        if (containers.isEmpty()) {
            return new Refused(RefusalCode.INVALID_ARGUMENT, "no container request; request at least one device");
        }
        var allocations = new ArrayList<ContainerAllocation>();
        var taken = new HashSet<String>();
        for (List<String> ids : containers) {
            Optional<Refused> refused = refusal(ids, taken).or(() -> unavailable(ids));
            if (refused.isPresent()) {
                return refused.get();
            }
            allocations.add(containerAllocation(ids));
        }
        return new AllocationResult.Accepted(allocations);
    }

    /** Returns why these ids cannot be allocated to one container; empty when they can. */
    public Optional<Refused> refusal(List<String> ids, Set<String> taken) {
        if (ids.isEmpty()) {
            return Optional.of(new Refused(
                    RefusalCode.INVALID_ARGUMENT, "no device id in the request; request at least one device"));
        }
        for (String id : ids) {
            Entry entry = byId.get(id);
            if (entry == null) {
                return Optional.of(new Refused(
                        RefusalCode.INVALID_ARGUMENT,
                        "unknown device '" + shortened(id)
                                + "': this node does not offer it; the kubelet's list is older"
                                + " than ours, delete the pod so that it is scheduled again"));
            }
            if (!taken.add(id)) {
                return Optional.of(new Refused(
                        RefusalCode.INVALID_ARGUMENT, "device '" + id + "' is requested twice; name each device once"));
            }
            if (!entry.offer().healthy()) {
                return Optional.of(new Refused(
                        RefusalCode.FAILED_PRECONDITION,
                        "device '" + id + "' is unhealthy ("
                                + entry.offer().health().reason()
                                + "); delete the pod so that it gets another device, see this node's /metrics"));
            }
            if (failGreaterThanOne && entry.offer().replicas() > 1 && ids.size() > 1) {
                return Optional.of(new Refused(
                        RefusalCode.INVALID_ARGUMENT,
                        "invalid allocation request for '" + entry.offer().resource()
                                + "': maximum request size for shared resources is 1; found " + ids.size()
                                + "; two replicas give no more than one, request 1"));
            }
        }
        return Optional.empty();
    }

    private Optional<Refused> unavailable(List<String> ids) {
        for (String id : ids) {
            Entry entry = byId.get(id);
            if (entry != null && !entry.problem().isEmpty()) {
                return Optional.of(new Refused(
                        RefusalCode.FAILED_PRECONDITION,
                        "device '" + entry.offer().id() + "' cannot be allocated: " + entry.problem()));
            }
        }
        return Optional.empty();
    }

    private ContainerAllocation containerAllocation(List<String> ids) {
        var devices = new BitSet(byId.size());
        for (String id : ids) {
            Entry entry = byId.get(id);
            if (entry != null) {
                devices.set(entry.order());
            }
        }
        ContainerAllocation known = merged.get(devices);
        if (known != null) {
            return known;
        }
        ContainerAllocation made = merge(ids);
        if (merged.size() < MAX_MERGED) {
            merged.put(devices, made);
        }
        return made;
    }

    private ContainerAllocation merge(List<String> ids) {
        var handles = new LinkedHashMap<String, InjectedDevice>();
        ids.stream()
                .map(byId::get)
                .sorted(Comparator.comparingInt(Entry::order))
                .forEach(entry -> handles.putIfAbsent(entry.device().name(), entry.device()));
        var draft = new ContainerAllocationBuilder();
        var devices = List.copyOf(handles.values());
        injections.forEach(injection -> injection.apply(draft, devices));
        return draft.build();
    }

    private static String shortened(String untrusted) {
        return untrusted.length() <= 80 ? untrusted : untrusted.substring(0, 80) + "…";
    }
}
