package io.gpufleet.inventory.model.label;

import io.gpufleet.inventory.model.Announcement;
import io.gpufleet.inventory.model.Gpu;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Labels that GPU feature discovery adds for the MIG strategies. */
final class MigLabels {
    private static final String GPU = "nvidia.com/gpu";
    private static final long MIB = 1L << 20;

    private record MigInstanceOnGpu(Gpu gpu, Gpu.MigInstance instance) {}

    private MigLabels() {}

    static void add(Announcement announcement, LabelSet.Builder labels) {
        switch (announcement.migStrategy()) {
            case UNKNOWN, NONE -> {}
            case SINGLE -> {
                labels.put("nvidia.com/mig.strategy", "single");
                single(announcement.gpus(), labels);
            }
            case MIXED -> {
                labels.put("nvidia.com/mig.strategy", "mixed");
                instancesByProfile(announcement.gpus())
                        .forEach((profile, group) -> instances("nvidia.com/mig-" + dotted(profile), group, labels));
            }
        }
    }

    /** All GPUs need MIG enabled and at least one instance, all of one profile; else the product is labelled invalid. */
    private static void single(List<Gpu> gpus, LabelSet.Builder labels) {
        List<Gpu> migGpus = gpus.stream().filter(Gpu::migEnabled).toList();
        if (migGpus.isEmpty()) {
            return;
        }
        Map<String, List<MigInstanceOnGpu>> byProfile = instancesByProfile(gpus);
        boolean anyEmpty = migGpus.stream().anyMatch(gpu -> gpu.migInstances().isEmpty());
        if (anyEmpty || migGpus.size() < gpus.size() || byProfile.size() != 1) {
            labels.put(GPU + ".product", LabelValue.sanitised(migGpus.getFirst().model()) + "-MIG-INVALID")
                    .put(GPU + ".count", 0)
                    .put(GPU + ".replicas", 0)
                    .put(GPU + ".memory", 0)
                    .put(GPU + ".sharing-strategy", "");
            return;
        }
        instances(GPU, byProfile.values().iterator().next(), labels);
    }

    private static void instances(String resource, List<MigInstanceOnGpu> group, LabelSet.Builder labels) {
        Gpu gpu = group.getFirst().gpu();
        Gpu.MigInstance instance = group.getFirst().instance();
        Gpu.Sharing sharing = GfdLabels.sharing(gpu.sharing());
        boolean renamed = GfdLabels.renamed(instance.resource());
        String product = LabelValue.sanitised(gpu.model()) + "-MIG-" + LabelValue.sanitised(dotted(instance.profile()));
        labels.put(
                        resource + ".product",
                        GfdLabels.product(product, sharing, renamed),
                        GfdLabels.product(gpu.model() + "-MIG-" + instance.profile(), sharing, renamed))
                .put(resource + ".count", group.size())
                .put(resource + ".replicas", sharing.replicas())
                .put(resource + ".sharing-strategy", GfdLabels.strategy(sharing))
                .put(resource + ".memory", instance.attributes().memoryBytes() / MIB)
                .put(resource + ".multiprocessors", instance.attributes().multiprocessors());
        if (instance.attributes().gpuSlices() > 0) {
            slicesAndEngines(resource, instance.attributes(), labels);
        }
    }

    /** A profile with its attribute as feature discovery writes it: {@code 1g.10gb.me} for {@code 1g.10gb+me}. */
    private static String dotted(String profile) {
        return profile.replace('+', '.');
    }

    private static void slicesAndEngines(String resource, Gpu.MigAttributes attributes, LabelSet.Builder labels) {
        labels.put(resource + ".slices.gi", attributes.gpuSlices())
                .put(resource + ".slices.ci", attributes.computeSlices())
                .put(resource + ".engines.copy", attributes.engines().copy())
                .put(resource + ".engines.decoder", attributes.engines().decoder())
                .put(resource + ".engines.encoder", attributes.engines().encoder())
                .put(resource + ".engines.jpeg", attributes.engines().jpeg())
                .put(resource + ".engines.ofa", attributes.engines().ofa());
    }

    private static Map<String, List<MigInstanceOnGpu>> instancesByProfile(List<Gpu> gpus) {
        return gpus.stream()
                .filter(Gpu::migEnabled)
                .flatMap(gpu -> gpu.migInstances().stream().map(instance -> new MigInstanceOnGpu(gpu, instance)))
                .collect(Collectors.groupingBy(it -> it.instance().profile(), TreeMap::new, Collectors.toList()));
    }
}
