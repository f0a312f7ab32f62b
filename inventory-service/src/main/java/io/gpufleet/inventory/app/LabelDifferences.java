package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.label.LabelSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Nodes that lack desired labels while no label is written; logs each difference once. Thread-safe. */
public final class LabelDifferences {
    private static final Logger LOG = LoggerFactory.getLogger(LabelDifferences.class);

    /**
     * Differences that an apply would change.
     *
     * @param added keys that the Node lacks
     * @param changed keys that it has with another value, by that value
     * @param removed keys that this service owns and that are no longer desired
     */
    record Difference(Set<String> added, Map<String, String> changed, Set<String> removed) {
        static Difference of(NodeObject object, LabelSet desired) {
            var added = new TreeSet<>(desired.labels().keySet());
            added.removeAll(object.labels().keySet());
            var changed = new TreeMap<>(object.labels());
            changed.keySet().retainAll(desired.labels().keySet());
            changed.entrySet()
                    .removeIf(label -> label.getValue().equals(desired.labels().get(label.getKey())));
            var removed = new TreeSet<>(object.owned().labels());
            removed.removeAll(desired.labels().keySet());
            return new Difference(added, changed, removed);
        }

        boolean isEmpty() {
            return added.isEmpty() && changed.isEmpty() && removed.isEmpty();
        }
    }

    private final Map<String, Difference> byNode = new ConcurrentHashMap<>();

    /** Number of Nodes that differ. */
    public int nodes() {
        return byNode.size();
    }

    void clear() {
        byNode.clear();
    }

    void remove(String node) {
        byNode.remove(node);
    }

    /** Compares a Node with its desired labels. */
    void compare(NodeObject object, LabelSet desired) {
        Difference difference = Difference.of(object, desired);
        if (difference.isEmpty()) {
            byNode.remove(object.name());
        } else if (!difference.equals(byNode.put(object.name(), difference))) {
            LOG.atInfo()
                    .addKeyValue("node", object.name())
                    .addKeyValue("added", difference.added())
                    .addKeyValue("changed", difference.changed().keySet())
                    .addKeyValue("removed", difference.removed())
                    .log("labels differ, none is written in mode observe");
        }
    }
}
