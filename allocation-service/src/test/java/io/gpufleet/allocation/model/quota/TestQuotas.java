package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.ledger.AnnouncedGpus;
import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.scheduling.ContainerResources;
import io.gpufleet.allocation.model.scheduling.GpuAmount;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.GpuResources;
import io.gpufleet.allocation.model.scheduling.LabelSelector;
import io.gpufleet.allocation.model.scheduling.NodeInfo;
import io.gpufleet.allocation.model.scheduling.PodGpuRequest;
import io.gpufleet.allocation.model.scheduling.SchedulingConstraints;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/** Quotas and pods of the namespace {@code ml}, in a cluster of one A100 node and one H100 node. */
public final class TestQuotas {
    /** Selects the A100 node. */
    public static final Map<String, String> A100 = Map.of("gpu", "a100");

    /** Selects the H100 node. */
    public static final Map<String, String> H100 = Map.of("gpu", "h100");

    /** Resources of the A100 node by the part of a GPU that a device is. */
    public static final SortedMap<String, GpuAmount> FRACTIONS = new TreeMap<>(Map.of(
            "nvidia.com/gpu", GpuAmount.ONE,
            "nvidia.com/gpu.shared", GpuAmount.of(1, 4),
            "nvidia.com/mig-1g.5gb", GpuAmount.of(1, 7),
            "nvidia.com/mig-3g.20gb", GpuAmount.of(3, 7)));

    private static final String GPU = "nvidia.com/gpu";

    private TestQuotas() {}

    /** Two nodes with their models, and the namespace. */
    public static List<QuotaEvent> cluster() {
        return List.of(
                new QuotaEvent.GpuResourcesKnown(FRACTIONS.keySet()),
                new QuotaEvent.NodeObserved(new NodeInfo("a", A100, true)),
                new QuotaEvent.NodeObserved(new NodeInfo("h", H100, true)),
                new QuotaEvent.GpusAnnounced("a", a100()),
                new QuotaEvent.GpusAnnounced("h", gpus(new GpuModel("NVIDIA H100", "H100", 8))),
                new QuotaEvent.NamespaceObserved("ml", Map.of()));
    }

    private static AnnouncedGpus a100() {
        return new AnnouncedGpus(
                List.of(new GpuModel("NVIDIA A100", "A100", 8)),
                new TreeSet<>(List.of(
                        new AnnouncedGpus.Offer(GPU, "A100", "", 1),
                        new AnnouncedGpus.Offer("nvidia.com/gpu.shared", "A100", "", 4),
                        new AnnouncedGpus.Offer("nvidia.com/mig-1g.5gb", "A100", "1g.5gb", 1),
                        new AnnouncedGpus.Offer("nvidia.com/mig-3g.20gb", "A100", "3g.20gb", 1))),
                Map.of());
    }

    /** What a pod on the A100 node counts. */
    public static GpuAmount gpus(GpuPod pod) {
        return PodGpuRequest.devices(pod.containers(), GpuResources.NONE.with(FRACTIONS.keySet())).entrySet().stream()
                .map(part ->
                        Objects.requireNonNull(FRACTIONS.get(part.getKey())).times(part.getValue()))
                .reduce(GpuAmount.ZERO, GpuAmount::plus);
    }

    /** The cluster with quotas. */
    static QuotaState state(GpuQuota... quotas) {
        List<QuotaEvent> events = new ArrayList<>(cluster());
        for (GpuQuota quota : quotas) {
            events.add(new QuotaEvent.QuotaObserved(quota));
        }
        var state = new QuotaState();
        events.forEach(state::apply);
        return state;
    }

    /** The same state, after events. */
    static QuotaState apply(QuotaState state, QuotaEvent... events) {
        List.of(events).forEach(state::apply);
        return state;
    }

    static QuotaEvent observed(GpuPod pod) {
        return new QuotaEvent.PodObserved(pod, 0);
    }

    /** The same pod, that stops counting at another time. */
    static GpuPod until(GpuPod pod, Instant end) {
        return new GpuPod(
                pod.namespace(),
                pod.name(),
                pod.generateName(),
                pod.uid(),
                true,
                end,
                pod.constraints(),
                pod.containers());
    }

    static GpuQuota enforced(String name, QuotaLimit... limits) {
        return quota(name, GpuQuota.Mode.ENFORCE, GpuQuota.AmbiguousModel.DENY, limits);
    }

    /** A quota of the namespace {@code ml}. */
    public static GpuQuota quota(
            String name, GpuQuota.Mode mode, GpuQuota.AmbiguousModel ambiguousModel, QuotaLimit... limits) {
        return new GpuQuota(
                name,
                "1",
                Set.of("ml"),
                LabelSelector.NOTHING,
                List.of(limits),
                mode,
                ambiguousModel,
                QuotaStatus.NONE);
    }

    /** A pod with a UID of its own; {@code number} names it. */
    public static GpuPod pod(int number, int gpus, Map<String, String> nodeSelector) {
        return pod(number, GPU, gpus, nodeSelector);
    }

    /** A pod that requests devices of a resource. */
    public static GpuPod pod(int number, String resource, int devices, Map<String, String> nodeSelector) {
        return new GpuPod(
                "ml",
                "pod-" + number,
                "",
                "uid-" + number,
                true,
                Instant.MAX,
                new SchedulingConstraints(nodeSelector, List.of(), ""),
                containers(resource, devices));
    }

    /** GPUs of models, of which it is not known by what resource they are offered. */
    public static AnnouncedGpus gpus(GpuModel... models) {
        return new AnnouncedGpus(List.of(models), new TreeSet<>(), Map.of());
    }

    /** One container that requests GPUs. */
    static List<ContainerResources> gpus(int gpus) {
        return containers(GPU, gpus);
    }

    private static List<ContainerResources> containers(String resource, int devices) {
        return List.of(new ContainerResources(
                "main", ContainerResources.ContainerType.APP, Map.of(), Map.of(resource, Integer.toString(devices))));
    }

    /** The same pod, bound to a node. */
    static GpuPod bound(GpuPod pod, String node) {
        return new GpuPod(
                pod.namespace(),
                pod.name(),
                pod.generateName(),
                pod.uid(),
                true,
                Instant.MAX,
                new SchedulingConstraints(pod.constraints().nodeSelector(), List.of(), node),
                pod.containers());
    }

    /** A request whose pod has no UID yet. */
    static GpuPod request(String uid, String name, String generateName, int gpus) {
        return new GpuPod(
                "ml",
                name,
                generateName,
                uid,
                false,
                Instant.MAX,
                new SchedulingConstraints(A100, List.of(), ""),
                gpus(gpus));
    }

    /** A reservation of A100 GPUs. */
    static QuotaEvent reserved(GpuPod pod, int gpus, long nanos) {
        return new QuotaEvent.PodReserved(new CountedPod(
                pod,
                new GpuDemand(List.of(
                        new GpuDemand.Part(GPU, gpus, Set.of(new GpuOffer(GPU, "A100", "NVIDIA-A100", "", 1))))),
                true,
                nanos));
    }
}
