package io.gpufleet.nodedaemon.model.preferred;

import io.gpufleet.nodedaemon.model.DeviceList;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.Offer;
import io.gpufleet.nodedaemon.model.settings.ReplicaOrder;
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
 * Answers GetPreferredAllocation from a list of devices; immutable, so that an RPC answers from it without waiting for
 * anybody. It always answers with a valid set: an error here fails the pod.
 */
public final class PreferredAllocation {
    private static final Place UNKNOWN = new Place(-1, Integer.MAX_VALUE, false);

    private final Topology topology;
    private final ReplicaOrder order;
    /** Of every listed device, in the order of the list. */
    private final Map<String, Place> places;
    /** Number of listed devices of each GPU. */
    private final int[] listed;

    private PreferredAllocation(Topology topology, ReplicaOrder order, DeviceList list) {
        this.topology = topology;
        this.order = order;
        this.places = HashMap.newHashMap(list.devices().size());
        this.listed = new int[topology.size()];
        for (Offer offer : list.devices()) {
            int gpu = topology.place(offer.gpu().uuid());
            if (places.putIfAbsent(offer.id(), new Place(gpu, places.size(), offer.healthy())) == null) {
                listed[gpu]++;
            }
        }
    }

    /** Answers from a list. Takes a millisecond for 16 GPUs, ten in a JVM just started: a call must not do it. */
    public static PreferredAllocation of(DeviceList list, ReplicaOrder order) {
        return new PreferredAllocation(Topology.of(gpus(list)), order, list);
    }

    /** Answers from another list, mostly of the same GPUs; what was computed of them stays. */
    public PreferredAllocation with(DeviceList next, ReplicaOrder spread) {
        List<Gpu> gpus = gpus(next);
        return new PreferredAllocation(gpus.equals(topology.gpus()) ? topology : Topology.of(gpus), spread, next);
    }

    private static List<Gpu> gpus(DeviceList list) {
        var gpus = new LinkedHashMap<String, Gpu>();
        list.devices().forEach(offer -> gpus.putIfAbsent(offer.gpu().uuid(), offer.gpu()));
        return List.copyOf(gpus.values());
    }

    /**
     * The devices to give to one container.
     *
     * @param available ids to choose from; unknown and unhealthy ones are taken only when the others do not suffice
     * @param mustInclude ids that are in whatever they are, the first {@code size} of them
     * @param size how many; fewer come back when fewer are there, none when it is not positive
     */
    public List<String> choose(Collection<String> available, Collection<String> mustInclude, int size) {
        var chosen = new LinkedHashSet<String>();
        mustInclude.stream().distinct().limit(Math.max(0, size)).forEach(chosen::add);
        List<String> rest = available.stream()
                .distinct()
                .filter(id -> !chosen.contains(id))
                .sorted(Comparator.comparing(this::placeOf))
                .toList();
        List<String> good = rest.stream().filter(id -> placeOf(id).healthy()).toList();
        int wanted = size - chosen.size();
        if (wanted > 0) {
            chosen.addAll(wanted < good.size() ? best(chosen, good, wanted) : rest);
        }
        return chosen.stream().limit(Math.max(0, size)).toList();
    }

    private List<String> best(Set<String> must, List<String> free, int count) {
        return onePerGpu(must, free) ? whole(must, free, count) : shares(must, free, count);
    }

    private boolean onePerGpu(Set<String> must, List<String> free) {
        var seen = new HashSet<Integer>();
        return free.stream().allMatch(id -> seen.add(placeOf(id).gpu()))
                && must.stream().map(this::placeOf).filter(Place::listed).allMatch(p -> seen.add(p.gpu()));
    }

    private List<String> whole(Set<String> must, List<String> free, int count) {
        var chosen = topology.choose(gpusOf(must), gpusOf(free), count);
        return free.stream().filter(id -> chosen.get(placeOf(id).gpu())).toList();
    }

    private BitSet gpusOf(Collection<String> ids) {
        var gpus = new BitSet();
        ids.stream().map(this::placeOf).filter(Place::listed).forEach(place -> gpus.set(place.gpu()));
        return gpus;
    }

    private List<String> shares(Set<String> must, List<String> free, int count) {
        var shares = new Shares(topology, order, listed);
        must.stream().map(this::placeOf).filter(Place::listed).forEach(place -> shares.join(place.gpu()));
        free.forEach(id -> shares.offer(placeOf(id).gpu(), id));
        return shares.take(count);
    }

    private Place placeOf(String id) {
        return places.getOrDefault(id, UNKNOWN);
    }

    /** A device: healthy ones first, then in the order of the list; those that are not listed come last. */
    private record Place(int gpu, int order, boolean healthy) implements Comparable<Place> {
        boolean listed() {
            return gpu >= 0;
        }

        @Override
        public int compareTo(Place other) {
            int byHealth = Boolean.compare(other.healthy, healthy);
            return byHealth != 0 ? byHealth : Integer.compare(order, other.order);
        }
    }
}
