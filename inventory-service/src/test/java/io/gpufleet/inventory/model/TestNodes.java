package io.gpufleet.inventory.model;

import io.gpufleet.inventory.model.query.IndexedFleet;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Builds nodes and GPUs as daemons announce them. */
public final class TestNodes {
    /** Time of all announcements. */
    public static final Instant T0 = Instant.parse("2026-11-20T10:00:00Z");

    private static final long MIB = 1L << 20;

    private TestNodes() {}

    /** An A100 of 40 GB. */
    public static Gpu a100(int index) {
        return gpu(index, new Gpu.Product("NVIDIA A100-SXM4-40GB", "A100", "ampere", "8.0", "compute", 40_960 * MIB));
    }

    /** An H100 of 80 GB. */
    public static Gpu h100(int index) {
        return gpu(index, new Gpu.Product("NVIDIA H100 80GB HBM3", "H100", "hopper", "9.0", "compute", 81_559 * MIB));
    }

    /** A V100 of 16 GB, which has no MIG. */
    public static Gpu v100(int index) {
        return withMig(
                gpu(index, new Gpu.Product("Tesla V100-SXM2-16GB", "V100", "volta", "7.0", "compute", 16_160 * MIB)),
                new Gpu.Mig(Gpu.MigMode.NONE, List.of()));
    }

    /** An A100 with MIG instances of one profile. */
    public static Gpu migGpu(int index, String profile, int instances) {
        var created = new ArrayList<Gpu.MigInstance>();
        for (int i = 0; i < instances; i++) {
            created.add(new Gpu.MigInstance(
                    "MIG-" + index + "-" + i,
                    profile,
                    i + 1,
                    0,
                    "nvidia.com/gpu",
                    new Gpu.MigAttributes(4_864 * MIB, 14, 1, 1, new Gpu.Engines(1, 2, 0, 1, 0))));
        }
        return withMig(a100(index), new Gpu.Mig(Gpu.MigMode.ENABLED, created));
    }

    /** The same GPU, shared by replicas. */
    public static Gpu shared(Gpu gpu, Gpu.Sharing.SharingStrategy strategy, int replicas, String resource) {
        return new Gpu(
                gpu.id(),
                gpu.product(),
                gpu.topology(),
                gpu.mig(),
                resource,
                new Gpu.Sharing(strategy, replicas),
                gpu.localHealth(),
                gpu.vgpuHost());
    }

    /** The same GPU in another local health. */
    public static Gpu withHealth(Gpu gpu, Gpu.LocalHealth health) {
        return new Gpu(
                gpu.id(),
                gpu.product(),
                gpu.topology(),
                gpu.mig(),
                gpu.resource(),
                gpu.sharing(),
                health,
                gpu.vgpuHost());
    }

    /** The same GPU in a fabric clique. */
    public static Gpu onFabric(Gpu gpu, String clique) {
        var topology =
                new Gpu.Topology(gpu.topology().numaNode(), gpu.topology().nvlinkPeers(), clique);
        return new Gpu(
                gpu.id(),
                gpu.product(),
                topology,
                gpu.mig(),
                gpu.resource(),
                gpu.sharing(),
                gpu.localHealth(),
                gpu.vgpuHost());
    }

    /** The same GPU as a virtual one, with the driver of its host. */
    public static Gpu vgpu(Gpu gpu, String version, String branch) {
        return new Gpu(
                gpu.id(),
                gpu.product(),
                gpu.topology(),
                gpu.mig(),
                gpu.resource(),
                gpu.sharing(),
                gpu.localHealth(),
                new Gpu.VgpuHost(version, branch));
    }

    /** The announcement of a DGX with these GPUs. */
    public static Announcement announcement(Gpu... gpus) {
        return announcement(Announcement.MigStrategy.NONE, gpus);
    }

