package io.gpufleet.inventory.model.label;

import io.gpufleet.inventory.model.Announcement;
import io.gpufleet.inventory.model.Gpu;
import io.gpufleet.inventory.model.NodeState;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Computes the labels of a node from its state. A node with several models is labelled with the one of the most GPUs, ties
 * by name: the labels do not depend on the order in which the driver lists its GPUs.
 */
public final class NodeLabels {
    /** Label with the state of the driver installer; its annotation has the details. */
    public static final String INSTALLER = "gpufleet.io/driver-installer";

    private static final long GIB = 1L << 30;

    private NodeLabels() {}

    /**
     * The desired labels of a node. Empty if they are unknown: it was never announced, or it announced no GPU while the
     * driver was not ready. Unknown labels are neither added nor removed.
     */
    public static Optional<LabelSet> of(NodeState node, Set<LabelGroup> groups) {
        Announcement announcement = node.announcement();
        if (announcement == null) {
            return Optional.empty();
        }
        if (announcement.gpus().isEmpty()) {
            return announcement.driver().state() == Announcement.DriverState.READY
                    ? Optional.of(withoutGpus(announcement, groups))
                    : Optional.empty();
        }
        var labels = new LabelSet.Builder();
        List<Gpu> majority = majority(announcement.gpus());
        for (LabelGroup group : LabelGroup.values()) {
            if (groups.contains(group)) {
                add(group, announcement, majority, labels);
            }
        }
        return Optional.of(labels.build());
    }

    /** The labels that need no driver, for a node whose GPUs are unknown; empty if it was never announced. */
    public static Optional<LabelSet> withoutDriver(NodeState node, Set<LabelGroup> groups) {
        return node.lastAnnouncement().map(announcement -> withoutGpus(announcement, groups));
    }

    private static LabelSet withoutGpus(Announcement announcement, Set<LabelGroup> groups) {
        var labels = new LabelSet.Builder();
        if (groups.contains(LabelGroup.DRIVER_INSTALLER)) {
            addInstaller(announcement, labels);
        }
        return labels.build();
    }

    /** The desired labels of a node, none while they are unknown. */
    public static Map<String, String> labels(NodeState node, Set<LabelGroup> groups) {
        return of(node, groups).map(LabelSet::labels).orElse(Map.of());
    }

    private static void add(LabelGroup group, Announcement announcement, List<Gpu> majority, LabelSet.Builder labels) {
        Gpu gpu = majority.getFirst();
        switch (group) {
            case GFD -> GfdLabels.add(announcement, majority, labels);
            case GPU_TYPE -> {
                if (!gpu.product().shortModel().isEmpty()) {
                    labels.put("gpu-type", gpu.product().shortModel().toLowerCase(Locale.ROOT));
                }
            }
            case GPU_MEMORY -> {
                if (gpu.memoryBytes() > 0) {
                    labels.put("gpu-memory", (gpu.memoryBytes() + GIB / 2) / GIB + "Gi");
                }
            }
            case ACCELERATOR -> {
                if (!gpu.product().shortModel().isEmpty()) {
                    labels.put("accelerator", accelerator(gpu));
                }
            }
            case ALPHA_NAME -> labels.put("alpha.kubernetes.io/nvidia-gpu-name", gpu.model());
            case MODELS -> labels.put("gpufleet.io/models", models(announcement.gpus()));
            case DRIVER_INSTALLER -> addInstaller(announcement, labels);
        }
    }

    /** The state is the first word of what the installer says. */
    private static void addInstaller(Announcement announcement, LabelSet.Builder labels) {
        String text = announcement.companions().installerState().strip();
        String state = text.split("[\\s:,;]", 2)[0];
        if (!LabelValue.valid(state).isEmpty()) {
            labels.put(INSTALLER, state, text);
        }
    }

    /** The GPUs of the most frequent model, by index; of equally frequent models the first by name. */
    static List<Gpu> majority(List<Gpu> gpus) {
        Map<String, List<Gpu>> byModel = gpus.stream()
                .sorted(Comparator.comparingInt(Gpu::index))
                .collect(Collectors.groupingBy(Gpu::model, TreeMap::new, Collectors.toList()));
        List<Gpu> best = List.of();
        for (List<Gpu> candidates : byModel.values()) {
            best = candidates.size() > best.size() ? candidates : best;
        }
        return best;
    }

    /** NVIDIA's brand was Tesla until Turing; published node selectors use it for the A100 as well. */
    private static String accelerator(Gpu gpu) {
        String model = gpu.product().shortModel().toLowerCase(Locale.ROOT);
        boolean tesla = gpu.model().contains("Tesla") || Set.of("t4", "a100").contains(model);
        return (tesla ? "nvidia-tesla-" : "nvidia-") + model;
    }

    private static String models(List<Gpu> gpus) {
        return gpus.stream()
                .map(Gpu::model)
                .map(LabelValue::sanitised)
                .sorted()
                .distinct()
                .collect(Collectors.joining("_"));
    }
}
