package io.gpufleet.nodedaemon.model.preferred;

import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevice;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.settings.ReplicaAllocationPolicy;
import java.util.BitSet;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Answers GetPreferredAllocation for one device list. Immutable, so that an RPC reads it without waiting. It always returns a
 * valid set: an error fails the pod.
 */
public final class PreferredAllocation {
    private static final DeviceRank UNKNOWN = new DeviceRank(-1, Integer.MAX_VALUE, false);

    private final GpuTopology topology;
    private final ReplicaAllocationPolicy order;
    /** Position of the GPU of every listed device, in the order of the list. */
    private final Map<String, DeviceRank> ranks;
    /** Number of listed devices of each GPU. */
    private final int[] listed;

    private PreferredAllocation(GpuTopology topology, ReplicaAllocationPolicy order, DeviceList list) {
        this.topology = topology;
        this.order = order;
        this.ranks = HashMap.newHashMap(list.devices().size());
        this.listed = new int[topology.size()];
        for (OfferedDevice offer : list.devices()) {
            int gpu = topology.indexOf(offer.gpu().uuid());
            if (ranks.putIfAbsent(offer.id(), new DeviceRank(gpu, ranks.size(), offer.healthy())) == null) {
                listed[gpu]++;
            }
        }
    }

    /** Prepares answers for a list. Takes 1 ms for 16 GPUs, 10 ms in a new JVM, so an RPC must not do it. */
    public static PreferredAllocation of(DeviceList list, ReplicaAllocationPolicy order) {
        return new PreferredAllocation(GpuTopology.of(gpus(list)), order, list);
    }

    /** Prepares answers for another list; the topology of the same GPUs is reused. */
    public PreferredAllocation with(DeviceList next, ReplicaAllocationPolicy spread) {
        List<Gpu> gpus = gpus(next);
        return new PreferredAllocation(gpus.equals(topology.gpus()) ? topology : GpuTopology.of(gpus), spread, next);
    }

    private static List<Gpu> gpus(DeviceList list) {
        var gpus = new LinkedHashMap<String, Gpu>();
        list.devices().forEach(offer -> gpus.putIfAbsent(offer.gpu().uuid(), offer.gpu()));
        return List.copyOf(gpus.values());
    }

    /**
     * Chooses the devices of one container.
     *
     * @param available ids to choose from; unknown and Unhealthy ones are chosen only when the others do not suffice
     * @param mustInclude ids that are always part of the result, up to the first {@code size} of them
     * @param size number of devices; fewer are returned when fewer exist, none when it is not positive
     */
    public List<String> choose(Collection<String> available, Collection<String> mustInclude, int size) {
        var chosen = new LinkedHashSet<String>();
        mustInclude.stream().distinct().limit(Math.max(0, size)).forEach(chosen::add);
        List<String> rest = available.stream()
                .distinct()
                .filter(id -> !chosen.contains(id))
                .sorted(Comparator.comparing(this::rankOf))
                .toList();
        List<String> good = rest.stream().filter(id -> rankOf(id).healthy()).toList();
        int desired = size - chosen.size();
        if (desired > 0) {
            chosen.addAll(desired < good.size() ? best(chosen, good, desired) : rest);
        }
        return chosen.stream().limit(Math.max(0, size)).toList();
    }

    private List<String> best(Set<String> must, List<String> free, int count) {
        return onePerGpu(must, free) ? fullGpus(must, free, count) : replicas(must, free, count);
    }

    private boolean onePerGpu(Set<String> must, List<String> free) {
        var seen = new HashSet<Integer>();
        return free.stream().allMatch(id -> seen.add(rankOf(id).gpu()))
                && must.stream().map(this::rankOf).filter(DeviceRank::listed).allMatch(p -> seen.add(p.gpu()));
    }

    private List<String> fullGpus(Set<String> must, List<String> free, int count) {
        var chosen = topology.choose(gpusOf(must), gpusOf(free), count);
        return free.stream().filter(id -> chosen.get(rankOf(id).gpu())).toList();
    }

    private BitSet gpusOf(Collection<String> ids) {
        var gpus = new BitSet();
        ids.stream().map(this::rankOf).filter(DeviceRank::listed).forEach(position -> gpus.set(position.gpu()));
        return gpus;
    }

    private List<String> replicas(Set<String> must, List<String> free, int count) {
        var shares = new SharedGpuSelection(topology, order, listed);
        must.stream()
                .map(this::rankOf)
                .filter(DeviceRank::listed)
                .forEach(position -> shares.addChosen(position.gpu()));
        free.forEach(id -> shares.addAvailable(rankOf(id).gpu(), id));
        return shares.choose(count);
    }

    private DeviceRank rankOf(String id) {
        return ranks.getOrDefault(id, UNKNOWN);
    }

    /** A device to choose: Healthy ones first, then in the order of the list; unlisted ones last. */
    private record DeviceRank(int gpu, int order, boolean healthy) implements Comparable<DeviceRank> {
        boolean listed() {
            return gpu >= 0;
        }

        @Override
        public int compareTo(DeviceRank other) {
            int byHealth = Boolean.compare(other.healthy, healthy);
            return byHealth != 0 ? byHealth : Integer.compare(order, other.order);
        }
    }
}
