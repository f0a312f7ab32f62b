package io.gpufleet.health.app;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Whether the events that were waiting when a term began are read: before, a Node would be patched by a state of long ago.
 * One thread closes and opens it, any thread asks.
 */
public final class CatchUpStatus {
    private final Set<String> waiting = ConcurrentHashMap.newKeySet();
    private final Set<String> read = ConcurrentHashMap.newKeySet();
    private volatile boolean allRead = true;
    private volatile Consumer<String> opened = _ -> {};

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
        open(_ -> true);
    }

    /** Opens for those of the waiting nodes whose partitions have been read to their ends. */
    public void read(Predicate<String> node) {
        open(name -> node.test(name) && read.add(name));
    }

    private void open(Predicate<String> node) {
        waiting.stream().filter(node).forEach(name -> {
            waiting.remove(name);
            opened.accept(name);
        });
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
        waiting.add(node);
        // Opened for all meanwhile, and nobody would be told of this one.
        return allRead;
    }
}
