package io.gpufleet.inventory.model;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What the MIG strategies add to the labels of GPU feature discovery. */
final class MigLabels {
    private static final String GPU = "nvidia.com/gpu";
    private static final long MIB = 1L << 20;
    private static final Pattern PROFILE = Pattern.compile("(?:(\\d+)c\\.)?(\\d+)g\\..*");

    private record Part(Gpu gpu, Gpu.Instance instance) {}

    private MigLabels() {}

    static void add(Announcement snapshot, LabelSet.Builder labels) {
        switch (snapshot.migStrategy()) {
            case UNKNOWN, NONE -> {}
            case SINGLE -> {
                labels.put("nvidia.com/mig.strategy", "single");
                single(snapshot.gpus(), labels);
            }
            case MIXED -> {
                labels.put("nvidia.com/mig.strategy", "mixed");
                parts(snapshot.gpus())
                        .forEach((profile, parts) ->
                                instances("nvidia.com/mig-" + profile.replace('+', '.'), parts, labels));
            }
        }
    }

    /** All GPUs must be divided, none empty, all alike; else the node says that it is invalid and counts nothing. */
    private static void single(List<Gpu> gpus, LabelSet.Builder labels) {
        List<Gpu> divided = gpus.stream()
                .filter(gpu -> gpu.migMode() == Gpu.MigMode.ENABLED)
                .toList();
        if (divided.isEmpty()) {
            return;
        }
        Map<String, List<Part>> parts = parts(gpus);
        boolean anyEmpty = divided.stream().anyMatch(gpu -> gpu.instances().isEmpty());
        if (anyEmpty || divided.size() < gpus.size() || parts.size() != 1) {
            labels.put(GPU + ".product", LabelValue.sanitised(divided.getFirst().model()) + "-MIG-INVALID")
                    .put(GPU + ".count", 0)
                    .put(GPU + ".replicas", 0)
                    .put(GPU + ".memory", 0)
                    .put(GPU + ".sharing-strategy", "");
            return;
        }
        instances(GPU, parts.values().iterator().next(), labels);
    }

    private static void instances(String resource, List<Part> parts, LabelSet.Builder labels) {
        Gpu gpu = parts.getFirst().gpu();
        Gpu.Instance instance = parts.getFirst().instance();
        Gpu.Sharing sharing = GfdLabels.sharing(gpu.sharing());
        String whole = LabelValue.sanitised(gpu.model()) + "-MIG-" + LabelValue.sanitised(instance.profile());
        labels.put(resource + ".product", GfdLabels.product(whole, sharing, GfdLabels.renamed(instance.resource())))
                .put(resource + ".count", parts.size())
                .put(resource + ".replicas", sharing.replicas())
                .put(resource + ".sharing-strategy", GfdLabels.strategy(sharing))
                .put(resource + ".memory", instance.memoryBytes() / MIB)
                .put(resource + ".multiprocessors", instance.multiprocessors());
        Matcher slices = PROFILE.matcher(instance.profile());
        if (slices.matches()) {
            labels.put(resource + ".slices.gi", slices.group(2))
                    .put(resource + ".slices.ci", slices.group(1) == null ? slices.group(2) : slices.group(1));
        }
    }

    private static Map<String, List<Part>> parts(List<Gpu> gpus) {
        return gpus.stream()
                .filter(gpu -> gpu.migMode() == Gpu.MigMode.ENABLED)
                .flatMap(gpu -> gpu.instances().stream().map(instance -> new Part(gpu, instance)))
                .collect(Collectors.groupingBy(part -> part.instance().profile(), TreeMap::new, Collectors.toList()));
    }
}
