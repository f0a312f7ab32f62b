package io.gpufleet.allocation.kubernetes;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Informable;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.gpufleet.allocation.app.ObservedPod;
import io.gpufleet.allocation.model.quota.GpuResource;
import io.gpufleet.allocation.model.quota.NodeFacts;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Watches pods that ask for GPUs, nodes and namespaces; an API server that is away is tried until it is back. */
public final class ClusterWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ClusterWatch.class);

    /** Who hears what is seen. */
    public interface Listener {
        /** A pod that asks for GPUs, as it stands. */
        void podSeen(ObservedPod pod);

        /** Its object is gone; this is the last that was seen of it. */
        void podGone(ObservedPod pod);

        /** A Node object, as it stands. */
        void nodeSeen(NodeFacts node);

        /** A Node object is gone. */
        void nodeGone(String name);

        /** A namespace and its labels. */
        void namespaceSeen(String name, Map<String, String> labels);

        /** A namespace is gone. */
        void namespaceGone(String name);
    }

    private record Watched(String kind, SharedIndexInformer<?> informer) {}

    private final List<Watched> informers = new ArrayList<>();

    private ClusterWatch() {}

    /** Starts watching and returns at once. */
    public static ClusterWatch open(KubernetesClient client, Listener listener) {
        var watch = new ClusterWatch();
        watch.start(
                "nodes",
                client.nodes(),
                node -> listener.nodeSeen(facts(node)),
                node -> listener.nodeGone(node.getMetadata().getName()));
        watch.start(
                "namespaces",
                client.namespaces(),
                namespace -> listener.namespaceSeen(namespace.getMetadata().getName(), labels(namespace)),
                (Namespace namespace) ->
                        listener.namespaceGone(namespace.getMetadata().getName()));
        watch.start(
                "pods",
                client.pods().inAnyNamespace(),
                pod -> {
                    if (PodReader.asksForGpus(pod)) {
                        listener.podSeen(PodReader.observed(pod, false));
                    }
                },
                (Pod pod) -> {
                    if (PodReader.asksForGpus(pod)) {
                        listener.podGone(PodReader.observed(pod, true));
                    }
                });
        return watch;
    }

    private <T extends HasMetadata> void start(
            String kind, Informable<T> watchable, Consumer<T> seen, Consumer<T> gone) {
        SharedIndexInformer<T> informer = watchable.runnableInformer(0);
        informer.exceptionHandler((started, failed) -> {
            LOG.atWarn()
                    .addKeyValue("kind", kind)
                    .addKeyValue("error", failed.getMessage())
                    .log("can not be watched, trying again");
            return true;
        });
        informer.addEventHandler(new ResourceEventHandler<>() {
            @Override
            public void onAdd(T found) {
                seen.accept(found);
            }

            @Override
            public void onUpdate(T before, T found) {
                seen.accept(found);
            }

            @Override
            public void onDelete(T last, boolean finalStateUnknown) {
                gone.accept(last);
            }
        });
        informers.add(new Watched(kind, informer));
        var ignored = informer.start();
    }

    /** Kinds that were not listed to the end yet. */
    public List<String> notReady() {
        return informers.stream()
                .filter(watched -> !watched.informer().hasSynced())
                .map(watched -> watched.kind() + " of Kubernetes are not listed yet")
                .toList();
    }

    private static NodeFacts facts(Node node) {
        Map<String, String> labels = labels(node);
        boolean gpus = labels.containsKey("nvidia.com/gpu.product")
                || (node.getStatus() != null
                        && node.getStatus().getCapacity() != null
                        && node.getStatus().getCapacity().keySet().stream().anyMatch(GpuResource::is));
        return new NodeFacts(node.getMetadata().getName(), labels, gpus);
    }

    private static Map<String, String> labels(HasMetadata object) {
        Map<String, String> labels = object.getMetadata().getLabels();
        return labels == null ? Map.of() : labels;
    }

    @Override
    public void close() {
        informers.forEach(watched -> watched.informer().stop());
    }
}