    /** The same under a MIG strategy. */
    public static Announcement announcement(Announcement.MigStrategy strategy, Gpu... gpus) {
        return new Announcement(
                new Announcement.NodeSystemInfo("boot-1", "6.8.0", "DGXA100 920-23687-2530-000"),
                new Announcement.Daemon("0.1.0", "simulated", T0.minusSeconds(60)),
                new Announcement.Driver(Announcement.DriverState.READY, "550.54.15", "12.4"),
                List.of(gpus),
                List.of(new Announcement.ExtendedResource("nvidia.com/gpu", gpus.length, gpus.length)),
                Announcement.Companions.NONE,
                strategy,
                new Announcement.EventMetadata(Announcement.AnnouncementReason.START, T0));
    }

    /** An announcement without GPUs, whose driver is in this state. */
    public static Announcement withInstaller(Announcement other, String state) {
        return new Announcement(
                other.system(),
                other.daemon(),
                other.driver(),
                other.gpus(),
                other.resources(),
                new Announcement.Companions(state, Map.of()),
                other.migStrategy(),
                other.metadata());
    }

    public static Announcement withoutDriver(Announcement.DriverState state) {
        Announcement ready = announcement();
        return new Announcement(
                ready.system(),
                ready.daemon(),
                new Announcement.Driver(state, "", ""),
                List.of(),
                List.of(),
                ready.companions(),
                ready.migStrategy(),
                ready.metadata());
    }

    /** An announcement of these GPUs, of which nothing but the UUID is known, whose driver is in this state. */
    public static Announcement unanswered(Announcement.DriverState state, String... uuids) {
        Announcement none = withoutDriver(state);
        List<Gpu> gpus = IntStream.range(0, uuids.length)
                .mapToObj(i -> new Gpu(
                        new Gpu.Identifiers(uuids[i], "", i, i, "", ""),
                        new Gpu.Product("", "", "", "", "", 0),
                        new Gpu.Topology(null, List.of(), ""),
                        new Gpu.Mig(Gpu.MigMode.NONE, List.of()),
                        "",
                        Gpu.Sharing.UNSHARED,
                        Gpu.LocalHealth.LOST,
                        Gpu.VgpuHost.NONE))
                .toList();
        return new Announcement(
                none.system(),
                none.daemon(),
                none.driver(),
                gpus,
                none.resources(),
                none.companions(),
                Announcement.MigStrategy.MIXED,
                none.metadata());
    }

    /** A present node. */
    public static NodeState node(String name, Announcement announcement) {
        return NodeState.unknown(name)
                .with(announcement)
                .with(new Presence.Present(T0))
                .withRevision(1);
    }

    /** A fleet of these nodes. */
    public static Fleet fleet(NodeState... nodes) {
        Fleet fleet = Fleet.EMPTY;
        for (NodeState node : nodes) {
            fleet = fleet.with(node);
        }
        return fleet;
    }

    /** An indexed fleet of these nodes. */
    public static IndexedFleet indexed(NodeState... nodes) {
        IndexedFleet fleet = IndexedFleet.EMPTY;
        for (NodeState node : nodes) {
            fleet = fleet.with(node);
        }
        return fleet;
    }

    /** A GPU of any model, capable of MIG. */
    public static Gpu gpu(int index, Gpu.Product product) {
        return new Gpu(
                new Gpu.Identifiers(
                        "GPU-" + product.shortModel() + "-" + index,
                        "serial-" + index,
                        index,
                        index,
                        String.format("00000000:%02X:00.0", index + 1),
                        "92.00"),
                product,
                new Gpu.Topology(0, List.of(new Gpu.NvlinkPeer("", 12, true)), ""),
                new Gpu.Mig(Gpu.MigMode.DISABLED, List.of()),
                "nvidia.com/gpu",
                Gpu.Sharing.UNSHARED,
                Gpu.LocalHealth.HEALTHY,
                Gpu.VgpuHost.NONE);
    }

    /** The same GPU with another MIG mode. */
    public static Gpu withMig(Gpu gpu, Gpu.Mig mig) {
        return new Gpu(
                gpu.id(),
                gpu.product(),
                gpu.topology(),
                mig,
                gpu.resource(),
                gpu.sharing(),
                gpu.localHealth(),
                gpu.vgpuHost());
    }
}
