package io.gpufleet.inventory.kubernetes;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.informers.cache.ReducedStateItemStore;
import io.gpufleet.inventory.app.KubernetesActor;
import io.gpufleet.inventory.app.NodeListener;
import io.gpufleet.runtime.kubernetes.ApiErrorMessage;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches Node objects while it is open, and calls each listener. Of a Node, only name, UID and resource version are kept.
 * A watch that fails is retried until it succeeds.
 */
public final class NodeWatch implements KubernetesActor.Watch {
    private static final Logger LOG = LoggerFactory.getLogger(NodeWatch.class);
    private static final long PAGE = 500;

    private final SharedIndexInformer<Node> informer;

    private final CompletionStage<Void> synced;

    private NodeWatch(SharedIndexInformer<Node> informer, CompletionStage<Void> synced) {
        this.informer = informer;
        this.synced = synced;
    }

    /** Starts watching and returns at once; listeners are called one after the other, in order for each Node. */
    public static NodeWatch open(KubernetesClient client, List<NodeListener> listeners) {
        SharedIndexInformer<Node> informer = client.nodes().withLimit(PAGE).runnableInformer(0);
        informer.itemStore(new ReducedStateItemStore<>(
                ReducedStateItemStore.NAME_KEY_STATE, Node.class, client.getKubernetesSerialization(), "metadata.uid"));
        informer.exceptionHandler((started, failed) -> {
            LOG.atWarn().addKeyValue("error", ApiErrorMessage.of(failed)).log("watch of Nodes failed, retrying");
            return true;
        });
        informer.addEventHandler(new ResourceEventHandler<>() {
            @Override
            public void onAdd(Node node) {
                listeners.forEach(listener -> listener.onChanged(NodeObjectMapper.toModel(node)));
            }

            @Override
            public void onUpdate(Node before, Node node) {
                onAdd(node);
            }

            @Override
            public void onDelete(Node node, boolean finalStateUnknown) {
                String uid = node.getMetadata().getUid();
                listeners.forEach(
                        listener -> listener.onDeleted(node.getMetadata().getName(), uid == null ? "" : uid));
            }
        });
        return new NodeWatch(informer, informer.start());
    }

    @Override
    public CompletionStage<Void> synced() {
        return synced;
    }

    @Override
    public boolean lacks(String node) {
        return informer.hasSynced() && informer.getStore().getByKey(node) == null;
    }

    @Override
    public void close() {
        informer.stop();
    }
}
