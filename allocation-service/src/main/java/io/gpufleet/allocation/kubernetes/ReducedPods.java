package io.gpufleet.allocation.kubernetes;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.ContainerStateRunning;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.PodStatusBuilder;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import io.fabric8.kubernetes.client.informers.cache.ItemStore;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Pods as the informer remembers them: of a pod without extended resources its name and version, of one with them what PodMapper reads.
 * Kept as compressed JSON: the objects of one small pod take 3 KB, most of it empty lists and maps. The handlers still receive each pod as it came.
 */
final class ReducedPods implements ItemStore<Pod> {
    /** Text that most pods have in common, as it is written. */
    private static final String COMMON = """
            "initContainers":[{"name":"init","restartPolicy":"Always"}],"affinity":{"nodeAffinity":{\
            "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":\
            "deletionGracePeriodSeconds":30,"deletionTimestamp":"2026-{"terminated":{"finishedAt":"2026-"phase":"Succeeded"\
            {"apiVersion":"v1","kind":"Pod","metadata":{"generateName":","labels":{"app":"app.kubernetes.io/name":"\
            "job-name":"batch.kubernetes.io/controller-uid":"},"name":","namespace":","ownerReferences":[{"apiVersion":"batch/v1","apiVersion":"apps/v1",\
            "controller":true,"kind":"ReplicaSet","kind":"StatefulSet","kind":"Job","name":"}],"resourceVersion":","uid":"},\
            "spec":{"containers":[{"name":"main","resources":{"limits":{"nvidia.com/gpu":"8"},\
            "requests":{"nvidia.com/gpu":"1"}}}],"nodeName":"gpu-node-","nodeSelector":{"nvidia.com/gpu.product":"NVIDIA-\
            "gpu-type":"},"status":{"containerStatuses":[{"state":{"running":{}}}],"phase":"Running"}}""";

    private final Map<String, byte[]> pods = new ConcurrentHashMap<>();
    private final TextCompression texts = new TextCompression(COMMON);
    private final KubernetesSerialization serialization;

    ReducedPods(KubernetesSerialization serialization) {
        this.serialization = serialization;
    }

    static Pod reduce(Pod pod) {
        return PodMapper.mayRequestGpus(pod)
                ? new PodBuilder()
                        .withMetadata(metadata(pod.getMetadata())
                                .withGenerateName(pod.getMetadata().getGenerateName())
                                .withLabels(pod.getMetadata().getLabels())
                                .withOwnerReferences(controllers(pod.getMetadata()))
                                .withDeletionTimestamp(pod.getMetadata().getDeletionTimestamp())
                                .withDeletionGracePeriodSeconds(
                                        pod.getMetadata().getDeletionGracePeriodSeconds())
                                .build())
                        .withSpec(new PodSpecBuilder()
                                .withNodeName(pod.getSpec().getNodeName())
                                .withNodeSelector(pod.getSpec().getNodeSelector())
                                .withAffinity(pod.getSpec().getAffinity())
                                .withInitContainers(reduce(pod.getSpec().getInitContainers()))
                                .withContainers(reduce(pod.getSpec().getContainers()))
                                .build())
                        .withStatus(reduce(pod.getStatus()))
                        .build()
                : new PodBuilder()
                        .withMetadata(metadata(pod.getMetadata()).build())
                        .build();
    }

    private static ObjectMetaBuilder metadata(ObjectMeta metadata) {
        return new ObjectMetaBuilder()
                .withNamespace(metadata.getNamespace())
                .withName(metadata.getName())
                .withUid(metadata.getUid())
                .withResourceVersion(metadata.getResourceVersion());
    }

    private static List<OwnerReference> controllers(ObjectMeta metadata) {
        return orEmpty(metadata.getOwnerReferences()).stream()
                .filter(owner -> Boolean.TRUE.equals(owner.getController()))
                .map(owner -> new OwnerReferenceBuilder()
                        .withApiVersion(owner.getApiVersion())
                        .withKind(owner.getKind())
                        .withName(owner.getName())
                        .withController(true)
                        .build())
                .toList();
    }

