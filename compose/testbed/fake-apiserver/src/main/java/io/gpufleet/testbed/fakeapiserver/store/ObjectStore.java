package io.gpufleet.testbed.fakeapiserver.store;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.GroupResource;
import io.gpufleet.testbed.fakeapiserver.object.Json;
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

/** All objects, written by compare-and-swap, with one revision counter for all resources. Thread-safe. */
public final class ObjectStore {
    private static final class ResourceObjects {
        final TreeMap<ObjectKey, ObjectNode> objects = new TreeMap<>();
        final Deque<ObjectChange> history = new ArrayDeque<>();
        final List<Consumer<ObjectChange>> watchers = new CopyOnWriteArrayList<>();
        long compactedRevision;
    }

    private final Map<GroupResource, ResourceObjects> resources = new HashMap<>();
    private final int historyLimit;
    private long revision = 1;

    /**
     * An empty store.
     *
     * @param remembered number of changes per resource that a watch can replay
     */
    public ObjectStore(int remembered) {
        this.historyLimit = remembered;
    }

    /** The object with a key. */
    public synchronized Optional<ObjectNode> get(GroupResource what, ObjectKey key) {
        return Optional.ofNullable(objectsOf(what).objects.get(key));
    }

    /** All objects of a resource, in one namespace or (empty) in all. */
    public synchronized ObjectList list(GroupResource what, String namespace) {
        return new ObjectList(
                revision,
                objectsOf(what).objects.entrySet().stream()
                        .filter(entry -> namespace.isEmpty()
                                || entry.getKey().namespace().equals(namespace))
                        .map(Map.Entry::getValue)
                        .collect(Collectors.toUnmodifiableList()));
    }

    /** The resources that have an object in a namespace. */
    public synchronized List<GroupResource> resourcesIn(String namespace) {
        return resources.entrySet().stream()
                .filter(shelf -> shelf.getValue().objects.keySet().stream()
                        .anyMatch(key -> key.namespace().equals(namespace)))
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Adds an object, unless its key exists. */
    public synchronized ObjectNode create(GroupResource what, ObjectNode object) {
        ObjectKey key = ObjectKey.of(object);
        ResourceObjects shelf = objectsOf(what);
        if (shelf.objects.containsKey(key)) {
            throw ApiError.alreadyExists(what, key.name());
        }
        ObjectNode stored = withNewRevision(object);
        shelf.objects.put(key, stored);
        publish(shelf, ObjectChange.ChangeType.ADDED, stored, null);
        return stored;
    }

    /** Replaces {@code expected} by {@code next}; empty when {@code expected} is no longer stored. */
    public synchronized Optional<ObjectNode> replace(GroupResource what, ObjectNode expected, ObjectNode next) {
        ObjectKey key = ObjectKey.of(expected);
        ResourceObjects shelf = objectsOf(what);
        if (shelf.objects.get(key) != expected) {
            return Optional.empty();
        }
        ObjectNode stored = withNewRevision(next);
        shelf.objects.put(key, stored);
        publish(shelf, ObjectChange.ChangeType.MODIFIED, stored, expected);
        return Optional.of(stored);
    }

    /** Removes {@code expected} with the last state {@code last}; false when it is no longer stored. */
    public synchronized boolean remove(GroupResource what, ObjectNode expected, ObjectNode last) {
        ObjectKey key = ObjectKey.of(expected);
        ResourceObjects shelf = objectsOf(what);
        if (shelf.objects.get(key) != expected) {
            return false;
        }
        shelf.objects.remove(key);
        publish(shelf, ObjectChange.ChangeType.DELETED, withNewRevision(last), expected);
        return true;
    }

    /**
     * Calls {@code sink} with every change after a revision, past ones first, in order, on the writing thread and under
     * the lock of the store: it must neither block nor write.
     *
     * @param from revision of the caller; 0: existing objects first, as additions
     * @return action that ends the watch
     */
    public synchronized Runnable watch(GroupResource what, long from, Consumer<ObjectChange> sink) {
        ResourceObjects shelf = objectsOf(what);
        if (from == 0) {
            long now = revision;
            shelf.objects
                    .values()
                    .forEach(object -> sink.accept(new ObjectChange(now, ObjectChange.ChangeType.ADDED, object, null)));
        } else {
            if (from < shelf.compactedRevision || from > revision) {
                throw ApiError.expired("too old resource version: " + from + " (" + revision + ")");
            }
            shelf.history.stream().filter(change -> change.revision() > from).forEach(sink);
        }
        shelf.watchers.add(sink);
        return () -> unwatch(shelf, sink);
    }

    /** The latest revision. */
    public synchronized long revision() {
        return revision;
    }

    /** Calls {@code sink} with the latest revision, in order with the changes of watches. */
    public synchronized void bookmark(LongConsumer sink) {
        sink.accept(revision);
    }

    private synchronized void unwatch(ResourceObjects shelf, Consumer<ObjectChange> sink) {
        shelf.watchers.removeIf(watcher -> watcher == sink);
    }

    private ResourceObjects objectsOf(GroupResource what) {
        return resources.computeIfAbsent(what, resource -> new ResourceObjects());
    }

    private ObjectNode withNewRevision(ObjectNode object) {
        revision++;
        ObjectNode copy = object.deepCopy();
        Json.withObject(copy, "metadata").put("resourceVersion", Long.toString(revision));
        return copy;
    }

    private void publish(
            ResourceObjects shelf, ObjectChange.ChangeType kind, ObjectNode object, @Nullable ObjectNode previous) {
        ObjectChange change = new ObjectChange(revision, kind, object, previous);
        shelf.history.add(change);
        if (shelf.history.size() > historyLimit) {
            shelf.compactedRevision = shelf.history.remove().revision();
        }
        shelf.watchers.forEach(watcher -> watcher.accept(change));
    }
}
