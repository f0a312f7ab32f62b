package io.gpufleet.nodedaemon.model.preferred;

import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.Reading;
import java.util.List;
import java.util.Optional;

/**
 * How near each pair of GPUs is, as one number that may be summed over pairs: NVLinks above NUMA above nearness on PCI,
 * each in bits of its own, wide enough for the sum over all pairs of {@value #MOST} GPUs. Nearness on PCI is the level where
 * what is above each GPU is known, else a hint by bus numbers.
 */
final class Affinity {
    /** More GPUs than any node has. */
    static final int MOST = 256;

    /** More than the 36 that NVML counts; with more, the sum over all pairs would not fit. */
    private static final int MOST_LINKS = 63;

    private static final int NUMA_SHIFT = 24;
    private static final int LINK_SHIFT = 42;
    private static final int SAME_NUMA = 2;
    private static final int UNKNOWN_NUMA = 1;
    private static final int ONE_BRIDGE = 2;
    private static final int ONE_SWITCH = 3;

    private final int size;
    private final boolean routed;
    private final long[] pairs;

    /** Reads each pair once. */
    Affinity(List<Gpu> gpus) {
        this.size = gpus.size();
        this.pairs = new long[size * size];
        this.routed = gpus.stream().allMatch(gpu -> gpu.pciRoute() instanceof Reading.Known);
        var addresses =
                gpus.stream().map(gpu -> PciAddress.parse(gpu.pciBusId())).toList();
        for (int a = 0; a < size; a++) {
            for (int b = 0; b < a; b++) {
                long links = Math.min(
                        links(gpus.get(a), gpus.get(b), addresses.get(b)),
                        links(gpus.get(b), gpus.get(a), addresses.get(a)));
                long weight = links << LINK_SHIFT
                        | (long) numa(gpus.get(a), gpus.get(b)) << NUMA_SHIFT
                        | (routed
                                ? level(route(gpus.get(a)), route(gpus.get(b)))
                                : closeness(addresses.get(a), addresses.get(b)));
                pairs[a * size + b] = weight;
                pairs[b * size + a] = weight;
            }
        }
    }

    /** Number of GPUs. */
    int size() {
        return size;
    }

    /** The number of a pair; 0 for a GPU and itself. */
    long between(int a, int b) {
        return pairs[a * size + b];
    }

    /** Whether NVLink joins the two. */
    boolean linked(int a, int b) {
        return between(a, b) >>> LINK_SHIFT > 0;
    }

    /** What is measured of a sum: NVLinks, NUMA and the level on PCI where that is known. */
    long measured(long sum) {
        return routed ? sum : sum >>> NUMA_SHIFT;
    }

    /** What is only hinted at in a sum: closeness of bus numbers. */
    long hinted(long sum) {
        return routed ? 0 : sum & (1L << NUMA_SHIFT) - 1;
    }

    /** Links as one end tells; the pair counts what both ends tell, for a link works only with both. */
    private static int links(Gpu from, Gpu to, Optional<PciAddress> address) {
        int links = 0;
        for (Gpu.Link link : from.links()) {
            if (link.viaSwitch() ? onOneFabric(from, to) : leadsTo(link, to, address)) {
                links += Math.max(0, link.count());
            }
        }
        return Math.min(links, MOST_LINKS);
    }

    private static boolean leadsTo(Gpu.Link link, Gpu to, Optional<PciAddress> address) {
        return address.isPresent()
                ? PciAddress.parse(link.peerPciBusId()).equals(address)
                : !to.pciBusId().isEmpty() && link.peerPciBusId().equalsIgnoreCase(to.pciBusId());
    }

    /** The switches of a node join all of its GPUs, unless both GPUs name fabrics and these differ. */
    private static boolean onOneFabric(Gpu a, Gpu b) {
        boolean apart = a.fabricClique() instanceof Reading.Known<String>(String one)
                && b.fabricClique() instanceof Reading.Known<String>(String other)
                && !one.equals(other);
        return !apart && b.links().stream().anyMatch(Gpu.Link::viaSwitch);
    }

    private static int numa(Gpu a, Gpu b) {
        return a.numaNode() instanceof Reading.Known<Integer>(Integer one)
                        && b.numaNode() instanceof Reading.Known<Integer>(Integer other)
                ? one.equals(other) ? SAME_NUMA : 0
                : UNKNOWN_NUMA;
    }

    private static List<String> route(Gpu gpu) {
        return gpu.pciRoute().orElse(List.of());
    }

    /** 3 below one switch, 2 below one bridge, 1 below one root, 0 where even that differs. */
    private static int level(List<String> a, List<String> b) {
        int common = 0;
        while (common < Math.min(a.size(), b.size()) && a.get(common).equals(b.get(common))) {
            common++;
        }
        boolean oneSwitch = a.size() - common <= 1 && b.size() - common <= 1;
        return common < 2 ? common : oneSwitch ? ONE_SWITCH : ONE_BRIDGE;
    }

    private static int closeness(Optional<PciAddress> a, Optional<PciAddress> b) {
        return a.isPresent() && b.isPresent() ? a.get().closeness(b.get()) : 0;
    }
}
