package io.gpufleet.inventory.model;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Nodes and GPUs as daemons announce them. */
public final class Machines {
    /** When everything happens. */
    public static final Instant T0 = Instant.parse("2026-11-20T10:00:00Z");

    private static final long MIB = 1L << 20;

    private Machines() {}

    /** An A100 of 40 GB. */
    public static Gpu a100(int index) {
        return gpu("NVIDIA A100-SXM4-40GB", "A100", "ampere", "8.0", 40_960 * MIB)
                .at(index);
    }

    /** An H100 of 80 GB. */
    public static Gpu h100(int index) {
        return gpu("NVIDIA H100 80GB HBM3", "H100", "hopper", "9.0", 81_559 * MIB)
                .at(index);
    }

    /** A V100 of 16 GB, which has no MIG. */
    public static Gpu v100(int index) {
        return gpu("Tesla V100-SXM2-16GB", "V100", "volta", "7.0", 16_160 * MIB)
                .mig(Gpu.MigMode.NONE)
                .at(index);
    }

    /** An A100 divided into instances of a profile. */
    public static Gpu divided(int index, String profile, int instances) {
        var parts = new ArrayList<Gpu.Instance>();
        for (int i = 0; i < instances; i++) {
            parts.add(new Gpu.Instance("MIG-" + index + "-" + i, profile, i + 1, 0, 4_864 * MIB, "nvidia.com/gpu", 14));
        }
        return gpu("NVIDIA A100-SXM4-40GB", "A100", "ampere", "8.0", 40_960 * MIB)
                .mig(Gpu.MigMode.ENABLED)
                .parts(parts)
                .at(index);
    }

    /** The same GPU, offered several times. */
    public static Gpu shared(Gpu gpu, Gpu.Sharing.Strategy strategy, int replicas, String resource) {
        return new Draft(gpu)
                .sharing(new Gpu.Sharing(strategy, replicas), resource)
                .at(gpu.index());
    }

    /** The same GPU in another local health. */
    public static Gpu in(Gpu gpu, Gpu.LocalHealth health) {
        return new Draft(gpu).health(health).at(gpu.index());
    }

    /** The same GPU on a fabric. */
    public static Gpu onFabric(Gpu gpu, String clique) {
        return new Draft(gpu).clique(clique).at(gpu.index());
    }

    /** The same GPU, lent by a hypervisor whose driver is of a version and branch. */
    public static Gpu virtual(Gpu gpu, String version, String branch) {
        return new Draft(gpu).virtual(new Gpu.VgpuHost(version, branch)).at(gpu.index());
    }

    /** What a DGX announces that has these GPUs. */
    public static Announcement announcement(Gpu... gpus) {
        return announcement(Announcement.MigStrategy.NONE, gpus);
    }

    /** The same under a MIG strategy. */
    public static Announcement announcement(Announcement.MigStrategy strategy, Gpu... gpus) {
        return new Announcement(
                "boot-1",
                Announcement.Reason.START,
                "0.1.0",
                "simulated",
                Announcement.DriverState.READY,
                "550.54.15",
                "12.4",
                "6.8.0",
                "DGXA100 920-23687-2530-000",
                List.of(gpus),
                List.of(new Announcement.Resource("nvidia.com/gpu", gpus.length, gpus.length)),
                "",
                Map.of(),
                strategy,
                T0);
    }

    /** The same without a driver that answers. */
    public static Announcement blind(Announcement.DriverState state) {
        Announcement whole = announcement();
        return new Announcement(
                whole.bootId(),
                whole.reason(),
                whole.daemonVersion(),
                whole.deviceSource(),
                state,
                "",
                "",
                whole.kernelVersion(),
                whole.machine(),
                List.of(),
                List.of(),
                "",
                Map.of(),
                Announcement.MigStrategy.NONE,
                T0);
    }

    /** A present node. */
    public static NodeImage node(String name, Announcement announcement) {
        return NodeImage.unknown(name)
                .with(announcement)
                .with(new Presence.Present(T0))
                .atRevision(1);
    }

    /** A fleet of these nodes. */
    public static Fleet fleet(NodeImage... nodes) {
        Fleet fleet = Fleet.EMPTY;
        for (NodeImage node : nodes) {
            fleet = fleet.load(node);
        }
        return fleet;
    }

    private static Draft gpu(String model, String shortModel, String family, String capability, long bytes) {
        return new Draft(new Gpu(
                "",
                "",
                0,
                0,
                "",
                model,
                shortModel,
                family,
                capability,
                bytes,
                "92.00",
                0,
                List.of(),
                "",
                Gpu.MigMode.DISABLED,
                List.of(),
                Gpu.Sharing.UNSHARED,
                "nvidia.com/gpu",
                Gpu.LocalHealth.HEALTHY,
                "compute",
                Gpu.VgpuHost.NONE));
    }

    private record Draft(Gpu g) {
        Draft mig(Gpu.MigMode mode) {
            return copy(it -> rebuilt(it, mode, it.instances(), it.sharing(), it.resource()));
        }

        Draft parts(List<Gpu.Instance> parts) {
            return copy(it -> rebuilt(it, it.migMode(), parts, it.sharing(), it.resource()));
        }

        Draft sharing(Gpu.Sharing sharing, String resource) {
            return copy(it -> rebuilt(it, it.migMode(), it.instances(), sharing, resource));
        }

        Draft health(Gpu.LocalHealth health) {
            return copy(it -> finished(it, it.uuid(), it.index(), health, it.fabricClique(), it.vgpuHost()));
        }

        Draft clique(String clique) {
            return copy(it -> finished(it, it.uuid(), it.index(), it.localHealth(), clique, it.vgpuHost()));
        }

        Draft virtual(Gpu.VgpuHost host) {
            return copy(it -> finished(it, it.uuid(), it.index(), it.localHealth(), it.fabricClique(), host));
        }

        Gpu at(int index) {
            String uuid = g.uuid().isEmpty() ? "GPU-" + g.shortModel() + "-" + index : g.uuid();
            return finished(g, uuid, index, g.localHealth(), g.fabricClique(), g.vgpuHost());
        }

        private Draft copy(UnaryOperator<Gpu> change) {
            return new Draft(change.apply(g));
        }
    }

    private static Gpu rebuilt(
            Gpu g, Gpu.MigMode mode, List<Gpu.Instance> parts, Gpu.Sharing sharing, String resource) {
        return new Gpu(
                g.uuid(),
                g.serial(),
                g.index(),
                g.minor(),
                g.pciBusId(),
                g.model(),
                g.shortModel(),
                g.family(),
                g.computeCapability(),
                g.memoryBytes(),
                g.vbiosVersion(),
                g.numaNode(),
                g.peers(),
                g.fabricClique(),
                mode,
                parts,
                sharing,
                resource,
                g.localHealth(),
                g.mode(),
                g.vgpuHost());
    }

    private static Gpu finished(
            Gpu g, String uuid, int index, Gpu.LocalHealth health, String clique, Gpu.VgpuHost host) {
        return new Gpu(
                uuid,
                "serial-" + index,
                index,
                index,
                String.format("00000000:%02X:00.0", index + 1),
                g.model(),
                g.shortModel(),
                g.family(),
                g.computeCapability(),
                g.memoryBytes(),
                g.vbiosVersion(),
                g.numaNode(),
                List.of(new Gpu.Peer("", 12, true)),
                clique,
                g.migMode(),
                g.instances(),
                g.sharing(),
                g.resource(),
                health,
                g.mode(),
                host);
    }
}
