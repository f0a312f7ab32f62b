package io.gpufleet.nodedaemon.model.preferred;

import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.PciAddress;
import io.gpufleet.nodedaemon.model.device.Reading;
import java.util.List;
import java.util.Optional;

/**
 * Affinity of each pair of GPUs as one number that may be summed over pairs: NVLinks before NUMA before PCI, each in its own
 * bits, wide enough for the sum over all pairs of {@value #MAX_GPUS} GPUs. PCI affinity is the level of the common bridge when
 * the route of every GPU is known, else a hint by bus numbers.
 */
final class GpuPairScores {
    /** More GPUs than any node has. */
    static final int MAX_GPUS = 256;

    /** More than the 36 that NVML counts; with more, the sum over all pairs would not fit. */
    private static final int MAX_LINKS = 63;

    private static final int NUMA_SHIFT = 24;
    private static final int LINK_SHIFT = 42;
    private static final int SAME_NUMA = 2;
    private static final int UNKNOWN_NUMA = 1;
    private static final int ONE_BRIDGE = 2;
    private static final int ONE_SWITCH = 3;
    private static final int BUSES = 256;

    private final int size;
    private final boolean routed;
    private final long[] pairs;

    /** Computes each pair once. */
    GpuPairScores(List<Gpu> gpus) {
        this.size = gpus.size();
        this.pairs = new long[size * size];
        this.routed = gpus.stream().allMatch(gpu -> gpu.topology().pciRoute() instanceof Reading.Known);
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

    /** Returns the affinity of a pair; 0 for a GPU and itself. */
    long between(int a, int b) {
        return pairs[a * size + b];
    }

    /** Whether the two are connected by NVLink. */
    boolean linked(int a, int b) {
        return between(a, b) >>> LINK_SHIFT > 0;
    }

    /** Returns the measured part of a sum: NVLinks, NUMA and the PCI level when known. */
    long measured(long sum) {
        return routed ? sum : sum >>> NUMA_SHIFT;
    }

    /** Returns the hint in a sum: proximity of bus numbers. */
    long hinted(long sum) {
        return routed ? 0 : sum & (1L << NUMA_SHIFT) - 1;
    }

    /** Returns the links as one end reports them; the pair counts the smaller number, since a link needs both ends. */
    private static int links(Gpu from, Gpu to, Optional<PciAddress> address) {
        int links = 0;
        for (Gpu.NvLinkPeer link : from.topology().links()) {
            if (link.viaSwitch() ? onOneFabric(from, to) : leadsTo(link, to, address)) {
                links += Math.max(0, link.count());
            }
        }
        return Math.min(links, MAX_LINKS);
    }

    private static boolean leadsTo(Gpu.NvLinkPeer link, Gpu to, Optional<PciAddress> address) {
        return address.isPresent()
                ? PciAddress.parse(link.peerPciBusId()).equals(address)
                : !to.pciBusId().isEmpty() && link.peerPciBusId().equalsIgnoreCase(to.pciBusId());
    }

    /** NVSwitches connect all GPUs of a node, unless both GPUs report a fabric clique and these differ. */
    private static boolean onOneFabric(Gpu a, Gpu b) {
        boolean apart = a.topology().fabricClique() instanceof Reading.Known<String>(String one)
                && b.topology().fabricClique() instanceof Reading.Known<String>(String other)
                && !one.equals(other);
        return !apart && b.topology().links().stream().anyMatch(Gpu.NvLinkPeer::viaSwitch);
    }

    private static int numa(Gpu a, Gpu b) {
        return a.topology().numaNode() instanceof Reading.Known<Integer>(Integer one)
                        && b.topology().numaNode() instanceof Reading.Known<Integer>(Integer other)
                ? one.equals(other) ? SAME_NUMA : 0
                : UNKNOWN_NUMA;
    }

    private static List<String> route(Gpu gpu) {
        return gpu.topology().pciRoute().orElse(List.of());
    }

    /** Returns 3 below one switch, 2 below one bridge, 1 below one root, else 0. */
    private static int level(List<String> a, List<String> b) {
        int common = 0;
        while (common < Math.min(a.size(), b.size()) && a.get(common).equals(b.get(common))) {
            common++;
        }
        boolean oneSwitch = a.size() - common <= 1 && b.size() - common <= 1;
        return common < 2 ? common : oneSwitch ? ONE_SWITCH : ONE_BRIDGE;
    }

    /**
     * Returns 0 for different domains to 256 for one bus. Firmware numbers buses depth first, so the devices below one PCIe switch
     * have consecutive numbers: close numbers hint at a shared switch, no more.
     */
    static int busProximity(PciAddress a, PciAddress b) {
        return a.domain() == b.domain() ? BUSES - Math.abs(a.bus() - b.bus()) : 0;
    }

    private static int closeness(Optional<PciAddress> a, Optional<PciAddress> b) {
        return a.isPresent() && b.isPresent() ? busProximity(a.get(), b.get()) : 0;
    }
}
