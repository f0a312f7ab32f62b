package io.gpufleet.cli.cluster;

import io.fabric8.kubernetes.api.model.ListMeta;
import io.fabric8.kubernetes.api.model.ListOptions;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeList;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Reads the Nodes of a cluster by pages: a Node has 20 KB and more, so that those of a large cluster do not fit into the memory
 * of a Job at once.
 */
final class NodePages {
    private static final long PAGE = 100;
    private static final int GONE = 410;

    private NodePages() {}

    /**
     * Calls {@code action} for each Node. A list whose continuation has expired, some minutes after it began, begins again:
     * Nodes may come more than once.
     */
    static void forEach(Function<ListOptions, NodeList> list, Consumer<Node> action) {
        boolean complete;
        do {
            complete = readsToTheEnd(list, action);
        } while (!complete);
    }

    /** False when the continuation has expired. */
    private static boolean readsToTheEnd(Function<ListOptions, NodeList> list, Consumer<Node> action) {
        String next = "";
        do {
            NodeList page;
            try {
                page = list.apply(new ListOptionsBuilder()
                        .withLimit(PAGE)
                        .withContinue(next.isEmpty() ? null : next)
                        .build());
            } catch (KubernetesClientException failed) {
                if (failed.getCode() == GONE && !next.isEmpty()) {
                    return false;
                }
                throw failed;
            }
            page.getItems().forEach(action);
            next = Optional.ofNullable(page.getMetadata())
                    .map(ListMeta::getContinue)
                    .orElse("");
        } while (!next.isEmpty());
        return true;
    }
}