    private static List<Container> reduce(@Nullable List<Container> containers) {
        return orEmpty(containers).stream()
                .map(container -> new ContainerBuilder()
                        .withName(container.getName())
                        .withRestartPolicy(container.getRestartPolicy())
                        .withResources(reduce(container.getResources()))
                        .build())
                .toList();
    }

    private static @Nullable ResourceRequirements reduce(@Nullable ResourceRequirements resources) {
        return resources == null
                ? null
                : new ResourceRequirementsBuilder()
                        .withLimits(PodMapper.withoutNative(resources.getLimits()))
                        .withRequests(PodMapper.withoutNative(resources.getRequests()))
                        .build();
    }

    private static @Nullable PodStatus reduce(@Nullable PodStatus status) {
        return status == null
                ? null
                : new PodStatusBuilder()
                        .withPhase(status.getPhase())
                        .withContainerStatuses(ends(status.getContainerStatuses()))
                        .withInitContainerStatuses(ends(status.getInitContainerStatuses()))
                        .build();
    }

    /** Whether each container runs, and when it ended: images, ids and messages are most of a pod. */
    private static List<ContainerStatus> ends(@Nullable List<ContainerStatus> statuses) {
        return orEmpty(statuses).stream()
                .map(status -> new ContainerStatusBuilder()
                        .withState(end(status.getState()))
                        .build())
                .toList();
    }

    private static @Nullable ContainerState end(@Nullable ContainerState state) {
        if (state == null) {
            return null;
        }
        var end = new ContainerStateBuilder();
        if (state.getRunning() != null) {
            end.withRunning(new ContainerStateRunning());
        }
        if (state.getTerminated() != null) {
            end.withNewTerminated()
                    .withFinishedAt(state.getTerminated().getFinishedAt())
                    .endTerminated();
        }
        return end.build();
    }

    private static <T> List<T> orEmpty(@Nullable List<T> list) {
        return list == null ? List.of() : list;
    }

    @Override
    public String getKey(Pod pod) {
        return pod instanceof StoredPod stored ? stored.key : Cache.metaNamespaceKeyFunc(pod);
    }

    @Override
    public @Nullable Pod put(String key, Pod pod) {
        return pod(pods.put(key, texts.compress(serialization.asJson(reduce(pod)))));
    }

    @Override
    public @Nullable Pod remove(String key) {
        return pod(pods.remove(key));
    }

    @Override
    public Stream<String> keySet() {
        return pods.keySet().stream();
    }

    /** Pods that are read when they are looked at. */
    @Override
    public Stream<Pod> values() {
        return pods.entrySet().stream().map(stored -> new StoredPod(stored.getKey(), stored.getValue()));
    }

    @Override
    public int size() {
        return pods.size();
    }

    @Override
    public @Nullable Pod get(String key) {
        return pod(pods.get(key));
    }

    private @Nullable Pod pod(byte @Nullable [] json) {
        return json == null ? null : serialization.unmarshal(texts.decompress(json), Pod.class);
    }

    @Override
    public boolean isFullState() {
        return false;
    }

    /**
     * A pod of which no more than its key is in memory until it is looked at: after each list the informer asks for all pods
     * at once, compares their keys with the list, and looks at those that are gone.
     */
    private final class StoredPod extends Pod {
        private final String key;
        private final byte[] json;
        private @Nullable Pod read;

        private StoredPod(String key, byte[] json) {
            this.key = key;
            this.json = json;
        }

        private Pod read() {
            Pod known = read;
            if (known == null) {
                known = serialization.unmarshal(texts.decompress(json), Pod.class);
                read = known;
            }
            return known;
        }

        @Override
        public ObjectMeta getMetadata() {
            return read().getMetadata();
        }

        @Override
        public @Nullable PodSpec getSpec() {
            return read().getSpec();
        }

        @Override
        public @Nullable PodStatus getStatus() {
            return read().getStatus();
        }
    }
}
