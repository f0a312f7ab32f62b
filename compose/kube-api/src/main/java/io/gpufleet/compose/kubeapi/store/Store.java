package io.gpufleet.compose.kubeapi.store;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.compose.kubeapi.object.ApiError;
import io.gpufleet.compose.kubeapi.object.GroupResource;
import io.gpufleet.compose.kubeapi.object.Json;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** All objects, written by compare-and-swap, with one counter of revisions over all resources. Safe for any thread. */
public final class Store {
    private static final class Shelf {
        final TreeMap<Key, ObjectNode> objects = new TreeMap<>();
        final Deque<Change> history = new ArrayDeque<>();
        final List<Consumer<Change>> watchers = new CopyOnWriteArrayList<>();
        long forgotten;
    }

    private final Map<GroupResource, Shelf> shelves = new HashMap<>();
    private final int remembered;
    private long revision = 1;

    /**
     * An empty store.
     *
     * @param remembered how many changes of each resource a watch can go back
     */
    public Store(int remembered) {
        this.remembered = remembered;
    }

    /** The object at a place. */
    public synchronized Optional<ObjectNode> get(GroupResource what, Key key) {
        return Optional.ofNullable(shelf(what).objects.get(key));
    }

    /** Everything of a resource, in one namespace or (empty) in all. */
    public synchronized Listing list(GroupResource what, String namespace) {
        return new Listing(
                revision,
                shelf(what).objects.entrySet().stream()
                        .filter(entry -> namespace.isEmpty()
                                || entry.getKey().namespace().equals(namespace))
                        .map(Map.Entry::getValue)
                        .collect(Collectors.toUnmodifiableList()));
    }

    /** The resources that have an object in a namespace. */
    public synchronized List<GroupResource> inhabited(String namespace) {
        return shelves.entrySet().stream()
                .filter(shelf -> shelf.getValue().objects.keySet().stream()
                        .anyMatch(key -> key.namespace().equals(namespace)))
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Adds an object, unless its place is taken. */
    public synchronized ObjectNode create(GroupResource what, ObjectNode object) {
        Key key = Key.of(object);
        Shelf shelf = shelf(what);
        if (shelf.objects.containsKey(key)) {
            throw ApiError.alreadyExists(what, key.name());
        }
        ObjectNode stored = stamped(object);
        shelf.objects.put(key, stored);
        record(shelf, Change.Kind.ADDED, stored, null);
        return stored;
    }

    /** Puts {@code next} in the place of {@code expected}; empty when that is no longer what lies there. */
    public synchronized Optional<ObjectNode> replace(GroupResource what, ObjectNode expected, ObjectNode next) {
        Key key = Key.of(expected);
        Shelf shelf = shelf(what);
        if (shelf.objects.get(key) != expected) {
            return Optional.empty();
        }
        ObjectNode stored = stamped(next);
        shelf.objects.put(key, stored);
        record(shelf, Change.Kind.MODIFIED, stored, expected);
        return Optional.of(stored);
    }

    /** Takes {@code expected} away, leaving {@code last} as its last state; false when it no longer lies there. */
    public synchronized boolean remove(GroupResource what, ObjectNode expected, ObjectNode last) {
        Key key = Key.of(expected);
        Shelf shelf = shelf(what);
        if (shelf.objects.get(key) != expected) {
            return false;
        }
        shelf.objects.remove(key);
        record(shelf, Change.Kind.DELETED, stamped(last), expected);
        return true;
    }

    /**
     * Calls {@code sink} with every change after a revision, first those of the past. It is called in order, by the
     * writing thread and under the store's lock: it must neither block nor write.
     *
     * @param from the revision that the caller knows; 0: everything that is there comes first, as additions
     * @return ends the watch
     */
    public synchronized Runnable watch(GroupResource what, long from, Consumer<Change> sink) {
        Shelf shelf = shelf(what);
        if (from == 0) {
            long now = revision;
            shelf.objects.values().forEach(object -> sink.accept(new Change(now, Change.Kind.ADDED, object, null)));
        } else {
            if (from < shelf.forgotten || from > revision) {
                throw ApiError.expired("too old resource version: " + from + " (" + revision + ")");
            }
            shelf.history.stream().filter(change -> change.revision() > from).forEach(sink);
        }
        shelf.watchers.add(sink);
        return () -> unwatch(shelf, sink);
    }

    /** The latest revision of all. */
    public synchronized long revision() {
        return revision;
    }

    /** Tells the latest revision in the same order in which watches are told of changes; {@code sink} as in watch. */
    public synchronized void mark(LongConsumer sink) {
        sink.accept(revision);
    }

    private synchronized void unwatch(Shelf shelf, Consumer<Change> sink) {
        shelf.watchers.removeIf(watcher -> watcher == sink);
    }

    private Shelf shelf(GroupResource what) {
        return shelves.computeIfAbsent(what, resource -> new Shelf());
    }

    private ObjectNode stamped(ObjectNode object) {
        revision++;
        ObjectNode copy = object.deepCopy();
        Json.dig(copy, "metadata").put("resourceVersion", Long.toString(revision));
        return copy;
    }

    private void record(Shelf shelf, Change.Kind kind, ObjectNode object, @Nullable ObjectNode previous) {
        Change change = new Change(revision, kind, object, previous);
        shelf.history.add(change);
        if (shelf.history.size() > remembered) {
            shelf.forgotten = shelf.history.remove().revision();
        }
        shelf.watchers.forEach(watcher -> watcher.accept(change));
    }
}
