package io.gpufleet.health.kubernetes;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import io.fabric8.kubernetes.client.informers.cache.ItemStore;
import io.gpufleet.health.model.maintenance.OperatorText;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Nodes as the informer remembers them: what {@link NodeMapper} reads. A whole Node has its images, addresses and managed fields,
 * ten times as much. The handlers still receive each Node as it came.
 */
final class NodeStore implements ItemStore<Node> {
    private static final Logger LOG = LoggerFactory.getLogger(NodeStore.class);
    /** So long a write counts before the watch shows it: versions begin anew where an API server is restored from a backup. */
    private static final Duration WRITE_COUNTS = Duration.ofSeconds(10);

    private final Map<String, StoredNode> nodes = new ConcurrentHashMap<>();
    private final Map<String, WrittenNode> written = new ConcurrentHashMap<>();
    private final Clock clock;
    private final SharedTexts texts = new SharedTexts();

    /**
     * Part of a Node that is kept.
     *
     * @param conditionSince {@code lastTransitionTime} of our condition; null without one
     */
    private record StoredNode(ObservedNode node, @Nullable String conditionSince) {}

    /** The answer of the API server to our newest write. */
    private record WrittenNode(ObservedNode node, Instant until) {}

    NodeStore(Clock clock) {
        this.clock = clock;
    }

    /** The Node as it was last seen, or as our own write left it until the watch shows that; empty when it is not there. */
    Optional<ObservedNode> observed(String name) {
        Optional<ObservedNode> seen = Optional.ofNullable(nodes.get(name)).map(StoredNode::node);
        WrittenNode own = written.get(name);
        if (own == null) {
            return seen;
        }
        if (seen.filter(node -> isNewer(own, node)).isPresent()) {
            return Optional.of(own.node());
        }
        written.remove(name, own);
        return seen;
    }

    private boolean isNewer(WrittenNode own, ObservedNode seen) {
        return own.node().uid().equals(seen.uid())
                && version(own.node()) > version(seen)
                && clock.instant().isBefore(own.until());
    }

    /** Versions of one resource are numbers that increase (KEP-5504); 0 for anything else, so that the watch counts. */
    private static long version(ObservedNode node) {
        try {
            return Long.parseLong(node.base().resourceVersion());
        } catch (NumberFormatException opaque) {
            return 0;
        }
    }

    /** A write of ours succeeded and left the Node so: the watch may show older versions for a while. */
    void wrote(ObservedNode node) {
        written.put(node.name(), new WrittenNode(node, clock.instant().plus(WRITE_COUNTS)));
    }

    /** Any Node. */
    Optional<ObservedNode> any() {
        return nodes.values().stream().map(StoredNode::node).findFirst();
    }

    /** Since when our condition has this status; empty where it has another one. */
    Optional<String> conditionSince(String name, String status) {
        return Optional.ofNullable(nodes.get(name))
                .filter(stored -> stored.node().condition() != null
                        && status.equals(stored.node().condition().status()))
                .map(StoredNode::conditionSince);
    }

    @Override
    public String getKey(Node node) {
        return Cache.metaNamespaceKeyFunc(node);
    }

    @Override
    public @Nullable Node put(String key, Node node) {
        String since = NodeMapper.condition(node)
                .map(NodeCondition::getLastTransitionTime)
                .orElse(null);
        ObservedNode observed = NodeMapper.toModel(node, texts::shared);
        StoredNode before = nodes.put(key, new StoredNode(observed, since));
        warnOfAnnotation(observed, before == null ? "" : annotation(before.node()));
        return skeleton(before);
    }

    private static String annotation(ObservedNode node) {
        return Objects.requireNonNullElse(node.base().applied(), "");
    }

    /** Once for each text that cannot be read. */
    private static void warnOfAnnotation(ObservedNode node, String before) {
        String annotation = annotation(node);
        if (!annotation.isEmpty()
                && !annotation.equals(before)
                && NodeMapper.readApplied(annotation).isEmpty()) {
            LOG.atWarn()
                    .addKeyValue("node", node.name())
                    .addKeyValue(NodeMapper.APPLIED, OperatorText.printable(annotation))
                    .log("annotation cannot be read, so that what we applied to the Node counts as the work of others:"
                            + " remove the annotation");
        }
    }

    @Override
    public @Nullable Node remove(String key) {
        written.remove(key);
        return skeleton(nodes.remove(key));
    }

    @Override
    public Stream<String> keySet() {
        return nodes.keySet().stream();
    }

    @Override
    public Stream<Node> values() {
        return nodes.values().stream().map(NodeStore::skeletonOf);
    }

    @Override
    public int size() {
        return nodes.size();
    }

    @Override
    public @Nullable Node get(String key) {
        return skeleton(nodes.get(key));
    }

    private static @Nullable Node skeleton(@Nullable StoredNode stored) {
        return stored == null ? null : skeletonOf(stored);
    }

    /** Parts that the informer itself needs: name, UID and version. */
    private static Node skeletonOf(StoredNode stored) {
        return new NodeBuilder()
                .withNewMetadata()
                .withName(stored.node().name())
                .withUid(stored.node().uid())
                .withResourceVersion(stored.node().base().resourceVersion())
                .endMetadata()
                .build();
    }

    @Override
    public boolean isFullState() {
        return false;
    }
}
