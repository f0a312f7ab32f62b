package io.gpufleet.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.ListOptions;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeList;
import io.fabric8.kubernetes.api.model.NodeListBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Lists of Nodes by pages, some of which expire. */
class NodePagesTest {
    private final List<Node> nodes = IntStream.range(0, 250)
            .mapToObj(i -> new NodeBuilder()
                    .withNewMetadata()
                    .withName("node-" + i)
                    .endMetadata()
                    .build())
            .toList();
    private final List<String> seen = new ArrayList<>();
    private int expiring;
    private int code = 410;

    private NodeList list(ListOptions options) {
        int from = options.getContinue() == null ? 0 : Integer.parseInt(options.getContinue());
        if (from > 0 && expiring > 0) {
            expiring--;
            throw new KubernetesClientException("the list expired", code, null);
        }
        int to = Math.min(nodes.size(), from + Math.toIntExact(options.getLimit()));
        return new NodeListBuilder()
                .withItems(nodes.subList(from, to))
                .withNewMetadata()
                .withContinue(to < nodes.size() ? Integer.toString(to) : "")
                .endMetadata()
                .build();
    }

    private void read() {
        NodePages.forEach(this::list, node -> seen.add(node.getMetadata().getName()));
    }

    @Test
    void everyNodeComesOnce() {
        read();

        assertThat(seen).hasSize(250).doesNotHaveDuplicates();
    }

    @Test
    void listThatExpiredBeginsAgain() {
        expiring = 2;

        read();

        assertThat(seen).contains("node-0", "node-249").hasSize(250 + 2 * 100);
    }

    @Test
    void anotherFailureEndsTheList() {
        expiring = 1;
        code = 500;

        assertThatThrownBy(this::read).isInstanceOf(KubernetesClientException.class);
    }
}
