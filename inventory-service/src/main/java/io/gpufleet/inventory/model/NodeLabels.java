package io.gpufleet.inventory.model;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The labels of a node, computed from its image alone. Where a node has several models, the one of the majority speaks
 * for it, ties by name: the answer never depends on the order in which a driver lists its GPUs.
 */
public final class NodeLabels {
    private static final long GIB = 1L << 30;

    private NodeLabels() {}

    /**
     * The labels that a node should wear. Empty where nothing can be said: it was never announced, or its driver does not
     * answer and no GPU is known; "could not look" removes no label.
     */
    public static Optional<LabelSet> of(NodeImage node, Set<LabelGroup> groups) {
        Announcement snapshot = node.announcement();
        if (snapshot == null) {
            return Optional.empty();
        }
        if (snapshot.gpus().isEmpty()) {
            return snapshot.driverState() == Announcement.DriverState.READY
                    ? Optional.of(LabelSet.NONE)
                    : Optional.empty();
        }
        var labels = new LabelSet.Builder();
        List<Gpu> major = majority(snapshot.gpus());
        for (LabelGroup group : LabelGroup.values()) {
            if (groups.contains(group)) {
                add(group, snapshot, major, labels);
            }
        }
        return Optional.of(labels.build());
    }

    private static void add(LabelGroup group, Announcement snapshot, List<Gpu> major, LabelSet.Builder labels) {
        Gpu gpu = major.getFirst();
        switch (group) {
            case GFD -> GfdLabels.add(snapshot, major, labels);
            case GPU_TYPE -> {
                if (!gpu.shortModel().isEmpty()) {
                    labels.put("gpu-type", gpu.shortModel().toLowerCase(Locale.ROOT));
                }
            }
            case GPU_MEMORY -> {
                if (gpu.memoryBytes() > 0) {
                    labels.put("gpu-memory", (gpu.memoryBytes() + GIB / 2) / GIB + "Gi");
                }
            }
            case ACCELERATOR -> {
                if (!gpu.shortModel().isEmpty()) {
                    labels.put("accelerator", accelerator(gpu));
                }
            }
            case ALPHA_NAME -> labels.put("alpha.kubernetes.io/nvidia-gpu-name", gpu.model());
            case MODELS -> labels.put("gpufleet.io/models", models(snapshot.gpus()));
        }
    }

    /** The GPUs of the model that most of them are, by index; among equally many the first by name. */
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

    /** The brand was Tesla until Turing, and stayed so for the A100 in what people wrote. */
    private static String accelerator(Gpu gpu) {
        String model = gpu.shortModel().toLowerCase(Locale.ROOT);
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
