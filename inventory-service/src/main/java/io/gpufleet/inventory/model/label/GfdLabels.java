package io.gpufleet.inventory.model.label;

import io.gpufleet.inventory.model.Announcement;
import io.gpufleet.inventory.model.Gpu;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Labels of NVIDIA's GPU feature discovery, with its keys and values. */
final class GfdLabels {
    private static final String PREFIX = "nvidia.com/";
    private static final String GPU = PREFIX + "gpu";
    private static final long MIB = 1L << 20;

    private GfdLabels() {}

    /** Adds the labels of a node; {@code majority} are the GPUs of the model that labels it. */
    static void add(Announcement announcement, List<Gpu> majority, LabelSet.Builder labels) {
        String machine = announcement.system().machine();
        List<Gpu> gpus = announcement.gpus();
        labels.put(GPU + ".present", "true");
        labels.put(GPU + ".machine", machine.isBlank() ? "unknown" : machine);
        driver(announcement.driver().version(), labels);
        runtime(announcement.driver().cudaVersion(), labels);
        majorityModel(majority, labels);
        labels.put(GPU + ".mode", mode(gpus));
        clique(gpus, labels);
        vgpu(gpus, labels);
        labels.put(PREFIX + "mps.capable", Boolean.toString(mpsCapable(gpus)));
        labels.put(
                PREFIX + "mig.capable",
                Boolean.toString(gpus.stream().anyMatch(gpu -> gpu.mig().mode() != Gpu.MigMode.NONE)));
        MigLabels.add(announcement, labels);
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

    /** The labels of one model. Where MIG is enabled on all its GPUs, only instances are advertised: 0 replicas. */
    private static void majorityModel(List<Gpu> majority, LabelSet.Builder labels) {
        Gpu gpu = majority.stream().filter(it -> !it.migEnabled()).findFirst().orElse(majority.getFirst());
        Gpu.Sharing sharing =
                gpu.migEnabled() ? new Gpu.Sharing(Gpu.Sharing.SharingStrategy.NONE, 0) : sharing(gpu.sharing());
        boolean renamed = renamed(gpu.resource());
        labels.put(
                        GPU + ".product",
                        product(LabelValue.sanitised(gpu.model()), sharing, renamed),
                        product(gpu.model(), sharing, renamed))
                .put(GPU + ".count", majority.size())
                .put(GPU + ".replicas", sharing.replicas())
                .put(GPU + ".sharing-strategy", strategy(sharing));
        if (gpu.memoryBytes() > 0) {
            labels.put(GPU + ".memory", gpu.memoryBytes() / MIB);
        }
        String[] capability = gpu.product().computeCapability().split("\\.", -1);
        if (capability.length == 2 && !capability[0].equals("0")) {
            String family = gpu.product().family();
            labels.put(GPU + ".family", family.isEmpty() ? "undefined" : family)
                    .put(GPU + ".compute.major", capability[0])
                    .put(GPU + ".compute.minor", capability[1]);
        }
    }

    /** Product name with the suffix of a shared device. */
    static String product(String model, Gpu.Sharing sharing, boolean renamed) {
        return model + (sharing.shared() && !renamed ? "-SHARED" : "");
    }

    /** Whether shared devices are advertised as a resource of another name. */
    static boolean renamed(String resource) {
        return resource.endsWith(".shared");
    }

    /** A strategy with a single replica is no sharing. */
    static Gpu.Sharing sharing(Gpu.Sharing announced) {
        return announced.shared() ? announced : Gpu.Sharing.UNSHARED;
    }

    static String strategy(Gpu.Sharing sharing) {
        return switch (sharing.strategy()) {
            case UNKNOWN, NONE -> "none";
            case TIME_SLICING -> "time-slicing";
            case MPS -> "mps";
        };
    }

    private static String mode(List<Gpu> gpus) {
        Set<String> modes = gpus.stream().map(gpu -> gpu.product().mode()).collect(Collectors.toSet());
        return modes.size() == 1 && !modes.contains("") ? modes.iterator().next() : "unknown";
    }

    private static void clique(List<Gpu> gpus, LabelSet.Builder labels) {
        Set<String> cliques =
                gpus.stream().map(gpu -> gpu.topology().fabricClique()).collect(Collectors.toSet());
        if (cliques.size() == 1 && !cliques.contains("")) {
            labels.put(GPU + ".clique", cliques.iterator().next());
        }
    }

    /** Virtual GPUs of a node share one host, and so one host driver. */
    private static void vgpu(List<Gpu> gpus, LabelSet.Builder labels) {
        Optional<Gpu.VgpuHost> virtual = gpus.stream()
                .map(Gpu::vgpuHost)
                .filter(host -> !host.equals(Gpu.VgpuHost.NONE))
                .findFirst();
        labels.put(PREFIX + "vgpu.present", Boolean.toString(virtual.isPresent()));
        virtual.ifPresent(host -> labels.put(PREFIX + "vgpu.host-driver-version", host.driverVersion())
                .put(PREFIX + "vgpu.host-driver-branch", host.driverBranch()));
    }

    private static boolean mpsCapable(List<Gpu> gpus) {
        return gpus.stream().anyMatch(gpu -> gpu.sharing().strategy() == Gpu.Sharing.SharingStrategy.MPS)
                && gpus.stream().noneMatch(Gpu::migEnabled);
    }
}
