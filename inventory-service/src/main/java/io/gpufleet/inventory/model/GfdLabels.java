package io.gpufleet.inventory.model;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** The labels of NVIDIA's GPU feature discovery, key by key and value by value as it writes them. */
final class GfdLabels {
    private static final String PREFIX = "nvidia.com/";
    private static final String GPU = PREFIX + "gpu";
    private static final long MIB = 1L << 20;

    private GfdLabels() {}

    /** Adds the labels of a node; {@code major} are the GPUs of the model that speaks for it. */
    static void add(Announcement snapshot, List<Gpu> major, LabelSet.Builder labels) {
        labels.put(GPU + ".present", "true");
        labels.put(GPU + ".machine", snapshot.machine().isBlank() ? "unknown" : snapshot.machine());
        driver(snapshot.driverVersion(), labels);
        runtime(snapshot.cudaVersion(), labels);
        gpus(major, labels);
        labels.put(GPU + ".mode", mode(snapshot.gpus()));
        clique(snapshot.gpus(), labels);
        virtual(snapshot.gpus(), labels);
        labels.put(PREFIX + "mps.capable", Boolean.toString(mpsCapable(snapshot.gpus())));
        labels.put(
                PREFIX + "mig.capable",
                Boolean.toString(snapshot.gpus().stream().anyMatch(gpu -> gpu.migMode() != Gpu.MigMode.NONE)));
        MigLabels.add(snapshot, labels);
    }

    private static void driver(String version, LabelSet.Builder labels) {
        String[] parts = version.split("\\.", -1);
        if (parts.length < 2 || parts.length > 3) {
            return;
        }
        String revision = parts.length > 2 ? parts[2] : "";
        labels.put(PREFIX + "cuda.driver.major", parts[0])
                .put(PREFIX + "cuda.driver.minor", parts[1])
                .put(PREFIX + "cuda.driver.rev", revision)
                .put(PREFIX + "cuda.driver-version.major", parts[0])
                .put(PREFIX + "cuda.driver-version.minor", parts[1])
                .put(PREFIX + "cuda.driver-version.revision", revision)
                .put(PREFIX + "cuda.driver-version.full", version);
    }

    private static void runtime(String version, LabelSet.Builder labels) {
        String[] parts = version.split("\\.", -1);
        if (parts.length != 2) {
            return;
        }
        labels.put(PREFIX + "cuda.runtime.major", parts[0])
                .put(PREFIX + "cuda.runtime.minor", parts[1])
                .put(PREFIX + "cuda.runtime-version.major", parts[0])
                .put(PREFIX + "cuda.runtime-version.minor", parts[1])
                .put(PREFIX + "cuda.runtime-version.full", version);
    }

    /** A divided GPU is shared by its instances: where all are divided, the GPU itself has 0 replicas. */
    private static void gpus(List<Gpu> major, LabelSet.Builder labels) {
        Gpu speaks = major.stream()
                .filter(gpu -> gpu.migMode() != Gpu.MigMode.ENABLED)
                .findFirst()
                .orElse(major.getFirst());
        boolean divided = speaks.migMode() == Gpu.MigMode.ENABLED;
        Gpu.Sharing sharing = divided ? new Gpu.Sharing(Gpu.Sharing.Strategy.NONE, 0) : sharing(speaks.sharing());
        labels.put(GPU + ".product", product(speaks.model(), sharing, renamed(speaks.resource())))
                .put(GPU + ".count", major.size())
                .put(GPU + ".replicas", sharing.replicas())
                .put(GPU + ".sharing-strategy", strategy(sharing));
        if (speaks.memoryBytes() > 0) {
            labels.put(GPU + ".memory", speaks.memoryBytes() / MIB);
        }
        String[] capability = speaks.computeCapability().split("\\.", -1);
        if (capability.length == 2 && !capability[0].equals("0")) {
            labels.put(GPU + ".family", speaks.family().isEmpty() ? "undefined" : speaks.family())
                    .put(GPU + ".compute.major", capability[0])
                    .put(GPU + ".compute.minor", capability[1]);
        }
    }

    /** Product name with what tells a part or a share from the whole. */
    static String product(String model, Gpu.Sharing sharing, boolean renamed) {
        return LabelValue.sanitised(model) + (sharing.shared() && !renamed ? "-SHARED" : "");
    }

    static boolean renamed(String resource) {
        return resource.endsWith(".shared");
    }

    static Gpu.Sharing sharing(Gpu.Sharing told) {
        return told.replicas() > 1 ? told : Gpu.Sharing.UNSHARED;
    }

    static String strategy(Gpu.Sharing sharing) {
        return switch (sharing.strategy()) {
            case UNKNOWN, NONE -> "none";
            case TIME_SLICING -> "time-slicing";
            case MPS -> "mps";
        };
    }

    private static String mode(List<Gpu> gpus) {
        Set<String> modes = gpus.stream().map(Gpu::mode).collect(Collectors.toSet());
        return modes.size() == 1 && !modes.contains("") ? modes.iterator().next() : "unknown";
    }

    private static void clique(List<Gpu> gpus, LabelSet.Builder labels) {
        Set<String> cliques = gpus.stream().map(Gpu::fabricClique).collect(Collectors.toSet());
        if (cliques.size() == 1 && !cliques.contains("")) {
            labels.put(GPU + ".clique", cliques.iterator().next());
        }
    }

    /** All virtual GPUs of a node are of one host, and so of one driver. */
    private static void virtual(List<Gpu> gpus, LabelSet.Builder labels) {
        gpus.stream()
                .map(Gpu::vgpuHost)
                .filter(host -> !host.equals(Gpu.VgpuHost.NONE))
                .findFirst()
                .ifPresent(host -> labels.put(PREFIX + "vgpu.present", "true")
                        .put(PREFIX + "vgpu.host-driver-version", host.driverVersion())
                        .put(PREFIX + "vgpu.host-driver-branch", host.driverBranch()));
    }

    private static boolean mpsCapable(List<Gpu> gpus) {
        return gpus.stream().anyMatch(gpu -> gpu.sharing().strategy() == Gpu.Sharing.Strategy.MPS)
                && gpus.stream().noneMatch(gpu -> gpu.migMode() == Gpu.MigMode.ENABLED);
    }
}
