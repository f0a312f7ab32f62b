package io.gpufleet.nodedaemon.model.preferred;

import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import io.gpufleet.nodedaemon.model.allocation.GpuPartition;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevice;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.Reading;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.IntStream;

/** Topologies of real machines as their drivers report them. */
public final class TestTopologies {
    private static final String RESOURCE = "nvidia.com/gpu";

    /** Eight A100 on six NVSwitches; two GPUs on each PCIe switch, GPUs on four NUMA nodes. */
    static final List<Gpu> DGX_A100 = onSwitch(
            12, new int[] {0x07, 0x0F, 0x47, 0x4E, 0x87, 0x90, 0xB7, 0xBD}, new int[] {3, 3, 1, 1, 7, 7, 5, 5}, "");

    /** Eight V100 in a hybrid cube mesh, as printed by {@code nvidia-smi topo -m}. */
    public static final List<Gpu> DGX_1 = meshed(
            new int[] {0x06, 0x07, 0x0A, 0x0B, 0x85, 0x86, 0x89, 0x8A},
            new int[] {0, 0, 0, 0, 1, 1, 1, 1},
            new int[][] {
                {0, 1, 1, 2, 2, 0, 0, 0},
                {1, 0, 2, 1, 0, 2, 0, 0},
                {1, 2, 0, 2, 0, 0, 1, 0},
                {2, 1, 2, 0, 0, 0, 0, 1},
                {2, 0, 0, 0, 0, 1, 1, 2},
                {0, 2, 0, 0, 1, 0, 2, 1},
                {0, 0, 1, 0, 1, 2, 0, 2},
                {0, 0, 0, 1, 2, 1, 2, 0},
            });

    /** Eight cards without NVLink, four on each socket. */
    static final List<Gpu> PCIE = meshed(
            new int[] {0x16, 0x27, 0x38, 0x49, 0x98, 0xA8, 0xB8, 0xC8},
            new int[] {0, 0, 0, 0, 1, 1, 1, 1},
            new int[8][8]);

