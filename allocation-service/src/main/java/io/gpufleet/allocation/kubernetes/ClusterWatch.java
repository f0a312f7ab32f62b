package io.gpufleet.allocation.kubernetes;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Informable;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.informers.cache.ReducedStateItemStore;
import io.gpufleet.allocation.app.quota.ClusterListener;
import io.gpufleet.allocation.app.quota.ClusterSyncPrecondition;
import io.gpufleet.allocation.model.scheduling.GpuResources;
import io.gpufleet.allocation.model.scheduling.NodeInfo;
import io.gpufleet.runtime.kubernetes.ApiErrorMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Informers for pods that request extended resources, ResourceClaims, Nodes and namespaces; they retry while the API server is unavailable. */
public final class ClusterWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ClusterWatch.class);

    private record KindInformer(ClusterSyncPrecondition kind, SharedIndexInformer<?> informer) {}

    /** Pods of 10 KB take ten times as much while they are read. */
    private static final long PAGE = 200;

    private final List<KindInformer> informers = new ArrayList<>();

    private final ClusterListener listener;

    private ClusterWatch(ClusterListener listener) {
        this.listener = listener;
    }

    /** Starts the informers and returns at once; {@code resources} tells which resources of a Node are GPUs. */
    public static ClusterWatch open(
            KubernetesClient client, ClusterListener listener, Supplier<GpuResources> resources) {
        var watch = new ClusterWatch(listener);
        watch.start(
                ClusterSyncPrecondition.NODES,
                named(client, client.nodes(), Node.class),
                node -> listener.nodeUpdated(nodeInfo(node, resources.get())),
                node -> listener.nodeDeleted(node.getMetadata().getName()));
        watch.start(
                ClusterSyncPrecondition.NAMESPACES,
                named(client, client.namespaces(), Namespace.class),
                namespace -> listener.namespaceUpdated(namespace.getMetadata().getName(), labels(namespace)),
                (Namespace namespace) ->
                        listener.namespaceDeleted(namespace.getMetadata().getName()));
        watch.start(
                ClusterSyncPrecondition.PODS,
                client.pods()
                        .inAnyNamespace()
                        .withLimit(PAGE)
                        .runnableInformer(0)
                        .removeNamespaceIndex()
                        .itemStore(new ReducedPods(client.getKubernetesSerialization())),
                pod -> {
                    if (PodMapper.mayRequestGpus(pod)) {
                        listener.podUpdated(PodMapper.observed(pod, false));
                    }
                },
                (Pod pod) -> {
                    if (PodMapper.mayRequestGpus(pod)) {
                        listener.podDeleted(PodMapper.observed(pod, true));
                    }
                });
        watch.startClaims(client);
        return watch;
    }

    private void startClaims(KubernetesClient client) {
        if (!ResourceClaimApi.supportedBy(client)) {
            listener.listed(ClusterSyncPrecondition.CLAIMS);
            return;
        }
        start(
                ClusterSyncPrecondition.CLAIMS,
                named(
                        client,
                        client.genericKubernetesResources(ResourceClaimApi.CONTEXT)
                                .inAnyNamespace(),
                        GenericKubernetesResource.class),
                claim -> listener.claimUpdated(ResourceClaimApi.read(claim)),
                (GenericKubernetesResource claim) ->
                        listener.claimDeleted(claim.getMetadata().getUid()));
    }

    /** Informer that remembers name, UID and version of each object: a Node with its images takes some 40 KB of memory. */
    private static <T extends HasMetadata> SharedIndexInformer<T> named(
            KubernetesClient client, Informable<T> watchable, Class<T> type) {
        return watchable
                .withLimit(PAGE)
                .runnableInformer(0)
                .removeNamespaceIndex()
                .itemStore(new ReducedStateItemStore<>(
                        ReducedStateItemStore.NAME_KEY_STATE,
                        type,
                        client.getKubernetesSerialization(),
                        "metadata.uid"));
    }

    private <T extends HasMetadata> void start(
            ClusterSyncPrecondition kind, SharedIndexInformer<T> informer, Consumer<T> updated, Consumer<T> deleted) {
        informer.exceptionHandler((started, failed) -> {
            LOG.atWarn()
                    .addKeyValue("kind", kind)
                    .addKeyValue("error", ApiErrorMessage.of(failed))
                    .log("watch failed, retrying");
            return true;
        });
        informer.addEventHandler(new ResourceEventHandler<>() {
            @Override
            public void onAdd(T found) {
                updated.accept(found);
            }

            @Override
            public void onUpdate(T before, T found) {
                updated.accept(found);
            }

            // Comes after the objects of the list, in the same queue.
            @Override
            public void onList(String resourceVersion, boolean remainingEvents) {
                listener.listed(kind);
            }

            @Override
            public void onDelete(T last, boolean finalStateUnknown) {
                deleted.accept(last);
            }
        });
        informers.add(new KindInformer(kind, informer));
        var ignored = informer.start();
    }

    /** Kinds whose first list is not complete. */
    public List<String> readinessFailures() {
        return informers.stream()
                .filter(one -> !one.informer().hasSynced())
                .map(one -> one.kind().missing())
                .toList();
    }

    private static NodeInfo nodeInfo(Node node, GpuResources resources) {
        Map<String, String> labels = labels(node);
        boolean hasGpus = labels.containsKey("nvidia.com/gpu.product")
                || (node.getStatus() != null
                        && node.getStatus().getCapacity() != null
                        && node.getStatus().getCapacity().keySet().stream().anyMatch(resources::contains));
        return new NodeInfo(node.getMetadata().getName(), labels, hasGpus);
    }

    private static Map<String, String> labels(HasMetadata object) {
        Map<String, String> labels = object.getMetadata().getLabels();
        return labels == null ? Map.of() : labels;
    }

    @Override
    public void close() {
        informers.forEach(one -> one.informer().stop());
    }
}
