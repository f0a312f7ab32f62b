package io.gpufleet.allocation.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.PodStatusBuilder;
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
 * Kept as JSON: the objects of one small pod take 3 KB, most of it empty lists and maps. The handlers still receive each pod as it came.
 */
final class ReducedPods implements ItemStore<Pod> {
    private final Map<String, byte[]> pods = new ConcurrentHashMap<>();
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
                                .withOwnerReferences(pod.getMetadata().getOwnerReferences())
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

    private static List<Container> reduce(@Nullable List<Container> containers) {
        return containers == null
                ? List.of()
                : containers.stream()
                        .map(container -> new ContainerBuilder()
                                .withName(container.getName())
                                .withRestartPolicy(container.getRestartPolicy())
                                .withResources(container.getResources())
                                .build())
                        .toList();
    }

    private static @Nullable PodStatus reduce(@Nullable PodStatus status) {
        return status == null
                ? null
                : new PodStatusBuilder()
                        .withPhase(status.getPhase())
                        .withContainerStatuses(status.getContainerStatuses())
                        .withInitContainerStatuses(status.getInitContainerStatuses())
                        .build();
    }

    @Override
    public String getKey(Pod pod) {
        return pod instanceof StoredPod stored ? stored.key : Cache.metaNamespaceKeyFunc(pod);
    }

    @Override
    public @Nullable Pod put(String key, Pod pod) {
        return pod(pods.put(key, serialization.asJson(reduce(pod)).getBytes(UTF_8)));
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
        return json == null ? null : serialization.unmarshal(new String(json, UTF_8), Pod.class);
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
                known = serialization.unmarshal(new String(json, UTF_8), Pod.class);
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