    private static final int[] DGX_2_BUSES = {
        0x34, 0x36, 0x39, 0x3B, 0x57, 0x59, 0x5C, 0x5E, 0xB7, 0xB9, 0xBC, 0xBE, 0xE0, 0xE2, 0xE5, 0xE7
    };
    private static final int[] HALVES = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};

    /** Sixteen V100, all on one NVSwitch fabric. */
    static final List<Gpu> DGX_2 = onSwitch(6, DGX_2_BUSES, HALVES, "");

    /** Sixteen GPUs on two boards whose switches are not connected; the GPUs of both sockets alternate. */
    static final List<Gpu> TWO_BOARDS =
            onSwitch(12, DGX_2_BUSES, new int[] {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}, "cluster.");

    private TestTopologies() {}

    /** Boards of eight connected GPUs each. */
    static List<Gpu> boards(int boards) {
        int[][] links = new int[boards * 8][boards * 8];
        for (int a = 0; a < links.length; a++) {
            for (int b = 0; b < links.length; b++) {
                links[a][b] = a != b && a / 8 == b / 8 ? 2 : 0;
            }
        }
        return meshed(IntStream.range(0, links.length).toArray(), new int[links.length], links);
    }

    /** Directly connected GPUs; a negative NUMA node could not be read. */
    static List<Gpu> meshed(int[] buses, int[] numa, int[][] links) {
        var gpus = new ArrayList<Gpu>();
        for (int a = 0; a < buses.length; a++) {
            var ends = new ArrayList<Gpu.NvLinkPeer>();
            for (int b = 0; b < buses.length; b++) {
                if (links[a][b] > 0) {
                    ends.add(new Gpu.NvLinkPeer(address(buses[b]), links[a][b], false));
                }
            }
            gpus.add(gpu(a, buses[a], numa[a], ends, ""));
        }
        return gpus;
    }

    /** GPUs connected by switches; with a fabric name, the upper half is on another fabric. */
    static List<Gpu> onSwitch(int links, int[] buses, int[] numa, String fabric) {
        var end = List.of(new Gpu.NvLinkPeer("", links, true));
        return IntStream.range(0, buses.length)
                .mapToObj(i -> gpu(i, buses[i], numa[i], end, fabric.isEmpty() ? "" : fabric + i * 2 / buses.length))
                .toList();
    }

    /** The same GPU with a PCI route. */
    public static Gpu routed(Gpu gpu, List<String> route) {
        return new Gpu(
                new Gpu.Identifiers(
                        gpu.uuid(),
                        gpu.identifiers().serial(),
                        gpu.index(),
                        gpu.identifiers().minor(),
                        gpu.pciBusId(),
                        gpu.identifiers().vbiosVersion()),
                new Gpu.Product(
                        gpu.model(),
                        gpu.product().shortModel(),
                        gpu.product().family(),
                        gpu.product().computeCapability(),
                        gpu.product().mode()),
                gpu.memoryBytes(),
                new Gpu.Topology(
                        gpu.topology().numaNode(),
                        gpu.topology().links(),
                        gpu.topology().fabricClique(),
                        new Reading.Known<>(route)),
                new Gpu.Mig(gpu.mig().enabled(), gpu.instances()),
                gpu.vgpuHost());
    }

    private static String address(int bus) {
        return String.format(Locale.ROOT, "%08X:%02X:00.0", bus >> 8, bus & 0xFF);
    }

    private static Gpu gpu(int index, int bus, int numa, List<Gpu.NvLinkPeer> links, String fabric) {
        return new Gpu(
                new Gpu.Identifiers(
                        uuid(index),
                        new Reading.Unavailable<>("NOT_SUPPORTED"),
                        index,
                        index,
                        address(bus),
                        new Reading.Unavailable<>("NOT_SUPPORTED")),
                new Gpu.Product("GPU of a test", "A100", "ampere", "8.0", new Reading.Known<>("compute")),
                new Reading.Known<>(40L << 30),
                new Gpu.Topology(
                        numa < 0 ? new Reading.Unavailable<>("the platform names none") : new Reading.Known<>(numa),
                        links,
                        fabric.isEmpty() ? new Reading.Unavailable<>("no fabric") : new Reading.Known<>(fabric),
                        new Reading.Unavailable<>("not read")),
                new Gpu.Mig(new Reading.Known<>(false), List.of()),
                new Reading.Unavailable<>("not read"));
    }

    /** The id of a whole GPU. */
    static String uuid(int index) {
        return String.format(Locale.ROOT, "GPU-%02d", index);
    }

    /** The ids of whole GPUs. */
    static List<String> uuids(int... indices) {
        return IntStream.of(indices).mapToObj(TestTopologies::uuid).toList();
    }

    /** The ids of whole GPUs, of a half-open range. */
    public static List<String> range(int from, int to) {
        return uuids(IntStream.range(from, to).toArray());
    }

    /** Whole GPUs, some of them unhealthy. */
    public static DeviceList whole(List<Gpu> gpus, Integer... unhealthy) {
        Collection<Integer> sick = Set.of(unhealthy);
        return new DeviceList(
                1,
                gpus.stream()
                        .map(gpu -> offer(gpu.uuid(), gpu, !sick.contains(gpu.index())))
                        .toList());
    }

    /** Replicas of GPUs. */
    static DeviceList replicated(List<Gpu> gpus, int replicas) {
        return new DeviceList(
                1,
                gpus.stream()
                        .flatMap(gpu ->
                                IntStream.range(0, replicas).mapToObj(n -> offer(replica(gpu.index(), n), gpu, true)))
                        .toList());
    }

    /** The id of a replica. */
    static String replica(int gpu, int number) {
        return uuid(gpu) + "::" + number;
    }

    private static OfferedDevice offer(String id, Gpu gpu, boolean healthy) {
        return new OfferedDevice(
                id,
                gpu,
                new GpuPartition.FullGpu(),
                RESOURCE,
                1,
                new OfferedDevice.Health(healthy, true, false, healthy ? "" : "lost: GPU_IS_LOST"));
    }
}
