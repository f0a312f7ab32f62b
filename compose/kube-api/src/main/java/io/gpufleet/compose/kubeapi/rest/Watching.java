package io.gpufleet.compose.kubeapi.rest;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.compose.kubeapi.object.ApiError;
import io.gpufleet.compose.kubeapi.object.Cause;
import io.gpufleet.compose.kubeapi.object.GroupResource;
import io.gpufleet.compose.kubeapi.object.Json;
import io.gpufleet.compose.kubeapi.store.Change;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * One watch, checked and ready to run.
 *
 * @param from revision that the client knows; 0: it wants what is there first
 * @param bookmarks whether it likes to be told how far it is
 * @param timeout after which it ends
 * @param table whether objects come as tables of one row
 */
record Watching(Cluster cluster, Selection selection, long from, boolean bookmarks, Duration timeout, boolean table) {
    private static final Duration LONGEST = Duration.ofHours(1);

    static Watching of(Cluster cluster, Target target, Call call) {
        if (call.flag("sendInitialEvents")) {
            // As a server without the WatchList feature, so that clients fall back to list and watch.
            throw ApiError.invalid(
                    new GroupResource("meta.k8s.io", "listoptions"),
                    "ListOptions",
                    "",
                    List.of(Cause.forbidden(
                            "sendInitialEvents",
                            "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled")));
        }
        String version = call.parameter("resourceVersion");
        String timeout = call.parameter("timeoutSeconds");
        try {
            return new Watching(
                    cluster,
                    Selection.of(target, call),
                    version.isEmpty() ? 0 : Long.parseLong(version),
                    call.flag("allowWatchBookmarks"),
                    timeout.isEmpty() ? LONGEST : Duration.ofSeconds(Long.parseLong(timeout)),
                    Tables.wanted(call));
        } catch (NumberFormatException notANumber) {
            throw ApiError.badRequest("Invalid value: resourceVersion and timeoutSeconds are numbers, not '" + version
                    + "' and '" + timeout + "'");
        }
    }

    /** Sends events as lines from now on; the returned action ends it. A version that is too old is an event, too. */
    Runnable start(Consumer<String> sink) {
        try {
            return cluster.store()
                    .watch(
                            selection.target().resource(),
                            from,
                            change -> event(change).ifPresent(sink));
        } catch (ApiError expired) {
            sink.accept(line("ERROR", expired.status()));
            return () -> {};
        }
    }

    /** Sends a bookmark that stands behind every event sent so far. */
    void bookmark(Consumer<String> sink) {
        if (bookmarks) {
            cluster.store().mark(revision -> {
                ObjectNode object = Json.object()
                        .put("kind", selection.target().type().kind())
                        .put("apiVersion", selection.target().type().apiVersion());
                object.putObject("metadata").put("resourceVersion", Long.toString(revision));
                sink.accept(line("BOOKMARK", object));
            });
        }
    }

    /** An object that leaves the selection is deleted for this watcher; one that enters it is added. */
    private Optional<String> event(Change change) {
        boolean now = selection.test(change.object());
        ObjectNode previous = change.previous();
        boolean before = previous != null && selection.test(previous);
        if (change.kind() == Change.Kind.DELETED) {
            return before ? Optional.of(shown(Change.Kind.DELETED, change.object())) : Optional.empty();
        }
        if (now) {
            return Optional.of(shown(before ? Change.Kind.MODIFIED : Change.Kind.ADDED, change.object()));
        }
        if (previous == null || !before) {
            return Optional.empty();
        }
        ObjectNode left = previous.deepCopy();
        Json.dig(left, "metadata").put("resourceVersion", Long.toString(change.revision()));
        return Optional.of(shown(Change.Kind.DELETED, left));
    }

    private String shown(Change.Kind kind, ObjectNode object) {
        ObjectNode whole = Cluster.shown(selection.target().type(), object);
        return line(
                kind.name(),
                table ? new Tables(cluster.clock()).of(selection.target().type(), whole, false) : whole);
    }

    private static String line(String type, ObjectNode object) {
        return "{\"type\":\"" + type + "\",\"object\":" + Json.write(object) + "}\n";
    }
}
