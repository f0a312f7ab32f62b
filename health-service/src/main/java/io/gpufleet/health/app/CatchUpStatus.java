package io.gpufleet.health.app;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Whether the events that were waiting when a term began are read: before, a Node would be patched by a state of long ago.
 * One thread closes and opens it, any thread asks.
 */
public final class CatchUpStatus {
    private final Function<String, Object> partitionOf;
    /** Nodes that wait, by partition. */
    private final Map<Object, Set<String>> waiting = new ConcurrentHashMap<>();

    private final Set<String> read = ConcurrentHashMap.newKeySet();
    private volatile boolean allRead = true;
    private volatile Consumer<String> opened = _ -> {};

    /** Each node is read by itself. */
    public CatchUpStatus() {
        this(node -> node);
    }

    /**
     * Nodes of a partition are read together.
     *
     * @param partitionOf partition of a node
     */
    public CatchUpStatus(Function<String, Object> partitionOf) {
        this.partitionOf = partitionOf;
    }

    /** Names who is told each node that had to wait, on the thread that opens for it. */
    public void onRead(Consumer<String> listener) {
        opened = listener;
    }

    /** A term begins: nothing is read. */
    public void begin() {
        allRead = false;
        read.clear();
    }

    /** Every partition has been read to its end. */
    public void allRead() {
        if (allRead) {
            return;
        }
        allRead = true;
        read.clear();
        waiting.values().forEach(names -> names.forEach(name -> open(names, name)));
    }

    /** Opens for the waiting nodes of each partition that has been read to its end; asked for one of its nodes. */
    public void read(Predicate<String> node) {
        for (Set<String> names : waiting.values()) {
            if (names.stream().findAny().filter(node).isPresent()) {
                names.forEach(name -> {
                    read.add(name);
                    open(names, name);
                });
            }
        }
    }

    private void open(Set<String> names, String name) {
        names.remove(name);
        opened.accept(name);
    }

    /** True while some partition has not been read to its end since the term began. */
    public boolean isWaiting() {
        return !allRead;
    }

    /** True when the partitions of the node have been read to their ends since the term began. */
    public boolean isRead(String node) {
        if (allRead || read.contains(node)) {
            return true;
        }
        waiting.computeIfAbsent(partitionOf.apply(node), _ -> ConcurrentHashMap.newKeySet())
                .add(node);
        // Opened for all meanwhile, and nobody would be told of this one.
        return allRead;
    }
}
